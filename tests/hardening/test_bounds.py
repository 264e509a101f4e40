"""Bounds: what is read and what is released fits, or one line says why it does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

from sacofa.errors import ReadError
from sacofa.events import count_variants, open_log
from sacofa.events.duckdb import parquet_files
from sacofa.kernel.variants import MOST_CASES, VariantCounts
from sacofa.mechanisms import Certified, Laplace, Mechanism
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import Request, anonymize
from sacofa.release.anonymize import bound_events
from tests.cli.conftest import Run
from tests.written import write_variants

LAPLACE = Laplace(level_epsilon=1, max_length=3, prune=2)


def test_a_release_without_bounds_is_scaled_down_and_says_so() -> None:
    """With hardly any ε, noise alone would be billions of cases."""
    log = {("a", "b"): 40, ("a",): 20}
    tiny = Certified(epsilon=Fraction(1, 10**6), max_length=3)
    release = Request(log=log, mechanism=tiny, seed=3, max_released_events=10_000).publish()
    rows = (release.variants.counts * release.variants.lengths.clip(1)).sum()
    assert rows <= 10_000
    assert any("scaled" in note.code for note in release.certificate.notes)


@pytest.mark.parametrize("mechanism", [Certified(epsilon=1), LAPLACE], ids=["certified", "laplace"])
def test_the_largest_log_is_scaled_down_in_little_memory(mechanism: Mechanism) -> None:
    """10¹² cases, more than any memory holds one by one: what was paid for is released."""
    release = anonymize({("a", "b"): MOST_CASES - 9, ("a",): 9}, mechanism, seed=1)
    assert 4 * 10**7 < release.variants.cases <= 10**8
    assert any("scaled" in note.code for note in release.certificate.notes)


def test_a_release_within_the_bound_is_untouched() -> None:
    """The same object, and no note."""
    log = ReleasedLog(variants=VariantCounts.of({("a", "b"): 5, ("b",): 3}))
    same, notes = bound_events(log, 13)
    assert same is log and not notes
    smaller, (note,) = bound_events(log, 12)
    assert "13 events" in str(note)
    assert dict(smaller.variants) == {("a", "b"): 4, ("b",): 2}


def test_scaling_keeps_proportions_of_counts_beyond_64_bits() -> None:
    """Products of large counts and a large bound do not overflow."""
    log = ReleasedLog(variants=VariantCounts.of({("a",): 3 * 10**11, ("b",): 10**11}))
    scaled, _ = bound_events(log, 4 * 10**8)
    assert dict(scaled.variants) == {("a",): 3 * 10**8, ("b",): 10**8}


def test_times_stay_with_their_cases() -> None:
    """Those of the first cases of each variant."""
    variants = VariantCounts.of({("a", "b"): 4, ("b",): 2})
    times = np.arange(10)
    log = ReleasedLog(variants=variants, times=times, starts=times - 1)
    scaled, _ = bound_events(log, 5)
    assert dict(scaled.variants) == {("a", "b"): 2, ("b",): 1}
    assert scaled.times is not None and scaled.starts is not None
    assert scaled.times.tolist() == [0, 1, 2, 3, 8]
    assert scaled.starts.tolist() == [-1, 0, 1, 2, 7]


@pytest.mark.parametrize(
    ("name", "make", "what"),
    [
        ("a.csv", os.mkfifo, "copy the log to a file first"),
        ("a.parquet", os.mkfifo, "copy the log to a file first"),
        ("a.xes", lambda path: path.symlink_to("/dev/zero"), "copy the log to a file first"),
    ],
)
def test_hostile_logs_meet_a_bound(
    tmp_path: Path, name: str, make: Callable[[Path], None], what: str
) -> None:
    """Refused in one line, before they fill the memory or wait forever."""
    make(tmp_path / name)
    with pytest.raises(ReadError, match=what):
        count_variants(open_log(tmp_path / name))


def write_pyarrow(path: Path) -> None:
    """Write a table of 16 columns."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({f"{i}": ["a"] for i in range(16)}), path)


def write_polars(path: Path) -> None:
    """The same with polars."""
    pytest.importorskip("polars").DataFrame({f"{i}": ["a"] for i in range(16)}).write_parquet(path)


def write_duckdb(path: Path) -> None:
    """The same with DuckDB."""
    chosen = ", ".join(f"'a' AS \"{i}\"" for i in range(16))
    duckdb.sql(f"COPY (SELECT {chosen}) TO '{path}' (FORMAT parquet)")


@pytest.mark.parametrize("write", [write_pyarrow, write_polars, write_duckdb])
def test_columns_of_parquet_are_counted_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    """Whatever program wrote it, and not one column too many or too few."""
    write(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet_files, "MAX_COLUMNS", 16)
    parquet_files.refuse_wide(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet_files, "MAX_COLUMNS", 15)
    with pytest.raises(ReadError, match="columns: keep those of the log"):
        parquet_files.refuse_wide(tmp_path / "a.parquet")


def test_a_footer_that_hides_its_columns_is_short(tmp_path: Path) -> None:
    """Fields in another order could hide a million columns behind them."""
    footer = b"\x16" + bytes(2 << 20)
    content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(ReadError, match="does not list its columns"):
        open_log(tmp_path / "a.parquet")


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_a_folder_that_cannot_be_read_is_an_error_and_not_half_a_log(tmp_path: Path) -> None:
    """Its files would be missing in silence."""
    for part in ("a", "b"):
        (tmp_path / "log" / part).mkdir(parents=True)
        write_variants(VariantCounts.of({(part,): 5}), tmp_path / "log" / part / "1.csv")
    (tmp_path / "log" / "b").chmod(0)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            tmp_path.chmod(0o755)
            if os.geteuid() == 0:
                for parent in tmp_path.parents:
                    if not os.access(parent, os.X_OK):
                        break
                os.chroot(tmp_path)
                os.chdir("/")
                os.setuid(65534)
                where = "/log"
            else:
                where = str(tmp_path / "log")
            try:
                open_log(where)
            except ReadError as refused:
                status = 0 if "cannot be read" in str(refused) else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    (tmp_path / "log" / "b").chmod(0o755)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("as_json", [False, True])
def test_an_inspection_never_prints_a_variant_of_thousands_of_events(
    run: Run, tmp_path: Path, as_json: bool
) -> None:
    """It says how many there are."""
    write_variants(VariantCounts.of({("a",) * 50_000: 2}), tmp_path / "log.json")
    ran = run("inspect", tmp_path / "log.json", *(["--json"] if as_json else []))
    assert ran.status == 0
    assert len(ran.out) < 5_000
    assert ("50000" if as_json else "49,900 more") in " ".join(ran.out.split())
