"""Tables are counted exactly, in a fixed order, by any number of threads."""

from __future__ import annotations

import gc
import gzip
import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import ColumnsError, ReadError
from sacofa.events import count_variants, open_log
from sacofa.events.duckdb import events, partitions
from sacofa.events.duckdb import source as duckdb_source
from sacofa.events.duckdb.events import kinds
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants

Row = tuple[str, str, int]


def slowly(rows: Sequence[Row], order: str) -> VariantCounts:
    """Count as literally as it gets: Python's sort is stable."""
    cases: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for case, activity, time in rows:
        cases[case].append((time, activity))
    if order == "time":
        for case_events in cases.values():
            case_events.sort(key=lambda event: event[0])
    return VariantCounts.from_cases([[name for _, name in case] for case in cases.values()])


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "case_id": pd.Series([row[0] for row in rows], dtype="object"),
            "activity": pd.Series([row[1] for row in rows], dtype="object"),
            "timestamp": pd.to_datetime([row[2] for row in rows], unit="s", utc=True),
        }
    )


def tied(events: int, seed: int) -> list[Row]:
    """Make a log of cases that lie scattered, where most time stamps are tied."""
    rng = np.random.default_rng(seed)
    cases = rng.integers(0, max(events // 12, 1), events)
    names = rng.integers(0, 6, events)
    times = rng.integers(0, 3, events)
    return [
        (f"case {c}", f"activity {a}", int(t)) for c, a, t in zip(cases, names, times, strict=True)
    ]


@pytest.mark.parametrize("order", ["file", "time"])
def test_ties_keep_the_order_of_the_file(order: str, tmp_path: Path) -> None:
    """A log full of ties gives one answer from every source, run and number of threads.

    Other ways to break the ties give other answers, so the log is one that tells them apart.
    """
    # More than DuckDB gives to one thread at a time.
    rows = tied(130_000, 1)
    expected = slowly(rows, order)
    data = frame(rows)
    data.to_parquet(tmp_path / "log.parquet", row_group_size=20_000)
    data.to_csv(tmp_path / "log.csv", index=False)
    for source in (tmp_path / "log.parquet", tmp_path / "log.csv", data):
        for _ in range(2):
            assert count_variants(open_log(source, order=order)) == expected
    if order == "time":
        by_name = slowly(sorted(rows, key=lambda row: (row[2], row[1])), order)
        backwards = slowly(rows[::-1], order)
        assert len({len(expected), len(by_name), len(backwards)}) == 3


def test_a_file_that_is_written_again_is_another_one(tmp_path: Path) -> None:
    """Of what was looked at nothing is kept: neither columns of a file nor a frame."""
    path = tmp_path / "log.parquet"
    for more in ("x", "y"):
        data = frame(tied(20, 1)).assign(**{more: 1})
        data.to_parquet(path)
        assert more in kinds(open_log(path).source)
    assert "x" not in kinds(open_log(path).source)
    seen = weakref.ref(data)
    open_log(data)
    del data
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("size", [150, 1_000, 10**9])
def test_threads_and_partitions_make_no_difference(
    threads: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However a log is divided, and by however many threads, the answer is the same."""
    rows = tied(4_000, 2)
    monkeypatch.setattr(partitions, "PARTITION_ROWS", size)
    monkeypatch.setattr(partitions, "MAX_PARTITIONS", 5)

    @contextmanager
    def with_threads(name: str) -> Iterator[Any]:
        with duckdb_source.open_database(name) as database:
            database.execute(f"SET threads = {threads}")
            yield database
            database.execute("RESET threads")

    monkeypatch.setattr(events, "open_database", with_threads)
    frame(rows).to_csv(tmp_path / "log.csv", index=False)
    frame(rows).to_parquet(tmp_path / "log.parquet", row_group_size=1000)
    for name in ("log.csv", "log.parquet"):
        found = count_variants(open_log(tmp_path / name, order="time"))
        assert found == slowly(rows, "time")


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["NA", "1", "2", ""]), st.sampled_from("abc"), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    ),
    order=st.sampled_from(["file", "time"]),
)
@settings(max_examples=15, deadline=None)
def test_all_frames_agree_with_the_slow_count(rows: list[Row], order: str) -> None:
    """pandas, polars and pyarrow frames give what a literal count gives."""
    expected = slowly(rows, order)
    data = frame(rows)
    arrow = pa.table(
        {
            "case_id": [row[0] for row in rows],
            "activity": [row[1] for row in rows],
            "timestamp": pa.array([row[2] for row in rows], pa.timestamp("s")),
        }
    )
    polars = pl.DataFrame(pl.from_arrow(arrow))
    for source in (data, arrow, polars):
        assert count_variants(open_log(source, order=order)) == expected


def test_pm4py_names_and_categories() -> None:
    """Columns as pm4py calls them are found, and categories and numbers are texts."""
    data = pd.DataFrame(
        {
            "case:concept:name": [1, 1, 2],
            "concept:name": pd.Categorical(["a", "b", "a"]),
            "time:timestamp": pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-01"]),
        }
    )
    assert count_variants(data) == VariantCounts.of({("b", "a"): 1, ("a",): 1})
    assert count_variants(open_log(data, order="file")).activities == ("a", "b")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("comma", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_dialects(comma: str, end: str, mark: str, tmp_path: Path) -> None:
    """Commas, semicolons, tabs and bars, either line end and a byte order mark are understood."""
    lines = ["Case ID,Activity,x", 'NA,"say ""a,b""",1', 'NA,"two\nlines",2', "null,>>>,3", ",é,4"]
    text = mark + end.join(line.replace(",", comma) for line in lines[:4]) + end
    found = count_variants(write(tmp_path / "log.csv", text))
    quoted = f'say "a{comma}b"'
    assert found == VariantCounts.of({(quoted, "two\nlines"): 1, (">>>",): 1})


def test_tsv_and_packed_tables(tmp_path: Path) -> None:
    """TSV and packed tables are read; a packed one that is cut short is not."""
    text = "case\tactivity\n" + "".join(f"{i}\ta,b\n" for i in range(5000))
    assert count_variants(write(tmp_path / "log.tsv", text)).activities == ("a,b",)
    packed = gzip.compress(text.encode())
    path = tmp_path / "log.tsv.gz"
    path.write_bytes(packed)
    assert count_variants(path).cases == 5000
    path.write_bytes(packed[:-9])
    with pytest.raises(ReadError, match="cut short"):
        count_variants(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("case,activity\n1,a\n,b\n", "row 2 has no case"),
        ("case,activity\n1,a\n1,\n", "row 2 has no activity"),
        ("case,activity,time\n1,a,1\n1,,x\n", "row 2 has no activity"),
        ("case,activity\n1,a,b,c\n", "line 2 has 3 columns, not 2"),
        ('case,activity\n1,"a\n', "in line 2 a quotation mark is opened and never closed"),
        ("case,what\n1,a\n", "no column for activity; columns there: case, what"),
        ("x,y\n1,a\n", "no column for case and activity"),
    ],
)
def test_bad_csv(text: str, what: str, tmp_path: Path) -> None:
    """What cannot be counted is one clear line with the number of the row."""
    path = write(tmp_path / "log.csv", text)
    with pytest.raises(ReadError, match=what) as caught:
        count_variants(path)
    assert "\n" not in str(caught.value) and "/sacofa-" not in str(caught.value)


def test_csv_that_is_not_text(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are refused, in the header and in the rows."""
    for content in (b"case,activit\xe9\n1,a\n", b"case,activity\n1,caf\xe9\n"):
        (tmp_path / "log.csv").write_bytes(content)
        with pytest.raises(ReadError):
            count_variants(tmp_path / "log.csv")


def test_bad_parquet(tmp_path: Path) -> None:
    """A file that is no Parquet, or half of one, is refused at once."""
    frame(tied(100, 3)).to_parquet(tmp_path / "log.parquet")
    whole = (tmp_path / "log.parquet").read_bytes()
    for content in (b"", b"PAR1", whole[:-20], b"case,activity\n"):
        (tmp_path / "log.parquet").write_bytes(content)
        with pytest.raises(ReadError, match=r"log\.parquet"):
            open_log(tmp_path / "log.parquet")


def test_cases_without_events(tmp_path: Path) -> None:
    """A row with a case and nothing else says that there is such a case."""
    path = write(tmp_path / "log.csv", "case,activity,time\n1,,\n2,a,\n3,,\n3,b,2020-01-01\n")
    assert count_variants(path) == VariantCounts.of({(): 1, ("a",): 1, ("b",): 1})


def test_a_table_without_rows(tmp_path: Path) -> None:
    """A table that has columns and no rows has no cases."""
    assert count_variants(write(tmp_path / "log.csv", "case,activity\n")).cases == 0


@pytest.mark.parametrize("last", ["soon", "", "2020-02-30", "-"])
@pytest.mark.parametrize("first", ["2020-01-01", "2020-01-01T10:00:00+02:00", "17", "infinity"])
def test_events_without_a_time_come_last(first: str, last: str, tmp_path: Path) -> None:
    """A time stamp that is missing or cannot be read puts an event last, and that is told."""
    rows = f"1,z,{last}\n1,y,{last}\n1,b,{first}\n1,a,{first}\n2,a,{first}\n"
    path = write(tmp_path / "log.csv", "case,activity,time\n" + rows)
    told: list[str] = []
    found = count_variants(path, notify=lambda note: told.append(str(note)))
    assert found == VariantCounts.of({("b", "a", "z", "y"): 1, ("a",): 1})
    assert told == ["2 events have no time stamp that can be read: they come last in their case"]
    by_file = count_variants(open_log(path, order="file"))
    assert by_file == VariantCounts.of({("z", "y", "b", "a"): 1, ("a",): 1})


def test_a_column_without_any_time_is_refused(tmp_path: Path) -> None:
    """The message shows a value, but for its words: they may be names; and the way out.

    An empty column is no mistake.
    """
    path = write(tmp_path / "log.csv", "case,activity,time\n1,b,9/Q Ann\n1,a,8/Q Bob\n")
    with pytest.raises(
        ReadError, match=r'in column "time".*"8/x x".*31\.12\.2025.*time_format.*order=.file.'
    ) as caught:
        count_variants(path)
    assert "Ann" not in str(caught.value) and "Bob" not in str(caught.value)
    assert count_variants(open_log(path, order="file")) == VariantCounts.of({("b", "a"): 1})
    assert count_variants(write(path, "case,activity,time\n1,b,\n1,a,\n")).events == 2
    with pytest.raises(ColumnsError, match="no column for timestamp"):
        open_log(write(path, "case,activity\n1,a\n"), order="time")


def test_a_person_at_some_events_only_is_one_person() -> None:
    """What is missing is nobody, and no second person."""
    told: list[str] = []
    data = pd.DataFrame({"case": [1, 1, 1], "activity": ["a", "b", "c"], "who": ["p", None, ""]})
    count_variants(
        open_log(data, person="who", max_cases=2), notify=lambda note: told.append(str(note))
    )
    assert told == []


def test_persons_that_vary_and_cases_left_out_are_told() -> None:
    """The holder of the log hears of cases with several persons, and of those that do not count."""
    data = pd.DataFrame(
        {"case": [1, 1, 2, 3, 4], "activity": list("abcde"), "who": ["x", "y", "x", " ", "x"]}
    )
    told: list[str] = []
    found = count_variants(
        open_log(data, person="who", max_cases=2), notify=lambda note: told.append(str(note))
    )
    assert found == VariantCounts.of(
        {("a", "b"): 1, ("c",): 1, ("d",): 1}, unit=Unit(person="who", max_cases=2)
    )
    assert [line.split(":")[0] for line in told] == [
        "1 case with more than one person",
        "1 case left out, of persons with more than 2",
    ]


@pytest.mark.parametrize(
    "stamps",
    [
        ["2020-01-01T10:00:00Z", "2020-01-01T12:30:00+02:00", "2020-01-01 11:00:00"],
        ["9", "10", "11"],
        ["1700000000000000001", "1700000000000000002", "1700000000000000003"],
        ["0.1", "0.25", "1"],
    ],
)
def test_times_as_text_are_compared_as_times(stamps: list[str], tmp_path: Path) -> None:
    """Zones and numbers are understood: text order would be another one."""
    rows = "".join(f"1,{name},{time}\n" for name, time in zip("cba", reversed(stamps), strict=True))
    path = write(tmp_path / "log.csv", "case,activity,time\n" + rows)
    found = count_variants(open_log(path, order="time"))
    assert found == VariantCounts.of({("a", "b", "c"): 1})


def test_activities_from_several_columns(tmp_path: Path) -> None:
    """Parts are joined with a plus sign; parts that would run together are refused."""
    path = write(tmp_path / "log.csv", "case,name,step\n1,a,start\n1,a,complete\n")
    found = count_variants(open_log(path, activity=["name", "step"]))
    assert found == VariantCounts.of({("a+start", "a+complete"): 1})
    write(path, "case,name,step\n1,a+b,c\n1,a,b+c\n")
    with pytest.raises(ReadError, match="both be called"):
        count_variants(open_log(path, activity=["name", "step"]))


PEOPLE = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from("ab"), st.sampled_from([None, " ", "x", "y"])),
    min_size=1,
    max_size=25,
)


@given(rows=PEOPLE, most=st.integers(1, 3), size=st.sampled_from([4, 8, 10**9]))
@settings(max_examples=30, deadline=None)
def test_surplus_cases_of_a_person_are_dropped(
    rows: list[tuple[int, str, str | None]], most: int, size: int
) -> None:
    """The first cases of each person, as the file has them, are kept; the unknown all are.

    The first row that names somebody says whose a case is.
    Small partitions part the cases of a person, and hold long cases, too.
    """
    cases: dict[int, list[str]] = {}
    person: dict[int, str | None] = {}
    for case, activity, who in rows:
        cases.setdefault(case, []).append(activity)
        if person.get(case) is None:
            person[case] = None if who == " " else who
    had: dict[str, int] = defaultdict(int)
    kept = []
    for case, activities in cases.items():
        who = person[case]
        if who is not None:
            had[who] += 1
        if who is None or had[who] <= most:
            kept.append(activities)
    data = pl.DataFrame(
        {
            "case": [r[0] for r in rows],
            "activity": [r[1] for r in rows],
            "who": [r[2] for r in rows],
        },
        schema={"case": pl.Int64, "activity": pl.String, "who": pl.String},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "PARTITION_ROWS", size)
        found = count_variants(open_log(data, person="who", max_cases=most))
    expected = VariantCounts.from_cases(kept)
    assert found == replace(expected, unit=Unit(person="who", max_cases=most))


def test_globs_and_folders_are_one_log(tmp_path: Path) -> None:
    """Files of a pattern or a folder are read in the order of their names, as one log."""
    rows = tied(5_000, 4)
    data = frame(rows)
    folder = tmp_path / "lake"
    for part in range(5):
        piece = data.iloc[part * 1000 : (part + 1) * 1000]
        (folder / f"day={part}").mkdir(parents=True)
        piece.to_parquet(folder / f"day={part}" / "part.parquet", row_group_size=100)
        piece.to_csv(tmp_path / f"part{part}.csv", index=False)
    (folder / "_SUCCESS").touch()
    (folder / "day=0" / ".part.crc").touch()
    for source in (folder, str(folder / "*" / "*.parquet"), tmp_path / "part*.csv"):
        for order in ("file", "time"):
            assert count_variants(open_log(source, order=order)) == slowly(rows, order)
    # A column that only the names of the folders hold can be used as well.
    assert len(count_variants(open_log(folder, activity="day")).activities) == 5


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({}, "empty"),
        ({"_SUCCESS": ""}, "empty"),
        ({"a.csv": "case,activity\n", "b.tsv": "case\tactivity\n"}, "several formats"),
        ({"a.csv": "case,activity\n", "b.csv": "case,task\n"}, "other columns"),
        ({"a.csv": "case,activity\n", "notes.txt": ""}, r"notes\.txt is no log: name those"),
    ],
)
def test_folders_that_are_no_log(files: dict[str, str], what: str, tmp_path: Path) -> None:
    """A folder must hold files of one format with the same columns."""
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(ReadError, match=what):
        open_log(tmp_path)
    with pytest.raises(ReadError, match="no file matches"):
        open_log(tmp_path / "*.parquet")


def test_unknown_sources_are_refused() -> None:
    """Something that is no path and no frame says what would be."""
    for source in (7, [("1", "a")], {"case": ["1"]}):
        with pytest.raises(ReadError, match="not a frame of pandas"):
            open_log(source)


def test_names_that_need_quoting(tmp_path: Path) -> None:
    """Columns and files with quotes in their names are read."""
    path = tmp_path / "it's.parquet"
    pq.write_table(pa.table({'the "case"': ["1"], "x;--": ["a"]}), path)
    found = count_variants(open_log(path, case='the "case"', activity="x;--"))
    assert found == VariantCounts.of({("a",): 1})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["log[1]", "log*", "log?", "l[o-p]g]", "it's"])
def test_a_file_is_read_whatever_its_name(tmp_path: Path, name: str, suffix: str) -> None:
    """Signs of patterns in the name of a file that exists do not bring in its neighbours."""
    for other in ("log1", "log2", "log", "lpg]"):
        write_variants(VariantCounts.of({("wrong",): 1}), tmp_path / f"{other}.{suffix}")
    path = tmp_path / f"{name}.{suffix}"
    write_variants(VariantCounts.of({("right",): 1}), path, force=True)
    assert dict(count_variants(open_log(path))) == {("right",): 1}


def test_a_first_row_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for an empty file, as DuckDB does from 256 MB on."""
    monkeypatch.setattr("sacofa.events.duckdb.csv_files.MAX_ROW_BYTES", 1 << 20)
    path = tmp_path / "log.csv"
    path.write_bytes(b"case,activity\n0," + b"0" * 3_000_000 + b"\n")
    with pytest.raises(ReadError, match="a row is longer than 1 MB"):
        count_variants(open_log(path))


def test_parquet_bombs_are_refused_unless_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes can stand for any number of rows."""
    rows = 100_000
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"case": ["1"] * rows, "activity": ["a"] * rows}), path)
    assert count_variants(open_log(path)).events == rows
    monkeypatch.setattr("sacofa.events.duckdb.parquet_files.UNCHECKED_ROWS", 1000)
    with pytest.raises(ReadError, match=r"beyond belief.*trusted=True"):
        count_variants(open_log(path))
    assert count_variants(open_log(path, trusted=True)).events == rows
