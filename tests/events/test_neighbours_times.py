"""Neighbours stay neighbours with their times: what a unit changes is its own cases alone.

L and L' differ by one unit ⇒ their cases, each with its activities and times, differ by at most
max_cases, added up. And the cases that are read one by one are those that are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, EventLog, distance_of, units_of
from sacofa.errors import SacofaError
from sacofa.events import Log, count_variants, open_log, read_cases
from sacofa.kernel.cases import NO_TIME, CaseBatch
from sacofa.kernel.unit import ONE_CASE, Unit

from . import ways
from .test_neighbours import event_logs, options_of, units
from .ways import FILES, Database, Way

Timed = Counter[tuple[tuple[str, ...], tuple[int, ...], bool]]
"""How often a case has these activities at these times."""


def timed_cases(number: int, batch: CaseBatch) -> Timed:
    """The cases of a part."""
    found: Timed = Counter()
    assert batch.times is not None
    parts = zip(batch.sequences(), batch.offsets.tolist(), batch.complete.tolist(), strict=False)
    for ids, start, complete in parts:
        times = tuple(batch.times[start : start + len(ids)].tolist())
        found[tuple(batch.activities[i] for i in ids), times, complete] += 1
    return found


def read_both(log: Log) -> Timed:
    """The cases of a log with their times, which are those that are counted."""
    assert log.has_times
    cases = read_cases(log)
    assert cases.by_case is not None
    counted = count_variants(log)
    assert distance_of(cases.variants, counted) == 0  # type: ignore[arg-type]
    assert cases.unit == counted.unit == log.unit
    found = sum(cases.by_case.map_parts(timed_cases), Counter())
    names: Counter[tuple[tuple[str, ...], bool]] = Counter()
    for (activities, _, complete), count in found.items():
        names[activities, complete] += count
    again: Counter[tuple[tuple[str, ...], bool]] = Counter()
    for (activities, count), complete in zip(counted, counted.complete.tolist(), strict=True):
        again[activities, complete] += count
    assert names == again
    return found


def from_the_first(log: Log) -> Timed:
    """Broken on purpose: times are counted from the first of the log."""
    found = read_both(log)
    first = min((t for _, times, _ in found for t in times if t != NO_TIME), default=0)
    moved: Timed = Counter()
    for (names, times, complete), count in found.items():
        moved[names, tuple(t if t == NO_TIME else t - first for t in times), complete] += count
    return moved


def violations(
    way: Way, rows: EventLog, unit: Unit, order: str, read: Callable[[Log], Timed], most: int
) -> list[str]:
    """What breaks the law, in words."""
    if unit.person is not None and not way.persons:
        unit = ONE_CASE
    rows = way.prepared(rows)
    options = options_of(unit, order)
    if way.times == "xes":
        # Named, because the first event alone decides where nobody says so (see below).
        options["timestamp"] = "time:timestamp"

    def cases_of(folder: str, log: EventLog) -> Timed | None:
        try:
            with patch.object(ways, "count_variants", read):
                found: Any = way.read(Path(folder), log, **options)
        except SacofaError:
            return None
        READ.append(found.total())
        return found  # type: ignore[no-any-return]

    broken = []
    with TemporaryDirectory() as folder:
        whole = cases_of(folder, rows)
        every = units_of(rows, unit, way.ties(order))
        for gone in every[:: max(len(every) // most, 1)][:most]:
            rest = cases_of(folder, [event for event in rows if event.case not in gone])
            if whole is None or rest is None:
                continue
            change = whole.copy()
            change.subtract(rest)
            distance = sum(map(abs, change.values()))
            if distance > unit.max_cases:
                broken.append(f"{order}, {unit}: without {gone}: {distance}: {rows}")
    return broken


READ: list[int] = []
"""How many cases each log had that was not refused."""


def try_law(
    way: Way, examples: int, read: Callable[[Log], Timed] = read_both, most: int = 2
) -> None:
    """Try a way with random logs, units and orders."""
    READ.clear()

    @given(rows=event_logs, unit=units, order=st.sampled_from(way.orders))
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=[Phase.generate],
    )
    def law(rows: list[Event], unit: Unit, order: str) -> None:
        broken_by = violations(way, rows, unit, order, read, most)
        assert not broken_by, f"the law is broken: {broken_by}"

    law()
    assert len(READ) > examples and sum(READ) > examples


TIMED = [name for name in FILES if name != "json"]


@pytest.mark.parametrize("name", TIMED)
def test_files_and_frames(name: str) -> None:
    """A unit that comes or goes takes its own cases and times with it, and nothing else."""
    try_law(FILES[name], 6)


@pytest.mark.parametrize("form", [None, "iso"], ids=["counted there", "brought here"])
def test_a_database(form: str | None, address: str) -> None:
    """So it is in a PostgreSQL server, and where its rows are brought here."""
    read = partial(Database(address), time_format=form)
    way = Way(read=read, orders=("time",), ordered=False, times="typed")
    try_law(way, 6)


@pytest.mark.parametrize("known", [None, "2020-01-01T00:00:00"], ids=["missing", "known"])
def test_whether_a_log_has_times_does_not_depend_on_one_case(
    known: str | None, tmp_path: Path
) -> None:
    """A case that comes first decides nothing: a release shows whether times were asked for."""
    other = "2020-01-01T00:00:00" if known is None else None
    rest = [Event(case=f"{i}", activity="a", time=other) for i in range(2, 5)]
    first = Event(case="1", activity="a", time=known)
    both = [
        open_log(ways.write_xes(tmp_path / f"{number}.xes", rows)).has_times
        for number, rows in enumerate([[first, *rest], rest])
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("name", ["csv", "xes", "parquet"])
def test_times_that_depend_on_other_cases_are_found(name: str) -> None:
    """A calendar that begins where the log begins lets one case move all others."""
    with pytest.raises(AssertionError, match="the law is broken"):
        try_law(FILES[name], 40, from_the_first)
