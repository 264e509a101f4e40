"""Frames: a value is read the same whatever type the others of its column give that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sacofa import Certified, anonymize
from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.errors import ReadError, SettingError, Statement
from sacofa.events import count_variants, open_log, read_cases
from sacofa.events.source import OPEN_ORDER
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.messages import render

Frame = Callable[[dict[str, list[Any]], Path], Any]


def in_parquet(columns: dict[str, list[Any]], folder: Path) -> Path:
    """A file as pandas writes it."""
    pd.DataFrame(columns).to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def in_categories(columns: dict[str, list[Any]], folder: Path) -> pd.DataFrame:
    """A frame of categories, in the order in which they come."""
    named = {name: pd.Series(values, dtype=object) for name, values in columns.items()}
    return pd.DataFrame(
        {
            name: pd.Categorical(values, categories=pd.unique(values.dropna()))
            for name, values in named.items()
        }
    )


def in_relation(columns: dict[str, list[Any]], folder: Path) -> Any:
    """A relation over categories."""
    database = duckdb.connect()
    database.register("given", in_categories(columns, folder))
    return database.sql("SELECT * FROM given")


FRAMES: dict[str, Frame] = {
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "categories": in_categories,
    "polars": lambda columns, _: pl.DataFrame(columns, strict=False),
    "pyarrow": lambda columns, _: pa.table(columns),
    "parquet": in_parquet,
    "relation": in_relation,
}
VALUES: dict[str, list[Any]] = {
    "missing": [1, 2, None, 20],
    "floats": [1, 2.5, 20, None],
    "yes or no": [True, False, None, True],
    "texts among others": [1, 2.0, "x", False],
    "decimals": [Decimal("1.5"), Decimal("1.25"), Decimal(2), Decimal("1.5")],
}
WITHOUT = ("polars", "pyarrow", "parquet", "relation")
"""Frames whose columns have one type, which whoever makes them says: no texts among others."""


def read_values(values: list[Any], make: Frame, folder: Path, role: str) -> Any:
    """Read cases by number, which have one of these values each, as activity or as person."""

    def read(rows: EventLog) -> VariantCounts:
        mine = [values[int(row.case)] for row in rows]
        columns: dict[str, list[Any]] = {
            "case": [int(row.case) for row in rows],
            "activity": mine if role == "activity" else [row.activity for row in rows],
            "time": [row.time for row in rows],
        }
        if role == "person":
            return count_variants(
                open_log(make({**columns, "who": mine}, folder), person="who", max_cases=1)
            )
        return count_variants(open_log(make(columns, folder)))

    return read


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_value_is_written_as_it_is(frame: str, kind: str, tmp_path: Path) -> None:
    """A case whose value is missing, or a fraction, changes the names of no others."""
    if kind == "texts among others" and frame in WITHOUT:
        pytest.skip("no such column")
    if (frame, kind) == ("relation", "decimals") and duckdb.__version__ < "2":
        pytest.skip("DuckDB before 2.0 does not register categories of decimals")
    read = read_values(VALUES[kind], FRAMES[frame], tmp_path, "activity")
    # Without a time, a row without an activity says that there is such a case.
    log = [Event(case=f"{case}", activity="", time=None) for case in range(4)]
    counted = read(log)
    assert counted.cases == 4
    assert not list(check_neighbours(read, [log], unit=ONE_CASE))


@pytest.mark.parametrize("frame", ["pandas", "categories", "polars", "parquet"])
def test_a_person_is_the_same_with_and_without_others(frame: str, tmp_path: Path) -> None:
    """A case of nobody does not change who the others belong to."""
    values = [7, None, 7, 8]
    log = [Event(case=f"{i}", activity="a", time=f"2020-01-0{i + 1}") for i in range(4)]
    read = read_values(values, FRAMES[frame], tmp_path, "person")
    unit = Unit(person="who", max_cases=1)
    people = [Event(case=e.case, activity=e.activity, time=e.time, person=str(values[i] or ""))
              for i, e in enumerate(log)]  # fmt: skip
    assert read(people).cases == 3
    assert not list(check_neighbours(read, [people], unit=unit))


@pytest.mark.parametrize("others", [["a"], ["a", None], ["a", 1]])
def test_half_a_character_stops_no_other_case(others: list[Any]) -> None:
    """Objects of pandas can hold one; text cannot."""
    names = pd.Series([*others, "b\ud800"], dtype=object)
    frame = pd.DataFrame({"case": range(len(names)), "activity": names})
    meant = [() if name is None else (str(name),) for name in others]
    assert dict(count_variants(frame.assign(time=pd.NaT))) == dict.fromkeys([*meant, ("b?",)], 1)


def test_attributes_are_written_so_too() -> None:
    """Declared categories fit whole numbers, whether or not one is missing."""
    declared = {"attributes": {"case:ward": {"type": "category", "values": ["1", "2"]}}}
    found = []
    for wards in ([1, 2], [1, 2, None], [True, 1, 2], [1.0, 2.0, "x"]):
        frame = pd.DataFrame({"case": range(len(wards)), "activity": "a", "case:ward": wards})
        cases = read_cases(open_log(frame, attribute=("case:ward",), columns=declared))
        assert cases.by_case is not None
        (batch,) = cases.by_case.map_parts(lambda number, part: part)
        found.append({0, 1} <= set(batch.attributes[0].cells.tolist()))
    assert found == [True] * 4


@pytest.mark.parametrize(
    ("values", "what"),
    [([True, False], "yes_no"), ([True, None], "text"), ([1, None], "number")],
)
def test_types_that_follow_from_values_are_named(values: list[Any], what: str) -> None:
    """One missing value makes a column of pandas another; what is declared is not taken."""
    frame = pd.DataFrame({"case": ["1", "2"], "activity": "a", "urgent": values})
    said = Statement(
        "assumption.attribute_facts_from_log", attribute="urgent", facts=[Statement(f"fact.{what}")]
    )
    log = open_log(frame, attribute=("urgent",))
    release = anonymize(log, Certified(epsilon=1), seed=1)
    assert log.assumptions == (said,) and said in release.certificate.assumptions
    assert render(said, "de").startswith("Dass urgent")
    declared = {"attributes": {"urgent": {"type": "yes/no"}}}
    assert not open_log(frame, attribute=("urgent",), columns=declared).assumptions


def test_one_stamp_changes_no_certificate() -> None:
    """It makes text of all times of pandas, so that they are text is no secret kept either way."""
    noon = pd.Timestamp("2025-01-01 12:00")
    for times in ([noon, noon], [noon, "soon"]):
        frame = pd.DataFrame({"case": ["1", "2"], "activity": "a", "time": times})
        assert open_log(frame).assumptions == (OPEN_ORDER,)
        assert open_log(frame, time_format="iso").assumptions == ()


def test_categories_that_are_written_alike() -> None:
    """The number 1 and the text 1 are one name; in a column that nobody reads, they are nothing."""
    column = pd.Categorical([1, "1", "x"], categories=[1, "1", "x"])
    frame = pd.DataFrame({"case": column, "activity": "a", "note": column})
    assert sorted(count_variants(frame)) == [(("a",), 1), (("a", "a"), 1)]


@pytest.mark.parametrize("frame", FRAMES)
def test_times_that_are_categories_are_times(frame: str, tmp_path: Path) -> None:
    """Categories are compared as what they say, and not by their numbers."""

    def read(rows: EventLog) -> VariantCounts:
        columns: dict[str, list[Any]] = {
            "case": [row.case for row in rows],
            "activity": [row.activity for row in rows],
            "time": [row.time for row in rows],
        }
        return count_variants(FRAMES[frame](columns, tmp_path))

    times = ["2020-01-03", "2020-01-05", "2020-01-03"]
    log = [Event(case=case, activity=name, time=time)
           for case, name, time in zip("122", "xab", times, strict=True)]  # fmt: skip
    assert sorted(read(log)) == [(("b", "a"), 1), (("x",), 1)]
    assert not list(check_neighbours(read, [log], unit=ONE_CASE))


def test_ties_in_a_relation_go_by_what_is_said(tmp_path: Path) -> None:
    """Categories in another order change no ties."""
    for names in ("ab", "ba", "cab"):
        rows: dict[str, list[Any]] = {
            "case": ["0", *"11"][-len(names) :],
            "activity": list(names),
            "time": ["2020-01-01"] * len(names),
        }
        counted = dict(count_variants(in_relation(rows, tmp_path)))
        assert counted["a", "b"] == 1


def test_ties_in_a_relation_are_told_apart_whatever_its_collation() -> None:
    """Texts that a collation takes for equal are not: where rows lie, other rows decide."""
    database = duckdb.connect()
    database.execute(
        "CREATE TABLE rows (case_id VARCHAR, activity VARCHAR COLLATE nocase, ts DATE)"
    )
    rows = [(case, name, "2020-01-01") for case in range(40) for name in "aAbB"]
    for some in (rows, rows[::-1]):
        database.execute("DELETE FROM rows")
        database.executemany("INSERT INTO rows VALUES (?, ?, ?)", some)
        counted = dict(count_variants(database.table("rows")))
        assert counted == {("A", "B", "a", "b"): 40}


def test_a_query_of_polars_has_no_order_of_its_own() -> None:
    """Its rows come as chance has it, so ties go by what they say."""
    rows = [(str(case), name, "2020-01-01") for case in range(200) for name in "bca"]
    frame = pl.DataFrame(rows, schema=["case", "activity", "time"], orient="row")
    for some in (frame, frame.reverse(), frame.head(300)):
        counted = dict(count_variants(some.lazy().unique()))
        assert counted == {("a", "b", "c"): some.height // 3}
    with pytest.raises(SettingError, match="no order of their own"):
        open_log(frame.lazy(), order="file")


@pytest.mark.parametrize("kind", ["relation", "query"])
def test_a_query_that_fails_is_told_in_one_line(kind: str) -> None:
    """Without the value that it stumbled upon."""
    frame = pl.DataFrame({"case": ["1"], "activity": ["a"], "time": ["2020"], "age": ["Ann Smith"]})
    source: Any = frame.lazy().with_columns(pl.col("age").cast(pl.Int64))
    if kind == "relation":
        database = duckdb.connect()
        database.register("rows", frame.to_arrow())
        source = database.sql("SELECT * REPLACE (CAST(age AS INTEGER) AS age) FROM rows")
    with pytest.raises(ReadError, match="cannot be read") as caught:
        count_variants(open_log(source, activity="age"))
    assert "Smith" not in str(caught.value) and "\n" not in str(caught.value)


def test_numbers_that_floats_run_together_are_refused() -> None:
    """Large numbers lose digits where one is missing: no names are made of what is left.

    That is refused whether or not one is missing here; cases cannot be.
    """
    large = [(1 << 53) + 1, 1 << 53]
    assert count_variants(pd.DataFrame({"case": large, "activity": "a"})).cases == 2
    for role in ("case", "activity", "who"):
        columns: dict[str, Any] = {"case": [1, 2, 3], "activity": ["a", "b", "c"], "who": [1, 2, 3]}
        for third in (np.nan, 3, "x") if role != "case" else (np.nan,):
            columns[role] = [*large, third]
            with pytest.raises(ReadError, match=f'column "{role}" has a number of 2\\^53 or more'):
                count_variants(open_log(pd.DataFrame(columns), person="who", max_cases=1))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "relation", "parquet"])
@pytest.mark.parametrize("role", ["activity", "time", "who"])
def test_lengths_of_time_are_refused(role: str, kind: str, tmp_path: Path) -> None:
    """By their type, when a log is opened."""
    columns: dict[str, list[Any]] = {"case": [1, 2], "activity": ["a", "b"], "time": [None, None]}
    columns = {**columns, "who": ["x", "y"], role: [timedelta(1), timedelta(2)]}
    with pytest.raises(ReadError, match=f'column "{role}" has lengths of time in it, .* as text'):
        open_log(FRAMES[kind](columns, tmp_path), person="who", max_cases=1)


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["case", "activity", "note", "note"], 'has two columns called "note"'),
        (["case", "activity", 2, 3], "the name of column 3 is not text but int: rename it"),
    ],
)
def test_columns_that_cannot_be_told_apart_are_refused(names: list[Any], what: str) -> None:
    """DuckDB would call them otherwise, and values would not be made text."""
    frame = pd.DataFrame([["1", "a", 1, 2]])
    frame.columns = pd.Index(names)
    with pytest.raises(ReadError, match=what):
        open_log(frame)
    if isinstance(names[-1], str):
        table = pa.table([pa.array([1])] * 4, names=names)
        with pytest.raises(ReadError, match=what):
            open_log(table)


def test_capitals_tell_columns_apart() -> None:
    """Each is read as it is called."""
    frame = pd.DataFrame({"Case": ["1", "2"], "case": ["3", "3"], "activity": [True, "x"]})
    assert count_variants(open_log(frame, case="Case")).cases == 2
    assert dict(count_variants(open_log(frame, case="case"))) == {("true", "x"): 1}


@pytest.mark.parametrize(
    "thing",
    [pd.Series(["a"]), pd.DataFrame({"a": [1]}).groupby("a"), pl.Series(["a"]), pa.array(["a"])],
    ids=lambda thing: type(thing).__name__,
)
def test_what_has_no_columns_is_no_frame(thing: Any) -> None:
    """It is refused in one line."""
    with pytest.raises(ReadError, match=r"is not a frame: it has no columns"):
        open_log(thing)
