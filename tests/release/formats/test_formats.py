"""A released log that is read back is the one that was written, in every declared format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacofa.errors import OutputError, ReadError
from sacofa.kernel.attributes import Kind
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import certificate_path, read_release, write_release
from sacofa.release.formats import FORMATS, check_texts, format_of, read_log, store_log
from sacofa.release.formats.format import Format
from sacofa.synthesis.released import NO_VALUE, ReleasedColumn
from tests.events.nasty import NAMES, variant_counts, xml_texts
from tests.report.releases import hospital

CENTURY = 36_525 * 86_400
KINDS: dict[Kind, st.SearchStrategy[str]] = {
    # Empty text is no value: readers of logs call it missing, and none is ever released.
    "string": (st.sampled_from(NAMES) | xml_texts).filter(lambda text: bool(text.strip())),
    "int": st.integers(-(10**15), 10**15).map(str),
    "float": st.sampled_from(["0.5", "-1.25", "3", "1e+20", "0.001"]).map(
        lambda text: f"{float(text):f}".rstrip("0").rstrip(".")
    ),
    "boolean": st.sampled_from(["true", "false"]),
    "date": st.dates().map(str).filter(lambda text: text >= "1700"),
}
"""The values of an attribute of each type, as they are released."""


@st.composite
def logs(draw: st.DrawFn) -> ReleasedLog:
    """Draw a released log with times, starts, core and attributes, or without some of them."""
    variants = draw(variant_counts(xml_texts).map(lambda log: log.where(log.lengths > 0)))
    if not variants.events:
        # A file of events says nothing of the times of none.
        return ReleasedLog(variants=variants)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    times = random.integers(-CENTURY, CENTURY, variants.events)
    timed, started, marked = (draw(st.booleans()) for _ in range(3))
    return ReleasedLog(
        variants=variants,
        times=times if timed else None,
        starts=times - random.integers(0, 9, len(times)) if timed and started else None,
        core=random.random(len(variants)) < 0.5 if marked else None,
        columns=tuple(
            column(draw, random, f"x{place} {kind}", kind, variants)
            for place, kind in enumerate(draw(st.lists(st.sampled_from(list(KINDS)), max_size=3)))
        ),
    )


def column(
    draw: st.DrawFn, random: np.random.Generator, name: str, kind: Kind, variants: VariantCounts
) -> ReleasedColumn:
    """Draw an attribute, with values that nothing has and with cases or events without any."""
    texts = tuple(draw(st.lists(KINDS[kind], min_size=1, max_size=4, unique=True)))
    of_case = draw(st.booleans())
    size = variants.cases if of_case else variants.events
    codes = random.integers(NO_VALUE, len(texts), size).astype(np.int32)
    return ReleasedColumn(name=name, of_case=of_case, kind=kind, texts=texts, codes=codes)


def held(log: ReleasedLog, stored: Format) -> ReleasedLog:
    """What a format holds: events, of activities that have any; or variants alone."""
    if not stored.holds_events:
        return ReleasedLog(variants=log.variants)
    return replace(log, variants=log.variants.project_onto(log.variants.used()))


def check(stored: Format, folder: Path, log: ReleasedLog) -> None:
    """Write a log, read it back, and write that once more."""
    path, again = (folder / f"{name}{stored.suffix}" for name in ("log", "again"))
    kinds: dict[str, Kind] = {each.key: each.kind for each in log.columns}
    store_log(log, path)
    back = read_log(path, kinds)
    assert back == held(log, stored)
    store_log(back, again)
    assert again.read_bytes() == path.read_bytes()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(log=logs())
@pytest.mark.parametrize("stored", FORMATS, ids=lambda each: each.suffix)
def test_a_log_that_is_read_back_is_the_one_that_was_written(
    stored: Format, log: ReleasedLog, tmp_path: Path
) -> None:
    """With all of its parts as far as the format holds them, and as the same bytes."""
    check(stored, tmp_path, log)


@pytest.mark.parametrize("stored", FORMATS, ids=lambda each: each.suffix)
def test_a_log_of_several_blocks_is_read_back(stored: Format, tmp_path: Path) -> None:
    """Cases of one variant keep their order, however many there are."""
    variants = VariantCounts.of({("a", "b"): 700, ("b",): 1300}, truncated={("a",): 1})
    times = np.random.default_rng(1).integers(0, 10**9, variants.events)
    check(stored, tmp_path, ReleasedLog(variants=variants, times=times))


def changed_time(log: ReleasedLog) -> ReleasedLog:
    """One event a second later."""
    assert log.times is not None
    return replace(log, times=log.times + (np.arange(len(log.times)) == 1))


def changed_core(log: ReleasedLog) -> ReleasedLog:
    """Another core."""
    assert log.core is not None
    return replace(log, core=~log.core)


def changed_value(log: ReleasedLog) -> ReleasedLog:
    """One case without a value that had one."""
    (column,) = log.columns
    codes = np.where(np.arange(len(column.codes)) == 0, NO_VALUE, column.codes)
    return replace(log, columns=(replace(column, codes=codes),))


def without_starts(log: ReleasedLog) -> ReleasedLog:
    """Without when work began."""
    return replace(log, starts=None)


@pytest.mark.parametrize("change", [changed_time, changed_core, changed_value, without_starts])
def test_logs_that_differ_in_one_place_are_not_equal(
    change: Callable[[ReleasedLog], ReleasedLog],
) -> None:
    """So the law above fails for a format that loses something."""
    times = np.arange(5)
    log = ReleasedLog(
        variants=VariantCounts.of({("a", "b"): 2, ("b",): 1}),
        times=times,
        starts=times,
        core=np.array([True, False]),
        columns=(
            ReleasedColumn(
                name="x", of_case=True, kind="string", texts=("u", "v"), codes=np.array([0, 1, 0])
            ),
        ),
    )
    assert log == replace(log) and change(log) != log
    # The same values under other codes are the same.
    (column,) = log.columns
    other = replace(column, texts=("v", "w", "u"), codes=np.array([2, 0, 2]))
    assert replace(log, columns=(other,)) == log


@pytest.mark.parametrize("stored", FORMATS, ids=lambda each: each.suffix)
def test_a_file_that_is_laid_out_in_another_way_is_refused(stored: Format, tmp_path: Path) -> None:
    """In one line, also if a certificate fits it."""
    path = tmp_path / f"out{stored.suffix}"
    certificate = write_release(hospital(), path)
    for content in (b"\x00", b"a,b\n1,2\n", b"{}", b"<log><trace><event/></trace></log>", b"PAR1"):
        path.write_bytes(content)
        changed = certificate.of_file(hashlib.sha256(content).hexdigest())
        certificate_path(path).write_text(changed.to_json(), encoding="utf-8")
        with pytest.raises(ReadError, match=r"out\."):
            read_release(path)


def test_a_name_that_a_format_cannot_hold_is_refused_with_those_that_can() -> None:
    """Formats say themselves what they hold."""
    with pytest.raises(OutputError, match=r"\.xes cannot hold .* write \.csv or \.parquet"):
        check_texts(["a\x01"], "log.xes")
    with pytest.raises(OutputError, match="is not Unicode text"):
        check_texts(["\ud800"], "log.csv")
    assert format_of("LOG.XES.GZ").suffix == ".xes.gz"
