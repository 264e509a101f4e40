"""Cases one by one are the cases that are counted, with their times."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event
from sacofa.base.temporary import PREFIX
from sacofa.errors import OutputError, ReadError, SacofaError
from sacofa.events import case_store, count_variants, open_log, read_cases
from sacofa.events.case_store import Case
from sacofa.events.duckdb import partitions
from sacofa.kernel.cases import NO_TIME, CaseBatch
from sacofa.kernel.unit import Unit

from .test_neighbours import PERSON, database_of, event_logs, only_refusals, options_of, units
from .ways import FILES, Way

Timed = tuple[tuple[str, ...], Sequence[int]]
"""The names and times of the events of a case."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timed_cases(number: int, batch: CaseBatch) -> list[Timed]:
    """A job that gives each case of a part as names and times."""
    assert batch.times is not None
    ends = batch.offsets.tolist()
    return [
        (tuple(batch.activities[i] for i in ids), tuple(batch.times[start:end].tolist()))
        for ids, start, end in zip(batch.sequences(), ends, ends[1:], strict=False)
    ]


def microseconds(time: str | None) -> int:
    """A time as it is kept; what is no time is missing."""
    if time is None or "T" not in time:
        return NO_TIME
    return round((datetime.fromisoformat(time).replace(tzinfo=UTC) - EPOCH).total_seconds()) * 10**6


def check(way: Way, rows: list[Event], unit: Unit, order: str, tmp_path: Path) -> None:
    """Compare cases one by one with what is counted, and with the rows they come from."""
    prepared = way.prepared(rows)
    opened: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        # A way counts what it opened; here what it opened is wanted.
        patch.setattr("tests.events.ways.count_variants", opened.append)
        try:
            with only_refusals():
                way.read(tmp_path, prepared, **options_of(unit, order))
                counted = count_variants(opened[0])
        except SacofaError:
            return
    found = read_cases(opened[0])
    assert found.variants == counted
    assert found.unit == unit and found.by_case is not None
    parts = found.by_case.map_parts(timed_cases)
    check_times(way, prepared, [case for part in parts for case in part], unit, order)


def check_times(way: Way, rows: list[Event], cases: list[Timed], unit: Unit, order: str) -> None:
    """Compare cases with the rows they come from."""
    stamps: dict[str, list[int]] = {}
    for row in rows:
        times = stamps.setdefault(row.case, [])
        times += [microseconds(row.time)] if row.activity is not None else []
    known = sorted(map(sorted, stamps.values()))
    for _, times in cases:
        assert sorted(times) in known
        if way.ties(order) != "file":
            read = [time for time in times if time != NO_TIME]
            assert read == sorted(read)
    if unit.person is None:
        assert sorted(sorted(times) for _, times in cases) == known


@pytest.mark.parametrize("name", [name for name in FILES if name != "json"])
def test_files_and_frames(name: str, tmp_path: Path) -> None:
    """Cases of files and frames are those that are counted."""
    way = FILES[name]

    @given(
        rows=event_logs,
        unit=units,
        order=st.sampled_from(way.orders),
        size=st.sampled_from([4, 10**9]),
    )
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    def law(rows: list[Event], unit: Unit, order: str, size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partitions, "PARTITION_ROWS", size)
            patch.setattr(case_store, "PART_EVENTS", size)
            with suppress_unknown():
                check(way, rows, unit if way.persons else Unit(), order, tmp_path)

    law()


@contextmanager
def suppress_unknown() -> Iterator[None]:
    """Let pass that nobody knows what the numbers of a column count."""
    try:
        yield
    except ReadError as error:
        if error.what.code != "read.times.numbers":
            raise


ROWS = [
    Event(case="1", activity="b", time="2020-01-01T00:00:01", person="ann"),
    Event(case="2", activity="b", time="2020-07-01T00:00:00", person="ann"),
    Event(case="1", activity="a", time="2020-01-01T00:00:00", person="bob"),
    Event(case="1", activity="c", time=None),
    Event(case="3", activity=None),
    Event(case="4", activity="a", time="2020-07-01T00:00:00", person=" "),
]


@pytest.mark.parametrize("unit", [Unit(), PERSON[1]], ids=["case", "person"])
def test_a_database(unit: Unit, address: str, tmp_path: Path) -> None:
    """Cases in a server are those that it counts."""
    check(database_of(address), ROWS, unit, "time", tmp_path)


def test_what_is_stored_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays on the disk when cases are closed, or forgotten."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    log = tmp_path / "log.csv"
    log.write_text("case,activity,time\n1,a,2020-01-01\n1,b,2020-01-02\n2,a,2020-01-01\n")
    cases = read_cases(log)
    # Other libraries that run in this process may keep files of theirs there.
    assert cases.by_case is not None and len(list(tmp_path.glob(f"{PREFIX}*"))) == 1
    short = cases.by_case.project_onto(("a",))
    (batch,) = short.map_parts(lambda number, part: part)
    assert batch.lengths.tolist() == [1, 1]
    assert np.array_equal(batch.times, [1_577_836_800_000_000] * 2)
    del cases, short, batch
    gc.collect()
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_counted_variants_have_no_times(tmp_path: Path) -> None:
    """They say so."""
    path = tmp_path / "log.json"
    path.write_text('{"format": "sacofa-variants-1", "activities": [], "variants": []}')
    with pytest.raises(ReadError, match="no times"):
        read_cases(open_log(path))


@pytest.mark.skipif(os.name != "posix", reason="limits are those of POSIX")
def test_a_disk_that_gets_full_within_a_part_is_noticed() -> None:
    """Also where its last bytes find no room: `np.save` would say nothing."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = case_store.CaseStore("log", Unit())
    try:
        store.add(Case(["a"] * 300, False, times=[0] * 300))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
        with pytest.raises(OutputError, match="temporary files cannot be written"):
            store.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
