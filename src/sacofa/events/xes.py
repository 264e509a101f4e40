"""Cases of XES files, one at a time: which are read, and in which order their events count.

Each case is forgotten once it was counted, so memory holds one case and the variants, whatever the
size of the file. Each `trace` is a case, also one without events and also where two have the same
name. The order of the file is meant: cases whose times contradict it are counted for the holder of
the log, and ordered by time on request. What becomes of a case follows from that case alone, and of
a person's cases the first count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TypeVar

from ..errors import ColumnsError, ReadError, SettingError, Statement
from ..kernel.variants import VariantCounts
from .attributes import describe_taken, resolve_attributes
from .bounded_file import Progress
from .case_store import Case, CaseStore, FirstCases, Name, StoredCases, Texts, VariantCounter
from .columns import TIMES_TAKEN, Columns, one_column
from .lifecycle import join_instances
from .notices import Notify, is_blank, notify_counts
from .options import ReadOptions
from .source import Log, Source
from .time_format import only_iso
from .xes_form import (
    NAME,
    TIME,
    TRUNCATED,
    Declared,
    Search,
    XesTrace,
    kinds_of,
    lookup_in,
    read_declared,
    standard_columns,
    traces,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST = 1 << 63
"""Stands for a missing time: after all others."""


Instance = tuple[int, int | None]
"""The place of an event that counts, and that of the event that it began with."""
Element = TypeVar("Element")
FIRST_CASES = 100
"""So many cases are looked at for the names of attributes."""


def list_columns(source: Source) -> list[str]:
    """List the attributes of the events of the first cases."""
    return [name for name in kinds(source) if not name.startswith("case:")]


def kinds(source: Source) -> dict[str, str]:
    """List the attributes of the first cases of each file with their types."""
    found: dict[str, str] = {}
    for path in source.content:
        for trace in islice(traces(path, source.trusted, None), FIRST_CASES):
            found.update({f"case:{key}": kind for key, kind in kinds_of(trace)})
            for event in trace.iterchildren("{*}event"):
                found.update(kinds_of(event))
    return found


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the attributes to count by; what is asked for must occur in each file that has events.

    Files are read as far as it takes to see all of them: to the end for attributes that no file
    declares before its first case.
    """
    stamp = one_column("timestamp", options.timestamp, "XES")
    columns = standard_columns(options, "XES", case=NAME, timestamp=stamp or TIME)
    columns = replace(columns, truncated=TRUNCATED)
    if options.start is not None:
        raise SettingError("start", options.start, Statement("read.must.no_start"))
    declared = [read_declared(path, source.trusted) for path in source.content]
    search = _search(source, options, columns, declared)
    lookup = lookup_in(declared, search.seen, options)
    present, used = list(search.present), [*columns.roles, "case:concept:name"]
    taken, said = describe_taken(options, lookup), {each.times for each in declared}
    is_asked = options.timestamp is not None or options.order == "time"
    if not is_asked and len(said) > 1:
        # One file, which may be that of one case, decides for all others.
        taken = (*taken, TIMES_TAKEN)
    return replace(
        columns,
        timestamp=columns.timestamp if is_asked or True in said else None,
        attributes=resolve_attributes(source.name, options, lookup, present, used),
        taken=taken,
    )


def _search(
    source: Source, options: ReadOptions, columns: Columns, declared: Sequence[Declared]
) -> Search:
    """Look for all that is asked for, and refuse what is in no file."""
    needed = dict.fromkeys(columns.activity, "activity")
    if options.timestamp is not None or options.order == "time":
        needed.setdefault(columns.timestamp or TIME, "timestamp")
    # What is declared need not occur: that a rare value is there must not decide about a release.
    said = lookup_in(declared, None, options)
    undeclared = frozenset(n.removeprefix("case:") for n in options.attribute if said(n) is None)
    # Activities must be at every event, so the first tells; others may come late, in any file.
    late = dict.fromkeys(sorted(undeclared), "attribute")
    late |= {
        key: role for role in ("lifecycle", "person") if (key := getattr(options, role)) is not None
    }
    search = Search(needed=needed, late=late, undeclared=undeclared)
    for path in source.content:
        search.go_through(path, source.trusted)
    for name, role in search.late.items():
        raise ColumnsError(source.name, [role], list(search.present), name)
    return search


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of XES files."""
    counter = VariantCounter(log.name, log.unit)
    for case in _read(log, progress, notify, with_times=False):
        counter.add(case.activities, truncated=case.truncated)
    return counter.variants()


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases of XES files with their times."""
    started = log.columns is not None and log.columns.lifecycle is not None
    store = CaseStore(log.name, log.unit, log.attributes, started=started)
    for case in _read(log, progress, notify, with_times=True):
        store.add(case)
    return store.close()


def _read(
    log: Log, progress: Progress | None, notify: Notify | None, *, with_times: bool
) -> Iterator[Case]:
    """Go through the cases that count."""
    assert log.columns is not None
    stamp = log.columns.timestamp or TIME
    reader = CaseReader(log=log, stamp=stamp, with_times=with_times, notify=notify)
    return reader.read(_traces(log.source, progress))


def _traces(source: Source, progress: Progress | None) -> Iterator[XesTrace]:
    """Go through the cases of all files."""
    for done, path in enumerate(source.content):

        def share(part: float, done: int = done) -> None:
            if progress is not None:
                progress((done + part) / len(source.content))

        for number, element in enumerate(traces(path, source.trusted, share), start=1):
            yield XesTrace(path, number, element)


class CaseReader:
    """Takes the cases of a log one by one, and counts what its holder should know.

    `stamp` is the attribute that holds the time stamp; `with_times` requests times and
    attributes as well as the order.
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

    def read(self, traces: Iterator[XesTrace]) -> Iterator[Case]:
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

    def _read(self, trace: XesTrace) -> Case | None:
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

    def _persons(self, trace: XesTrace, order: Sequence[int] | None) -> list[str]:
        """Who a case could be of, the first being meant: the case says it, or its events."""
        key = self._columns.person
        if key is None:
            return []
        named = (trace.own(key), *_placed(trace.values(key), order))
        return [who for who in named if who is not None and not is_blank(who)]

    def _values(self, trace: XesTrace, key: str | None) -> Texts:
        return [] if key is None else trace.values(key)

    def _check_times(self, trace: XesTrace, stamps: Texts, times: Sequence[int | None]) -> None:
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
        trace: XesTrace,
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
        self, trace: XesTrace, names: Sequence[Name], order: Sequence[int] | None
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
    """Whether time stamps go back somewhere; those that cannot be read do not count."""
    # Texts of one length and one zone sort as their times do, and need not be read.
    ends = {(len(stamp), stamp[-6:]) for stamp in stamps}
    if len(ends) <= 1 and (not stamps or stamps[0][-6:-5] in ("+", "-")):
        return stamps != sorted(stamps)
    times = [time for stamp in stamps if (time := moment_of(stamp)) is not None]
    return any(later < earlier for earlier, later in pairwise(times))
