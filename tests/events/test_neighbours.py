"""Neighbours stay neighbours: the law that every way into the package keeps.

L and L' differ by one unit ⇒ their counted variants differ by at most max_cases, added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.errors import ColumnsError, SacofaError
from sacofa.events import count_variants
from sacofa.events.attributes import Sightings
from sacofa.events.duckdb import source
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts

from . import broken
from .ways import FILES, SPARK, Database, Way, read_xes

PERSON = {max_cases: Unit(person="who", max_cases=max_cases) for max_cases in (1, 2)}

times = st.sampled_from(
    ["2020-01-01T00:00:01", "2020-01-01T00:00:02", "2020-01-01T00:00:03"] * 4
    + [f"2019-12-31T00:00:0{second}" for second in range(4, 10)]
)
"""So few that many tie; and some that come before all others, and are in few cases."""

EPOCH = "1577836801"
"""The first of these times in seconds since 1970, which stands among texts in some logs."""


def events_at(stamps: st.SearchStrategy[str]) -> st.SearchStrategy[Event]:
    """Rows with times of one kind: times and numbers that are none are refused in one column."""
    return st.builds(
        Event,
        case=st.sampled_from([*map(str, range(1, 12)), "NA"]),
        activity=st.sampled_from(["a", "b", "B", "é"]),
        time=stamps | st.sampled_from([None, "soon"]),
        person=st.sampled_from([None, "", "  ", "ann", "Ann", "ann "]),
    )


lone = st.builds(
    Event,
    case=st.sampled_from(["2", "4"]),
    activity=st.none(),
    person=st.sampled_from([None, "ann"]),
)
UNITS = (ONE_CASE, *PERSON.values())
# A read costs the same for any small log: in one of many rows there is more that a unit may not
# change. In the first that is tried all rows are the same, so nothing is left without its unit.
event_logs = (
    st.sampled_from([times, times, st.sampled_from(["7", "10"])])
    .map(events_at)
    .flatmap(lambda row: st.lists(st.one_of(row, row, row, lone), min_size=12, max_size=36))
    # Some rows stand there twice.
    .flatmap(lambda rows: st.lists(st.sampled_from(rows), max_size=2).map(lambda add: rows + add))
)
units = st.sampled_from(UNITS)


def options_of(unit: Unit, order: str) -> dict[str, Any]:
    """How a log is opened that protects a unit."""
    persons = {} if unit.person is None else {"person": unit.person, "max_cases": unit.max_cases}
    return {"order": order, **persons}


def violations(
    way: Way, rows: EventLog, unit: Unit, order: str, most: int | None = None
) -> list[str]:
    """The first that breaks the law, in words."""
    if unit.person is not None and not way.persons:
        unit = ONE_CASE
    options = options_of(unit, order)
    with TemporaryDirectory() as folder:

        def read(log: EventLog) -> VariantCounts:
            with only_refusals():
                counted = way.read(Path(folder), log, **options)
            READ.append(counted.cases)
            return counted

        found = check_neighbours(
            read, [way.prepared(rows)], unit=unit, order=way.ties(order), most=most
        )
        return [f"{options}: {violation}" for violation in islice(found, 1)]


@contextmanager
def only_refusals() -> Iterator[None]:
    """Let pass that a log lacks something; any other error is none that a log may cause."""
    try:
        yield
    except ColumnsError:
        raise
    except SacofaError as error:
        if "no time stamp in column" not in str(error):
            raise AssertionError(f"not read: {error}") from error
        raise


EXAMPLES = 8
"""With so many random logs each way is tried: one finds each mistake below with 1/3 or more."""
MOST = 2
"""So many units are taken out of each."""

READ: list[int] = []
"""How many cases were counted in each log that was not refused."""


def try_law(
    way: Way,
    examples: int,
    most: int | None = None,
    *,
    chance: int | None = None,
    of: Sequence[Unit] = UNITS,
) -> None:
    """Try a way with random logs, units and orders; with `chance` as a seed, up to one that fails.

    Otherwise a small one that fails is looked for.
    """
    READ.clear()

    @given(rows=event_logs, unit=st.sampled_from(of), order=st.sampled_from(way.orders))
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        report_multiple_bugs=False,
        phases=list(Phase) if chance is None else [Phase.generate],
    )
    def law(rows: list[Event], unit: Unit, order: str) -> None:
        broken_by = violations(way, rows, unit, order, most)
        assert not broken_by, f"the law is broken: {broken_by}"

    if chance is not None:
        law = seed(chance)(law)
    law()
    # A law about logs that are refused would be kept by anybody.
    assert len(READ) > examples and sum(READ) > examples


@pytest.mark.parametrize("name", FILES)
def test_files_and_frames(name: str) -> None:
    """A unit that comes or goes changes the counts of files and frames by no more than it may."""
    try_law(FILES[name], EXAMPLES, MOST)


def test_a_database(address: str) -> None:
    """So it is in a PostgreSQL server, whatever order the query asks for."""
    try_law(database_of(address), EXAMPLES, MOST)


def database_of(address: str, query: str = "select * from rows order by time") -> Way:
    return Way(read=Database(address, query), orders=("time",), ordered=False, times="typed")


@pytest.mark.parametrize(("cases", "most"), [(3, 2), (5, 2), (9, 4), (2, 3)])
def test_so_many_units_are_taken_out(cases: int, most: int) -> None:
    """As many as are asked for, or all that there are."""
    logs: list[EventLog] = []

    def read(rows: EventLog) -> VariantCounts:
        logs.append(rows)
        return VariantCounts.of({("a",): len(rows)})

    rows = [Event(case=f"{case}", activity="a") for case in range(cases)]
    assert not list(check_neighbours(read, [rows], unit=ONE_CASE, most=most))
    assert [len(log) for log in logs] == [cases, *[cases - 1] * min(cases, most)]


def tied(cases: int) -> list[Event]:
    """A log in which all events of two days tie: what breaks ties by other rows shows here."""
    return [
        Event(
            case=f"case {case}",
            activity="abcd"[(case * 7 + place * 3) % 4],
            time=f"2020-01-0{1 + case % 2}T00:00:00",
            person=f"person {case % (cases // 3)}",
        )
        for place in range(2)
        for case in range(cases)
    ]


@pytest.mark.parametrize("unit", [ONE_CASE, PERSON[1]], ids=["case", "person"])
def test_many_ties_in_a_database(unit: Unit, address: str) -> None:
    """A sort that is not stable, and a physical order, decide nothing."""
    for query in ("select * from rows order by time", "select distinct * from rows"):
        assert violations(database_of(address, query), tied(5_000), unit, "time", most=3) == []


@pytest.mark.parametrize("unit", [ONE_CASE, PERSON[1]], ids=["case", "person"])
def test_many_ties_after_a_shuffle(unit: Unit, session: Any) -> None:
    """Where rows lie after a shuffle decides nothing."""
    assert violations(SPARK["spark frame"], tied(1_000), unit, "time", most=1) == []


@pytest.mark.parametrize(
    ("mistake", "name", "chance"),
    [
        (broken.person_of_the_first_row, "csv", 3),
        (broken.person_of_the_first_row, "polars", 3),
        (broken.any_person_of_a_case, "csv", 1),
        (broken.no_bound, "parquet", 0),
    ],
)
def test_mistakes_with_files_are_found(
    mistake: Callable[[pytest.MonkeyPatch], None],
    name: str,
    chance: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many random logs as the law is tried with find a reader that lets other rows decide.

    Not with every seed; the first that is tried is one of those.
    """
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match="the law is broken"):
        for number in range(chance, chance + 20):
            try_law(FILES[name], EXAMPLES, MOST, chance=number, of=[*PERSON.values()])


def test_times_guessed_from_the_first_row_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One case whose time is a number would turn the order of all others into that of the file."""
    first = [Event(case="first", activity="a", time=EPOCH)]
    others = [
        Event(case=f"{case}", activity=name, time=f"2020-01-01T00:00:{second}")
        for case in range(3)
        for name, second in (("b", "02"), ("a", "01"))
    ]
    assert violations(FILES["csv"], first + others, ONE_CASE, "time") == []
    broken.times_like_the_first(monkeypatch)
    assert violations(FILES["csv"], first + others, ONE_CASE, "time")


@pytest.mark.parametrize(
    ("mistake", "unit"),
    [(broken.database_ties_by_row, ONE_CASE), (broken.database_first_cases_by_row, PERSON[1])],
)
def test_mistakes_with_a_database_are_found(
    mistake: Callable[[pytest.MonkeyPatch], None],
    unit: Unit,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the server gives first changes with other rows, and that is found."""
    mistake(monkeypatch)
    found = violations(database_of(address), tied(5_000), unit, "time", most=3)
    assert found and "may change by 1" in found[0]


@pytest.mark.parametrize("unit", [ONE_CASE, PERSON[1]], ids=["case", "person"])
def test_mistakes_after_a_shuffle_are_found(
    unit: Unit, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids that Spark gives to rows change with other rows, and that is found."""
    broken.spark_ties_by_id(monkeypatch)
    assert violations(SPARK["spark frame"], tied(1_000), unit, "time", most=1)


def test_objects_of_pandas_are_text_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type guessed from all values would write those of one case as another case wants it."""

    def read(rows: EventLog) -> VariantCounts:
        objects = [
            {"True": True, "False": False}.get(row.activity or "", row.activity) for row in rows
        ]
        frame = pd.DataFrame({"case": [row.case for row in rows]})
        frame["activity"] = pd.Series(objects, dtype="object")
        return count_variants(frame)

    names = ["True", "False", "x"]
    log = [Event(case=f"{i}", activity=names[i % 3 if i < 3 else 0]) for i in range(6)]
    assert not list(check_neighbours(read, [log], unit=ONE_CASE))
    monkeypatch.setattr(source, "as_registered", lambda frame, columns, name: frame)
    assert list(check_neighbours(read, [log], unit=ONE_CASE))


@pytest.mark.parametrize("role", ["person", "timestamp", "activity"])
@pytest.mark.parametrize("name", [name for name in FILES if name != "json"])
def test_what_does_not_exist_is_refused_before_anything_is_counted(
    name: str, role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that is not there is refused by every reader when a log is opened."""
    way = FILES[name]
    monkeypatch.setattr("tests.events.ways.count_variants", None)
    options: dict[str, Any] = {role: "absent"}
    if role == "person":
        options["max_cases"] = 1
    with pytest.raises(ColumnsError, match="absent"):
        way.read(tmp_path, way.prepared(tied(9)), **options)


def test_a_person_that_nobody_looks_for_protects_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the search for attributes, XES would promise what it does not keep."""
    monkeypatch.setattr("sacofa.events.xes.search", lambda *_: ([], Sightings()))
    counted = read_xes(tmp_path, tied(9), person="absent", max_cases=1)
    assert counted.unit == Unit(person="absent", max_cases=1) and counted.cases == 9
