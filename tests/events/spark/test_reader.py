"""Spark gives the same counts as DuckDB, to the last case, and looks at them where they are."""

from __future__ import annotations

import venv
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sacofa import Certified, anonymize
from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.events import count_variants, distribute_variants, open_log
from sacofa.events.spark.distributed import SparkVariants
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.release.publish import Request
from tests.written import write_variants

from ..duckdb.test_events import frame, slowly, tied
from ..nasty import NAMES

pytestmark = pytest.mark.usefixtures("session")

COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
"""What Spark does by itself, and the tests' session does not."""


@pytest.mark.parametrize("order", ["file", "time"])
def test_ties_from_files_and_frames(order: str, session: Any, tmp_path: Path) -> None:
    """A log full of ties, in many partitions, gives the one right answer."""
    rows = tied(6_000, 7)
    data = frame(rows)
    folder = tmp_path / "lake"
    folder.mkdir()
    # The later files are the larger ones, because Spark starts with those.
    for part, (start, end) in enumerate([(0, 500), (500, 2_000), (2_000, 6_000)]):
        # Spark 3.5 reads no nanoseconds, which pandas 2 writes.
        data.iloc[start:end].to_parquet(
            folder / f"part {part}.parquet", row_group_size=250, coerce_timestamps="us"
        )
        data.iloc[start:end].to_csv(tmp_path / f"part {part}.csv", index=False)
    expected = slowly(rows, order)
    lake = open_log(folder, engine="spark", order=order)
    assert session.read.parquet(str(folder)).rdd.getNumPartitions() > 5
    assert count_variants(lake) == expected
    assert count_variants(open_log(tmp_path / "*.csv", engine="spark", order=order)) == expected
    data.to_parquet(tmp_path / "whole.parquet", row_group_size=250, coerce_timestamps="us")
    whole = session.read.parquet(str(tmp_path / "whole.parquet"))
    assert whole.rdd.getNumPartitions() > 5
    if order == "file":
        with pytest.raises(SettingError, match="no order of their own"):
            open_log(whole, order=order)
        return
    # A frame has no order of its own, so ties go by name: in many partitions as in one.
    by_name = slowly(sorted(rows, key=lambda row: (row[2], row[1])), "time")
    for frame_of_rows in (whole, whole.repartition(7), whole.coalesce(1)):
        assert count_variants(open_log(frame_of_rows)) == by_name


@contextmanager
def as_a_large_log(session: Any, partition: int) -> Iterator[None]:
    """Read larger pieces of a file at once, with queries that are compiled, as Spark does itself.

    A log that is not tiny would be hundreds of tasks, and its rows would take longer than to
    compile what is done with them.
    """
    settings = {"spark.sql.files.maxPartitionBytes": str(partition), **COMPILED}
    before = {setting: session.conf.get(setting) for setting in settings}
    for setting, value in settings.items():
        session.conf.set(setting, value)
    try:
        yield
    finally:
        for setting, value in before.items():
            session.conf.set(setting, value)


def test_the_papers_logs(session: Any, logs: Path) -> None:
    """All three logs are counted as DuckDB counts them."""
    for name in ("receipt", "sepsis", "traffic_fines"):
        path = logs / f"{name}.parquet"
        with as_a_large_log(session, path.stat().st_size // 7):
            assert count_variants(open_log(path, engine="spark")) == count_variants(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_nasty_names_and_cut_cases(suffix: str, session: Any, tmp_path: Path) -> None:
    """Releases come back as they were written."""
    variants = VariantCounts.of(
        {(name, "x", name): i + 1 for i, name in enumerate(NAMES)} | {("x",): 2},
        truncated={("x",): 1},
    )
    write_variants(variants, tmp_path / f"log.{suffix}")
    assert count_variants(open_log(tmp_path / f"log.{suffix}", engine="spark")) == variants


def test_people_and_parts(session: Any) -> None:
    """People with several cases and joined activities work as in files."""
    data = session.createDataFrame(
        [
            ("1", "z", "x", " ", 1),
            ("1", "a", "x", "ann", 2),
            ("0", "b", "x", "ann", 3),
            ("3", "c", "x", None, 1),
            ("4", "c", "x", "\n", None),
        ],
        "`case` string, name string, step string, who string, time int",
    )
    told: list[str] = []
    log = open_log(data, activity=["name", "step"], person="who", max_cases=1)
    found = count_variants(log, notify=lambda note: told.append(str(note)))
    assert found == VariantCounts.of(
        {("z+x", "a+x"): 1, ("c+x",): 2}, unit=Unit(person="who", max_cases=1)
    )
    assert [line.split(":")[0] for line in told] == [
        "1 event has no time stamp that can be read",
        "1 case left out, of persons with more than 1",
    ]


def test_bad_tables(session: Any, tmp_path: Path) -> None:
    """What cannot be counted is one clear line."""
    columns = "case_id string, activity string, ts timestamp"
    for row, what in (
        ((None, "a", None), "without case"),
        (("1", None, datetime(2020, 1, 1)), "without activity"),
    ):
        data = session.createDataFrame([row], columns)
        with pytest.raises(ReadError, match=what):
            count_variants(open_log(data, order="time"))
    text = session.createDataFrame(
        [("1", "a", "soon")], "case_id string, activity string, ts string"
    )
    with pytest.raises(ReadError, match=r'no time stamp in column "ts".*order=.file.'):
        count_variants(open_log(text))
    with pytest.raises(ColumnsError, match="columns there: x"):
        open_log(session.createDataFrame([(1,)], "x int"))
    exact = pa.table({"case": ["1"], "activity": ["a"], "time": pa.array([1], pa.timestamp("ns"))})
    pq.write_table(exact, tmp_path / "exact.parquet")
    with pytest.raises(ReadError, match="nanoseconds: write them in microseconds"):
        open_log(tmp_path / "exact.parquet", engine="spark")
    (tmp_path / "log.parquet").write_text("no parquet")
    with pytest.raises(ReadError, match="Spark failed") as caught:
        count_variants(open_log(tmp_path / "log.parquet", engine="spark"))
    assert "\n" not in str(caught.value)


def test_variants_that_stay_are_what_they_would_be_here(session: Any, logs: Path) -> None:
    """Cut, with other activities, or as they are: on the cluster as in memory."""
    path = logs / "sepsis.parquet"
    here = count_variants(path)
    some = [*here.activities[3:], "another", here.activities[0]]
    with distribute_variants(open_log(path, engine="spark")) as there:
        assert len(there) == len(here)
        assert there.gather() == here
        assert len(there.parts) > 1
        for by_length in (False, True):
            cut = there.truncate(7, by_length=by_length)
            assert cut.gather() == here.truncate(7, by_length=by_length)
        assert there.project_onto(some).gather() == here.project_onto(some)
        parts = there.truncate(7).map_parts(whole_part)
        assert sum(part.cases for part in parts) == here.cases
        for part in parts:
            again = VariantCounts.from_arrays(
                part.activities, part.activity_ids, part.lengths, part.counts, part.complete
            )
            assert part == again
    assert not session.sparkContext._jsc.getPersistentRDDs()


def whole_part(number: int, part: VariantCounts) -> VariantCounts:
    """A job that brings a part here as it is."""
    return part


def test_a_release_of_what_stays(session: Any, logs: Path) -> None:
    """Looks that add up are the same with the same seed, and so is a release made of them."""
    path = logs / "receipt.parquet"
    mechanism = Certified(epsilon=Fraction(1))
    with distribute_variants(open_log(path, engine="spark")) as there:
        released = anonymize(there, mechanism, seed=1)
    assert released.variants == anonymize(count_variants(path), mechanism, seed=1).variants


def test_publishing_too_many_variants(
    session: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where variants are too many for one place they stay, and the release is as good."""
    path = logs / "traffic_fines.parquet"
    mechanism = Certified(epsilon=Fraction(1))
    with monkeypatch.context() as patched, as_a_large_log(session, 1 << 18):
        patched.delattr(SparkVariants, "gather")
        release = Request(
            log=open_log(path, engine="spark"),
            mechanism=mechanism,
            output=tmp_path / "out.parquet",
            max_gathered=100,
        ).publish()
    assert any(note.code == "note.frequent" for note in release.certificate.notes)
    true = dict(count_variants(path))
    frequent = max(true, key=true.__getitem__)
    assert dict(release.variants)[frequent] == pytest.approx(true[frequent], rel=0.02)
    assert count_variants(tmp_path / "out.parquet").cases == release.variants.cases
    assert not session.sparkContext._jsc.getPersistentRDDs()


def test_machines_that_lack_the_package(session: Any, logs: Path, tmp_path: Path) -> None:
    """A cluster whose Python cannot do the work says what to install."""
    venv.create(tmp_path / "bare", symlinks=True)
    before = session.sparkContext.pythonExec
    session.sparkContext.pythonExec = str(tmp_path / "bare" / "bin" / "python")
    try:
        with (
            distribute_variants(open_log(logs / "receipt.parquet", engine="spark")) as there,
            pytest.raises(ReadError, match=r"lacks \w+: install sacofa\[spark\]"),
        ):
            anonymize(there, Certified(epsilon=Fraction(1)))
    finally:
        session.sparkContext.pythonExec = before


def test_only_spark_leaves_variants_where_they_are(logs: Path) -> None:
    """Other engines refuse at once."""
    with pytest.raises(SettingError, match="spark, to leave variants on a cluster"):
        distribute_variants(logs / "receipt.parquet")


def test_a_mark_that_is_neither_yes_nor_no_does_not_stop_the_others(session: Any) -> None:
    """It is no mark."""
    rows = [("x", "a", "true"), ("y", "a", "perhaps"), ("z", "b", None)]
    frame = session.createDataFrame(
        [(case, name, datetime(2020, 1, 1), mark) for case, name, mark in rows],
        "case_id string, activity string, ts timestamp, `case:unfinished` string",
    )
    expected = VariantCounts.of({("a",): 1, ("b",): 1}, truncated={("a",): 1})
    assert count_variants(open_log(frame)) == expected


def test_headers_in_the_middle_are_no_events(session: Any, tmp_path: Path) -> None:
    """As in every other text table; a row that only begins so is one."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,\n1,a,\ncase,activity,\ncase,activity,x\n2,b,\n")
    assert count_variants(open_log(path, engine="spark")) == count_variants(path)
    assert count_variants(path).cases == 3


@pytest.mark.parametrize("value", ["Ann Smith", "Ann 'x' Smith", "x\nAnn Smith"])
def test_messages_repeat_no_value_of_the_log(value: str, session: Any) -> None:
    """Not even where the frame itself fails on one, as it does by default since Spark 4."""
    session.conf.set("spark.sql.ansi.enabled", "true")
    rows = session.createDataFrame([("1", "a", value)], "case string, activity string, age string")
    failing = rows.selectExpr("case", "activity", "cast(age AS int) AS time")
    with pytest.raises(ReadError, match=r"Spark failed: .*The value …") as caught:
        count_variants(failing)
    assert "Smith" not in str(caught.value)
