"""Queries about time: what one case can change, and that nothing is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.kernel.cases import CaseBatch
from sacofa.kernel.queries.durations import DAY, HOUR, MINUTE, SECOND, bins
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.kernel.queries.protocol import Query
from sacofa.kernel.queries.times import (
    NO_TIME,
    Arrivals,
    CycleTime,
    Elapsed,
    Gaps,
    Ints,
    ServiceTime,
    WeekHours,
    first_occurrences,
)

from .batches import Event, batch, events, nasty_cases

GAPS = Gaps(activities=4, steps=((0, 1), (1, 1)), rungs=(2, -1, 0, 1, 0, 0))
QUERIES: list[Query] = [
    CycleTime(rung=0),
    CycleTime(rung=4),
    GAPS,
    Elapsed(rungs=(0, 1, -1, 2)),
    Arrivals(),
    Arrivals(first=24, months=7),
    WeekHours(),
    ServiceTime(rungs=(1, 0, 0, 0)),
]


def changes(query: Query, cases: list[list[Event]], case: list[Event]) -> int:
    """How much one case more changes a table, in sum."""
    more = query.table(batch([*cases, case])) - query.table(batch(cases))
    return int(np.abs(more).sum())


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.name)
@settings(deadline=None)
@given(cases=st.lists(nasty_cases, max_size=3), case=nasty_cases)
def test_one_case_moves_a_table_by_one_vote_at_most(
    query: Query, cases: list[list[Event]], case: list[Event]
) -> None:
    """Whatever its times are, and whatever the other cases are."""
    assert changes(query, cases, case) <= query.sensitivity == VOTE_UNITS
    # What a case adds is its own: none of it depends on other cases.
    alone = query.table(batch([case]))
    both = query.table(batch([*cases, case]))
    assert (both - query.table(batch(cases)) == alone).all()
    assert (alone >= 0).all()


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.name)
@settings(deadline=None)
@given(cases=st.lists(nasty_cases, max_size=4))
def test_tables_are_whole_numbers_and_parts_add_up(query: Query, cases: list[list[Event]]) -> None:
    """A table has its cells, is made of integers, and is the sum of the tables of its parts."""
    table = query.table(batch(cases))
    assert table.dtype == np.int64
    assert table.shape == (len(query.cells),)
    parts = [query.table(batch(cases[i : i + 1])) for i in range(len(cases))]
    assert (table == np.sum(parts, axis=0, initial=0)).all()


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.name)
def test_without_times_a_table_is_empty(query: Query) -> None:
    """A log without times, and one whose times are all missing, say nothing."""
    cases = batch([[(0, 1, 2), (1, 3, 4)]])
    assert not query.table(replace(cases, times=None)).any()
    assert not query.table(replace(cases, times=np.full(2, NO_TIME))).any()


def test_durations_between_the_ends_of_time_are_the_longest_ones() -> None:
    """The difference of two times fits into 64 bits, however far apart they are."""
    edge = 2**63 - 1
    case = batch([[(0, -edge, -edge), (1, edge, edge)]])
    took = CycleTime(rung=0).table(case)
    assert took[-1] == took.sum() == VOTE_UNITS
    waited = Gaps(activities=4, steps=((0, 1),), rungs=(0, 0, 0, 0, 0)).table(case)
    assert waited.sum() == VOTE_UNITS
    hour = Gaps(activities=4, steps=((0, 1),), rungs=(0, 0, 0, 0, 0)).table(
        batch([[(0, 0, 0), (1, HOUR, HOUR)]])
    )
    assert np.flatnonzero(waited).max() > np.flatnonzero(hour).max()


@dataclass(frozen=True, kw_only=True)
class EveryGapVotes(Gaps):
    """Broken on purpose: each gap has a vote of its own."""

    def table(self, batch: CaseBatch) -> Ints:  # type: ignore[override]
        """Give a whole vote to each gap."""
        lengths = np.diff(batch.offsets)
        return super().table(batch) * int(max(lengths.max(initial=1) - 1, 1))


@dataclass(frozen=True, kw_only=True)
class SharedCalendar(Arrivals):
    """Broken on purpose: months are counted from the first one of the log."""

    def table(self, batch: CaseBatch) -> Ints:  # type: ignore[override]
        """Shift the table to where the log begins."""
        table = super().table(batch)
        return np.roll(table, -int(np.argmax(table > 0)))


def test_broken_queries_are_found() -> None:
    """The law of one vote rejects a vote for each gap, and a calendar that the log sets."""
    hours = [(0, 0, hour * HOUR) for hour in range(5)]
    broken = EveryGapVotes(activities=4, steps=(), rungs=(0, 0, 0, 0))
    assert changes(broken, [], hours) > VOTE_UNITS
    late = [[(0, 0, 3_000 * DAY)], [(0, 0, 4_000 * DAY)]]
    assert changes(SharedCalendar(), late, [(0, 0, DAY)]) > VOTE_UNITS


def test_cycle_time_is_from_the_first_to_the_last_known_time() -> None:
    """Missing times are passed over; a clock that runs backwards shows zero."""
    query = CycleTime(rung=0)
    case = [(0, 0, NO_TIME), (1, 0, 5 * DAY), (2, 0, 7 * DAY), (3, 0, NO_TIME)]
    table = query.table(batch([case]))
    assert table[8] == VOTE_UNITS == table.sum()
    backwards = query.table(batch([[(0, 0, 7 * DAY), (1, 0, 0)]]))
    assert backwards[0] == VOTE_UNITS == backwards.sum()
    assert query.table(batch([[(0, 0, 7)]]))[0] == VOTE_UNITS


def test_gaps_have_rows_for_steps_and_for_the_rest_into_each_activity() -> None:
    """Three gaps share a vote; a step without a row of its own counts for where it leads."""
    case = [(0, 0, 0), (1, 0, 2 * MINUTE), (2, 0, 2 * MINUTE), (3, 0, 2 * MINUTE + 10 * DAY)]
    table = GAPS.table(batch([case]))
    cells = {int(cell): int(table[cell]) for cell in np.flatnonzero(table)}
    into = GAPS.starts[2:]
    third = VOTE_UNITS // 3
    assert set(cells.values()) == {third}
    assert int(into[2]) in cells
    assert int(into[3]) + 10 in cells
    assert any(cell < GAPS.starts[1] for cell in cells)


def test_elapsed_counts_first_occurrences_after_the_first_event() -> None:
    """An activity that comes again counts once, that of the first event not at all."""
    query = Elapsed(rungs=(0, 0, 0, 0))
    case = [(0, 0, 0), (1, 0, 2 * HOUR), (0, 0, 3 * HOUR), (1, 0, 9 * DAY), (2, 0, 9 * DAY)]
    table = query.table(batch([case])).reshape(4, 14)
    assert table.sum(axis=1).tolist() == [0, VOTE_UNITS // 2, VOTE_UNITS // 2, 0]
    assert table[1, 6] == table[2, 10] == VOTE_UNITS // 2


def test_arrivals_are_months_of_a_public_calendar() -> None:
    """What begins outside is not counted, and nothing else moves."""
    first = int(np.datetime64("2012-03-31T23:59:59", "us").astype(np.int64))
    query = Arrivals()
    assert np.flatnonzero(query.table(batch([[(0, 0, first)]]))).tolist() == [42 * 12 + 2]
    window = Arrivals(first=42 * 12 + 3, months=5)
    table = window.table(batch([[(0, 0, first)], [(0, 0, first + SECOND)]]))
    assert np.flatnonzero(table).tolist() == [0]


def test_the_week_begins_on_monday() -> None:
    """A Monday at 3:59 is in the first cell, a Sunday at 20:00 in the last."""
    monday = int(np.datetime64("2024-01-01T03:59:59", "us").astype(np.int64))
    sunday = int(np.datetime64("1969-12-28T20:00:00", "us").astype(np.int64))
    table = WeekHours().table(batch([[(0, 0, monday)], [(0, 0, sunday)]]))
    assert np.flatnonzero(table).tolist() == [0, 41]


def test_service_time_says_whether_work_overlaps() -> None:
    """Work that began before the event before it ended is told apart."""
    query = ServiceTime(rungs=(0, 0, 0, 0))
    case = [(0, 0, HOUR), (1, 2 * HOUR, 4 * HOUR), (2, 3 * HOUR, 5 * HOUR)]
    table = query.table(batch([case])).reshape(2, 4, 14)
    third = VOTE_UNITS // 3
    assert table[0, 0, 6] == table[0, 1, 6] == table[1, 2, 6] == third
    assert table.sum() == 3 * third
    assert not query.table(batch([case], starts=False)).any()


@settings(deadline=None)
@given(case=st.lists(events, min_size=2, max_size=9))
def test_rungs_do_not_change_who_votes(case: list[Event]) -> None:
    """A finer row has the same votes as a coarser one, split."""
    tables = [CycleTime(rung=rung).table(batch([case])) for rung in (0, 1)]
    pairs = np.concatenate([tables[1][:1], tables[1][1:].reshape(-1, 2).sum(axis=1)])
    assert (tables[0] == pairs).all()
    assert len(tables[1]) == bins(1)


def test_impossible_settings_are_refused_at_once() -> None:
    """Before any log is read."""
    for make in (
        lambda: CycleTime(rung=99),
        lambda: Gaps(activities=2, steps=(), rungs=(0,)),
        lambda: Arrivals(months=0),
    ):
        with pytest.raises(SettingError):
            make()


@given(cases=st.lists(nasty_cases, max_size=6))
def test_first_events_are_the_first_of_each_activity(cases: list[list[Event]]) -> None:
    """Of each case, in order."""
    made = batch(cases)
    case = np.repeat(np.arange(made.cases), made.lengths)
    meant, seen = [], set()
    for place, both in enumerate(zip(case.tolist(), made.activity_ids.tolist(), strict=True)):
        if both not in seen:
            meant.append(place)
        seen.add(both)
    assert first_occurrences(made.activity_ids, case).tolist() == meant
