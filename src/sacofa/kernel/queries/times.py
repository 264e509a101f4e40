"""Queries about time: each case has one vote and divides it over its events.

Tables are defined for all logs: a missing time is not counted, nor is a date outside the calendar;
a clock that runs backwards results in a duration of zero, and no time is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cases import NO_TIME, CaseBatch
from ..statements import SettingError, Statement
from .durations import DAY, HOUR, LOWEST, RUNGS, bin_of, bins
from .flow import VOTE_UNITS, VoteQuery
from .protocol import Ints, add_votes

Ids = NDArray[np.int32] | NDArray[np.int64]

FARTHEST = 2**61
"""Times are cut here (some 73,000 years from 1970), so that no difference overflows."""
FIRST_MONTH, MONTHS = 0, 1_200
"""The universal calendar: January 1970 to December 2069, in months since 1970."""
SLOT = 4
"""Hours of a cell of the week."""
SLOTS = 24 // SLOT
"""Such cells of a day."""
WEEK = 7
"""Days."""


class Clock:
    """The times of a batch, clipped to the supported range."""

    def __init__(self, batch: CaseBatch) -> None:
        self.case = np.repeat(np.arange(batch.cases), batch.lengths)
        self.counts = batch.counts
        missing = np.full(len(self.case), NO_TIME, dtype=np.int64)
        raw = missing if batch.times is None else batch.times
        self.known = raw != NO_TIME
        self.times = np.clip(raw, -FARTHEST, FARTHEST)

    def known_ends(self) -> tuple[Ints, Ints, Ints]:
        """The cases with any known time, and the places of the first and the last such event."""
        places = np.flatnonzero(self.known)
        owner = self.case[places]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        last = np.flatnonzero(np.diff(owner, append=-1))
        return owner[first], places[first], places[last]


@dataclass(frozen=True, kw_only=True)
class RowQuery(VoteQuery):
    """A table of durations with rows on different rungs."""

    rungs: tuple[int, ...]
    """The rung of each row."""

    tables: ClassVar[int] = 1
    """Number of copies of these rows, one below the other."""

    def __post_init__(self) -> None:
        _check_rungs(self.rungs)

    @cached_property
    def starts(self) -> Ints:
        """The index of the first cell of each row, and of the end."""
        return row_starts(self.rungs * self.tables)

    @property
    def cells(self) -> range:
        return range(int(self.starts[-1]))

    def _spread(self, clock: Clock, place: Ints, rows: Ints, durations: Ints) -> Ints:
        """A vote of each case, spread over the events at some places, with a duration each."""
        cells = self.starts[rows]
        rung_of = np.array(self.rungs * self.tables, dtype=np.int64)[rows]
        for rung in range(LOWEST, RUNGS):
            here = np.flatnonzero(rung_of == rung)
            cells[here] += bin_of(durations[here], rung)
        return self.divide(clock.case[place], cells, 1, clock.counts)


@dataclass(frozen=True, kw_only=True)
class CycleTime(VoteQuery):
    """Cycle times, from the first to the last event with a known time."""

    rung: int
    """The rung of the bins."""

    name = "cycle time"
    what = Statement("query.cycle_time")
    whole = True

    def __post_init__(self) -> None:
        _check_rungs((self.rung,))

    @property
    def cells(self) -> range:
        return range(bins(self.rung))

    def table(self, batch: CaseBatch) -> Ints:
        clock = Clock(batch)
        cases, first, last = clock.known_ends()
        took = clock.times[last] - clock.times[first]
        return add_votes(len(self.cells), bin_of(took, self.rung), VOTE_UNITS * clock.counts[cases])


@dataclass(frozen=True, kw_only=True)
class Gaps(RowQuery):
    """Times from one event to the next: for some pairs, then for all others into each activity."""

    activities: int
    """Number of activities."""
    steps: tuple[tuple[int, int], ...]
    """The steps with a row of their own, as ids."""

    name = "gaps"
    what = Statement("query.gaps")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.rungs) != len(self.steps) + self.activities:
            raise SettingError("rungs", len(self.rungs), Statement("must.be.one_for_each_row"))

    @cached_property
    def _rows(self) -> Ints:
        """The row of each pair of activities."""
        rows = np.tile(len(self.steps) + np.arange(self.activities), (self.activities, 1))
        for row, (before, after) in enumerate(self.steps):
            rows[before, after] = row
        return rows

    @cached_property
    def targets(self) -> Ints:
        """The activity that each row leads into."""
        into = [after for _, after in self.steps]
        return np.array([*into, *range(self.activities)], dtype=np.int64)

    def row_of(self, before: Ids, after: Ids) -> Ints:
        """The row that a step belongs to."""
        return self._rows[before, after]

    def table(self, batch: CaseBatch) -> Ints:
        clock = Clock(batch)
        # The places of events before which a known time lies.
        same = clock.case[1:] == clock.case[:-1]
        place = np.flatnonzero(same & clock.known[1:] & clock.known[:-1]) + 1
        # A clock that runs backwards shows no gap.
        gaps = np.maximum(clock.times[place] - clock.times[place - 1], 0)
        rows = self.row_of(batch.activity_ids[place - 1], batch.activity_ids[place])
        return self._spread(clock, place, rows, gaps)


@dataclass(frozen=True, kw_only=True)
class Elapsed(RowQuery):
    """Times from the first event of a case to the first of each other activity."""

    name = "elapsed"
    what = Statement("query.offsets")

    def table(self, batch: CaseBatch) -> Ints:
        clock = Clock(batch)
        place = first_occurrences(batch.activity_ids, clock.case)
        begin = batch.offsets[:-1][clock.case[place]]
        place = place[(place != begin) & clock.known[place] & clock.known[begin]]
        begin = batch.offsets[:-1][clock.case[place]]
        ids = batch.activity_ids[place].astype(np.int64)
        return self._spread(clock, place, ids, clock.times[place] - clock.times[begin])


@dataclass(frozen=True, kw_only=True)
class Arrivals(VoteQuery):
    """In which month cases begin, on a public calendar."""

    first: int = FIRST_MONTH
    """The first month, counted from January 1970."""
    months: int = MONTHS
    """Number of months; cases that begin in others are not counted."""

    name = "arrivals"
    what = Statement("query.arrivals")
    whole = True

    def __post_init__(self) -> None:
        if self.months < 1:
            raise SettingError("months", self.months, Statement("must.be.at_least", least=1))

    @property
    def cells(self) -> range:
        return range(self.months)

    def table(self, batch: CaseBatch) -> Ints:
        clock = Clock(batch)
        cases, first, _ = clock.known_ends()
        month = clock.times[first].view("M8[us]").astype("M8[M]").view(np.int64) - self.first
        inside = (month >= 0) & (month < self.months)
        votes = VOTE_UNITS * clock.counts[cases]
        return add_votes(len(self.cells), month[inside], votes[inside])


@dataclass(frozen=True, kw_only=True)
class WeekHours(VoteQuery):
    """At which time of the week (day and four hours of it) events happen."""

    name = "week"
    what = Statement("query.calendar")
    whole = True

    @property
    def cells(self) -> range:
        return range(WEEK * SLOTS)

    def table(self, batch: CaseBatch) -> Ints:
        clock = Clock(batch)
        place = np.flatnonzero(clock.known)
        slots = week_slot(clock.times[place])
        return self.divide(clock.case[place], slots, 1, clock.counts)


@dataclass(frozen=True, kw_only=True)
class ServiceTime(RowQuery):
    """Durations of work on each activity, then of work that overlaps the event before."""

    name = "service time"
    what = Statement("query.service")
    tables = 2

    def table(self, batch: CaseBatch) -> Ints:
        if batch.starts is None:
            return np.zeros(len(self.cells), dtype=np.int64)
        clock = Clock(batch)
        began = np.clip(batch.starts, -FARTHEST, FARTHEST)
        place = np.flatnonzero(clock.known & (batch.starts != NO_TIME))
        before = np.maximum(place - 1, 0)
        overlaps = (place > 0) & (clock.case[before] == clock.case[place])
        overlaps &= clock.known[before] & (began[place] < clock.times[before])
        rows = batch.activity_ids[place] + len(self.rungs) * overlaps
        return self._spread(clock, place, rows, clock.times[place] - began[place])


def row_starts(rungs: Sequence[int]) -> Ints:
    """Return the index of the first cell of each row, by their rungs, and of the end."""
    return np.concatenate([[0], np.cumsum([bins(rung) for rung in rungs], dtype=np.int64)])


def first_occurrences(activity_ids: NDArray[np.int32], case: Ints) -> Ints:
    """The places of the first event of each activity in each case, in order."""
    width = int(activity_ids.max(initial=0)) + 1
    _, first = np.unique(case * width + activity_ids, return_index=True)
    return np.sort(first)


def week_slot(times: Ints) -> Ints:
    """The cell of the week of each time: Monday first, then by hours."""
    # 1 January 1970 was a Thursday.
    return (times + 3 * DAY) // (SLOT * HOUR) % (WEEK * SLOTS)


def _check_rungs(rungs: Sequence[int]) -> None:
    for rung in rungs:
        if not LOWEST <= rung < RUNGS:
            must = Statement("must.whole_between", low=LOWEST, high=RUNGS - 1)
            raise SettingError("rung", rung, must)
