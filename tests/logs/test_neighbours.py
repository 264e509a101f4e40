"""Neighbours stay neighbours: the law that every way into the package keeps.

L and L' differ by one unit ⇒ their counted variants differ by at most max_cases, added up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.unit import ONE_CASE, Unit

from .servers import need_spark
from .ways import FILES, SPARK, Database, Way

PERSON = {max_cases: Unit(person="who", max_cases=max_cases) for max_cases in (1, 2)}

times = st.sampled_from(["00", "01", "02"]).map("2020-01-01T00:00:{}".format)
"""So few that many tie."""

events = st.builds(
    Event,
    case=st.sampled_from(["1", "2", "3", "10", "NA"]),
    activity=st.sampled_from(["a", "b", "B", "é"]),
    time=times | st.sampled_from([None, "soon", "7", "10"]),
    person=st.sampled_from([None, "", "  ", "ann", "Ann", "ann "]),
)
lone = st.builds(
    Event,
    case=st.sampled_from(["2", "4"]),
    activity=st.none(),
    person=st.sampled_from([None, "ann"]),
)
event_logs = st.lists(st.one_of(events, events, events, lone), min_size=1, max_size=12).flatmap(
    # Some rows stand there twice.
    lambda rows: st.lists(st.sampled_from(rows), max_size=2).map(lambda again: rows + again)
)
units = st.sampled_from([ONE_CASE, *PERSON.values()])


def options_of(unit: Unit, order: str) -> dict[str, Any]:
    """How a log is opened that protects a unit."""
    persons = {} if unit.person is None else {"person": unit.person, "max_cases": unit.max_cases}
    return {"order": order, **persons}


def violations(
    way: Way, rows: EventLog, unit: Unit, order: str, most: int | None = None
) -> list[str]:
    """What breaks the law, in words."""
    if unit.person is not None and not way.persons:
        unit = ONE_CASE
    options = options_of(unit, order)
    with TemporaryDirectory() as folder:
        read = partial(way.read, Path(folder), **options)
        found = check_neighbours(
            read, [way.prepared(rows)], unit=unit, order=way.ties(order), most=most
        )
        return [f"{options}: {violation}" for violation in found]


def try_law(way: Way, examples: int, most: int | None = None) -> None:
    """Try a way with random logs, units and orders."""

    @given(rows=event_logs, unit=units, order=st.sampled_from(way.orders))
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def law(rows: list[Event], unit: Unit, order: str) -> None:
        assert violations(way, rows, unit, order, most) == []

    law()


@pytest.mark.parametrize("name", FILES)
def test_files_and_frames(name: str) -> None:
    """A unit that comes or goes changes the counts of files and frames by no more than it may."""
    if name == "r4pm":
        pytest.importorskip("r4pm", reason="the extra fast-xes is not installed")
    try_law(FILES[name], 25)


@pytest.mark.parametrize("name", SPARK)
def test_spark(name: str, session: Any) -> None:
    """So it is where Spark reads, shuffles or not."""
    try_law(SPARK[name], 4, most=2)


def test_a_database(address: str) -> None:
    """So it is in a PostgreSQL server, whatever order the query asks for."""
    try_law(database_of(address), 25)


def database_of(address: str, query: str = "select * from rows order by time") -> Way:
    return Way(read=Database(address, query), orders=("time",), ordered=False, times="typed")


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
    assert violations(SPARK["spark frame"], tied(1_000), unit, "time", most=3) == []
