"""Cases that come one at a time: which are read, and in which order their events count.

For sources that give whole cases, such as XES files: each case is forgotten once it was counted, so
memory holds one case and the variants. The reader of tables does the same for rows that come in any
order. What becomes of a case follows from that case alone, and of a person's cases the first count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Protocol

from ..errors import ReadError
from ..kernel.attributes import Attribute
from .columns import Columns
from .lifecycle import join_instances
from .notices import is_blank, notify_counts
from .source import Log, Notify
from .time_format import only_iso
from .variant_counter import Case, FirstCases, Name, Texts

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST = 1 << 63
"""Stands for a missing time: after all others."""


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

    def attributes(self, attributes: tuple[Attribute, ...], places: Sequence[int]) -> list[Texts]:
        """The attributes of the events at these places; of the case, where they are its own."""


@dataclass(kw_only=True)
class CaseReader:
    """Takes the cases of a log one by one, and counts what its holder should know."""

    log: Log
    stamp: str
    """The attribute that holds the time stamp."""
    with_times: bool
    """Whether times and attributes are asked for beside the order."""
    notify: Notify | None = None

    _events: int = 0
    _counts: dict[str, int] = field(default_factory=dict)
    _has_unread: bool = False

    def __post_init__(self) -> None:
        assert self.log.columns is not None
        self._columns: Columns = self.log.columns
        self._period = self.log.period_filter()
        self._first_cases = FirstCases(self.log.unit)

    def read(self, traces: Iterator[Trace]) -> Iterator[Case]:
        """Give the cases that count, and tell at the end what was odd."""
        for trace in traces:
            case = self._read(trace)
            if case is not None:
                yield case
        untimed = self._counts.get("untimed", 0)
        if self._has_unread and untimed == self._events:
            raise ReadError(self.log.name, only_iso(self.stamp))
        notify_counts(
            self.notify,
            **self._counts,
            dropped=self._first_cases.dropped,
            max_cases=self.log.max_cases,
            more=() if self._period is None else self._period.notices(),
        )

    def _read(self, trace: Trace) -> Case | None:
        names = trace.names(self._columns.activity)
        stamps, order = [], None
        if self.log.timed or self.with_times or self._period is not None:
            stamps = trace.values(self.stamp)
        times = [moment_of(text) for text in stamps]
        if self.log.timed:
            keys = [LAST if time is None else time for time in times]
            # The sort is stable: ties keep the order of the source.
            order = sorted(range(len(names)), key=keys.__getitem__)
        persons = self._persons(trace, order)
        person = persons[0] if persons else None
        if self._period is not None and not self._period.keeps(trace.case_id, times, person):
            return None
        self._check_times(trace, stamps, times)
        if self._columns.person is not None:
            self._count("varying", len(set(persons)) > 1)
            if not self._first_cases.wants(person):
                return None
        return self._case(trace, names, times, order)

    def _persons(self, trace: Trace, order: Sequence[int] | None) -> list[str]:
        """Who a case could be of, the first being meant: the case says it, or its events."""
        key = self._columns.person
        if key is None:
            return []
        of_events = trace.values(key)
        if order is not None:
            of_events = [of_events[i] for i in order]
        return [
            who for who in (trace.own(key), *of_events) if who is not None and not is_blank(who)
        ]

    def _check_times(self, trace: Trace, stamps: Texts, times: Sequence[int | None]) -> None:
        """Count what contradicts the order that was asked for."""
        if self.log.timed:
            self._events += len(times)
            self._count("untimed", times.count(None))
            self._has_unread |= times.count(None) > stamps.count(None)
        elif self.notify is not None:
            self._count("disordered", _is_disordered(trace.dates(self.stamp)))

    def _case(
        self,
        trace: Trace,
        names: Sequence[Name],
        times: Sequence[int | None],
        order: Sequence[int] | None,
    ) -> Case:
        """Put the events of a case in order; starts are joined with their ends."""
        pairs = self._instances(trace, names, order)
        places = range(len(names)) if pairs is None else [end for end, _ in pairs]
        if pairs is not None:
            names = [names[i] for i in places]
        if not self.with_times:
            return Case(names, trace.is_truncated)
        begins = [None] * len(names) if pairs is None else [begin for _, begin in pairs]
        return Case(
            names,
            trace.is_truncated,
            times=[times[i] for i in places],
            starts=[None if begin is None else times[begin] for begin in begins],
            # An attribute of work is what its last event says.
            values=trace.attributes(self.log.attributes, places),
        )

    def _instances(
        self, trace: Trace, names: Sequence[Name], order: Sequence[int] | None
    ) -> list[tuple[int, int | None]] | None:
        """The places of the events that count, each with that of its start; None: as they are."""
        key = self._columns.lifecycle
        said = [] if key is None else trace.values(key)
        if all(word is None or word.lower() == "complete" for word in set(said)):
            return None if order is None else [(i, None) for i in order]
        places = range(len(names)) if order is None else order
        found = join_instances([said[i] for i in places], [names[i] for i in places])
        joined = sum(begin is not None and begin != end for end, begin in found)
        self._count("joined", joined)
        self._count("undone", len(names) - len(found) - joined)
        return [(places[end], None if begin is None else places[begin]) for end, begin in found]

    def _count(self, what: str, number: int) -> None:
        self._counts[what] = self._counts.get(what, 0) + number


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
