"""Cases that come one at a time: which are read, and in which order their events count.

For sources that give whole cases, such as XES files: each case is forgotten once it was counted, so
memory holds one case and the variants. The reader of tables does the same for rows that come in any
order. What becomes of a case follows from that case alone, and of a person's cases the first count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Protocol, TypeVar

from ..errors import ReadError
from ..kernel.attributes import Attribute
from .case_store import Case, FirstCases, Name, Texts
from .lifecycle import join_instances
from .notices import Notify, is_blank, notify_counts
from .source import Log
from .time_format import only_iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST = 1 << 63
"""Stands for a missing time: after all others."""


Instance = tuple[int, int | None]
"""The place of an event that counts, and that of the event that it began with."""
Element = TypeVar("Element")


class Trace(Protocol):
    """A case as a source has it: texts, asked for by the name of an attribute."""

    @property
    def case_id(self) -> str | None:
        """The id of the case, if it has one."""

    @property
    def is_truncated(self) -> bool:
        """Whether the case is marked as one that went on."""

    def names(self, activity: Sequence[str]) -> Sequence[Name]:
        """The activity of each event, which must have one: a name, or its parts."""

    def values(self, key: str) -> Texts:
        """An attribute of all events; None for those that lack it."""

    def own(self, key: str) -> str | None:
        """An attribute of the case itself."""

    def dates(self, key: str) -> list[str]:
        """An attribute of those events that have it as a date."""

    def attributes(
        self, attributes: tuple[Attribute, ...], places: Sequence[int] | None
    ) -> list[Texts]:
        """The attributes of the events at these places, or of all; those of the case once."""


class CaseReader:
    """Takes the cases of a log one by one, and counts what its holder should know.

    `stamp` is the attribute that holds the time stamp; `with_times` asks for times and attributes
    besides the order.
    """

    def __init__(
        self, *, log: Log, stamp: str, with_times: bool, notify: Notify | None = None
    ) -> None:
        assert log.columns is not None
        self._log, self._columns, self._notify = log, log.columns, notify
        self._stamp, self._with_times = stamp, with_times
        self._period = log.period_filter()
        self._needs_times = log.timed or with_times or self._period is not None
        self._first_cases = FirstCases(log.unit)
        self._counts: Counter[str] = Counter()
        self._events = 0
        self._has_unread = False

    def read(self, traces: Iterator[Trace]) -> Iterator[Case]:
        """Give the cases that count, and tell at the end what was odd."""
        yield from filter(None, map(self._read, traces))
        if self._has_unread and self._counts["untimed"] == self._events:
            raise ReadError(self._log.name, only_iso(self._stamp))
        notify_counts(
            self._notify,
            **self._counts,
            dropped=self._first_cases.dropped,
            max_cases=self._log.max_cases,
            more=() if self._period is None else self._period.notices(),
        )

    def _read(self, trace: Trace) -> Case | None:
        names = trace.names(self._columns.activity)
        stamps = trace.values(self._stamp) if self._needs_times else []
        times = list(map(moment_of, stamps))
        order: Sequence[int] | None = None
        if self._log.timed:
            # The sort is stable, so ties keep the order of the source.
            keys = [LAST if time is None else time for time in times]
            order = sorted(range(len(keys)), key=keys.__getitem__)
        persons = self._persons(trace, order)
        person = persons[0] if persons else None
        if self._period is not None and not self._period.keeps(trace.case_id, times, person):
            return None
        self._check_times(trace, stamps, times)
        self._counts["varying"] += len(set(persons)) > 1
        if not self._first_cases.wants(person):
            return None
        return self._case(trace, names, times, self._instances(trace, names, order))

    def _persons(self, trace: Trace, order: Sequence[int] | None) -> list[str]:
        """Who a case could be of, the first being meant: the case says it, or its events."""
        key = self._columns.person
        if key is None:
            return []
        named = (trace.own(key), *_placed(trace.values(key), order))
        return [who for who in named if who is not None and not is_blank(who)]

    def _values(self, trace: Trace, key: str | None) -> Texts:
        return [] if key is None else trace.values(key)

    def _check_times(self, trace: Trace, stamps: Texts, times: Sequence[int | None]) -> None:
        """Count what contradicts the order that was asked for."""
        if self._log.timed:
            untimed = times.count(None)
            self._events += len(times)
            self._counts["untimed"] += untimed
            self._has_unread |= untimed > stamps.count(None)
        elif self._notify is not None:
            self._counts["disordered"] += _is_disordered(trace.dates(self._stamp))

    def _case(
        self,
        trace: Trace,
        names: Sequence[Name],
        times: Sequence[int | None],
        instances: Sequence[Instance] | None,
    ) -> Case:
        """Give the events of a case that count, in their order."""
        places = None if instances is None else [end for end, _ in instances]
        names = _placed(names, places)
        if not self._with_times:
            return Case(names, trace.is_truncated)
        starts: list[int | None] = [None] * len(names)
        if instances is not None:
            starts = [None if begin is None else times[begin] for _, begin in instances]
        # An attribute of work is what its last event says.
        values = trace.attributes(self._log.attributes, places)
        return Case(names, trace.is_truncated, _placed(times, places), starts, values)

    def _instances(
        self, trace: Trace, names: Sequence[Name], order: Sequence[int] | None
    ) -> list[Instance] | None:
        """The places of the events that count, each with that of its start; None: as they are."""
        words = self._values(trace, self._columns.lifecycle)
        if {(word or "complete").lower() for word in words} <= {"complete"}:
            return None if order is None else [(place, None) for place in order]
        found = join_instances(_placed(words, order), _placed(names, order))
        joined = sum(begin not in (None, end) for end, begin in found)
        self._counts["joined"] += joined
        self._counts["undone"] += len(names) - len(found) - joined
        if order is None:
            return found
        return [(order[end], None if begin is None else order[begin]) for end, begin in found]


def _placed(values: Sequence[Element], places: Sequence[int] | None) -> Sequence[Element]:
    return values if places is None else [values[place] for place in places]


def moment_of(stamp: str | None) -> int | None:
    """The microseconds since 1970 of a time in ISO 8601; without an offset it is UTC."""
    if stamp is None:
        return None
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def _is_disordered(stamps: list[str]) -> bool:
    """Whether time stamps go back somewhere; those that cannot be read are left out."""
    # Texts of one length and one zone sort as their times do, and need not be read.
    ends = {(len(stamp), stamp[-6:]) for stamp in stamps}
    if len(ends) <= 1 and (not stamps or stamps[0][-6:-5] in ("+", "-")):
        return stamps != sorted(stamps)
    times = [time for stamp in stamps if (time := moment_of(stamp)) is not None]
    return any(later < earlier for earlier, later in pairwise(times))
