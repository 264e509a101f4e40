"""Cases of an XES file, one at a time.

Each case is forgotten once it was counted, so memory holds one case and the variants, whatever the
size of the file. Each `trace` is a case, also one without events and also where two have the same
name. The order of the file is meant: cases whose times contradict it are counted for the holder of
the log, and ordered by time on request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from ..errors import ColumnsError, ReadError, SettingError
from ..kernel.attributes import Attribute
from ..kernel.variants import VariantCounts
from .attributes import (
    Present,
    describe_taken,
    resolve_attributes,
    settled_attributes,
    values_of,
)
from .bounded_file import Progress
from .case_store import CaseStore, StoredCases
from .columns import TIMES_TAKEN, Columns, one_column
from .lifecycle import TRANSITION, join_instances
from .notices import is_blank, notify_counts
from .options import ReadOptions
from .periods import PeriodFilter
from .source import Log, Notify, Source
from .time_format import only_iso
from .variant_counter import VariantCounter
from .xes_form import Search, kinds_of, read_declared
from .xes_stream import parted, traces

TRUNCATED = "unfinished"
"""The attribute that marks a case which went on but was cut; pm4py adds `case:` to its name."""

NAME = "concept:name"
TIME = "time:timestamp"
FIRST_CASES = 100
"""So many cases are looked at for the names of attributes."""


def list_columns(source: Source) -> list[str]:
    """List the attributes of the first event of each file."""
    found: dict[str, None] = {}
    for path in source.content:
        first = next(_first_events(path, source.trusted), None)
        if first is not None:
            found.update((child.get("key"), None) for child in first if child.get("key"))
    return list(found)


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
    if options.case is not None:
        raise SettingError("case", options.case, "left out for XES: each trace is a case")
    columns = Columns(
        case="concept:name",
        activity=options.activity or ("concept:name",),
        timestamp=one_column("timestamp", options.timestamp, "XES") or TIME,
        lifecycle=options.lifecycle or TRANSITION,
        person=options.person,
        truncated=TRUNCATED,
    )
    if columns.lifecycle in columns.activity:
        columns = replace(columns, lifecycle=None)
    if options.start is not None:
        raise SettingError("start", options.start, "left out for XES: events are start or complete")
    needed = dict.fromkeys(columns.activity, "activity")
    asked = options.timestamp is not None or options.order == "time"
    if asked:
        needed.setdefault(columns.timestamp or TIME, "timestamp")
    declared = [read_declared(path, source.trusted) for path in source.content]

    settled = settled_attributes(options)

    def lookup_declared(name: str) -> Present | None:
        if name in settled:
            return Present(of_case=name.startswith("case:"))
        # Where files declare different things, the log as a whole declares nothing.
        said = {each.present(name) for each in declared}
        return said.pop() if len(said) == 1 else None

    names = {name: name.removeprefix("case:") for name in options.attribute}
    # What is declared need not occur: that a rare value is there must not decide about a release.
    undeclared = frozenset(key for name, key in names.items() if lookup_declared(name) is None)
    # Activities must be at every event, so the first tells; others may come late, in any file.
    late = dict.fromkeys(sorted(undeclared), "attribute")
    for role in ("lifecycle", "person"):
        if getattr(options, role) is not None:
            late[getattr(options, role)] = role
    search = Search(
        needed=needed,
        late=late,
        undeclared=undeclared,
    )
    for path in source.content:
        search.go_through(path, source.trusted)
    for name, role in search.late.items():
        raise ColumnsError(source.name, [role], list(search.present), name)

    def lookup(name: str) -> Present | None:
        there = lookup_declared(name) or search.seen.present(name.removeprefix("case:"))
        return replace(there, of_case=True) if there and name.startswith("case:") else there

    used = [*columns.roles, "case:concept:name"]
    columns = replace(
        columns,
        attributes=resolve_attributes(source.name, options, lookup, list(search.present), used),
        taken=describe_taken(options, lookup),
    )
    if not asked and len({each.times for each in declared}) > 1:
        # One file, which may be that of one case, decides for all others.
        columns = replace(columns, taken=(*columns.taken, TIMES_TAKEN))
    if not asked and not any(each.times for each in declared):
        return replace(columns, timestamp=None)
    return columns


def _values(element: Any, wanted: set[str]) -> dict[str, str]:
    """The values of some attributes of a trace or an event; the first of each counts."""
    found: dict[str, str] = {}
    for child in element:
        key = child.get("key")
        if key in wanted and key not in found:
            value = child.get("value")
            if value is not None:
                found[key] = value
    return found


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of XES files."""
    counter = VariantCounter(log.name, log.unit)
    for case in _counted_cases(log, counter, progress, notify):
        counter.add(case.activities, truncated=case.truncated)
    return counter.variants()


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases of XES files with their times."""
    started = log.columns is not None and log.columns.lifecycle is not None
    counter = VariantCounter(log.name, log.unit)
    store = CaseStore(log.name, log.unit, log.attributes, started=started)
    for case in _counted_cases(log, counter, progress, notify, with_times=True):
        times = [_microseconds(_time(stamp)) for stamp in case.stamps or ()]
        starts = None
        if started:
            starts = [None if s is None else _microseconds(_time(s)) for s in case.starts or ()]
        store.add(
            case.activities, times, truncated=case.truncated, starts=starts, values=case.values
        )
    return store.close()


def _counted_cases(
    log: Log,
    counter: VariantCounter,
    progress: Progress | None,
    notify: Notify | None,
    *,
    with_times: bool = False,
) -> Iterator[_Case]:
    """Go through the cases that count, and tell at the end what was odd."""
    columns, paths = log.columns, log.source.content
    assert columns is not None
    checks = _Checks(wanted=notify is not None, period=log.period_filter())
    for done, path in enumerate(paths):
        share: Progress | None = None
        if progress is not None:
            share = partial(_share, progress, done, len(paths))
        yield from _cases(path, log, counter, share, checks, with_times)
    if log.timed and checks.events and checks.untimed == checks.events and checks.unread:
        raise ReadError(log.name, only_iso(columns.timestamp or TIME))
    notify_counts(
        notify,
        untimed=checks.untimed if log.timed else 0,
        disordered=checks.disordered,
        varying=checks.varying,
        joined=checks.joined,
        undone=checks.undone,
        dropped=counter.dropped,
        max_cases=log.max_cases,
        more=() if checks.period is None else checks.period.notices(),
    )


def _share(progress: Progress, done: int, files: int, part: float) -> None:
    progress((done + part) / files)


class _Case(NamedTuple):
    """A case as it is counted."""

    activities: list[Any]
    """Names, or the parts that make them up."""
    stamps: list[str | None] | None
    """The time stamps of the events, where they were asked for."""
    truncated: bool
    """Whether it went on."""
    values: list[list[str | None]]
    """The texts of the attributes that were asked for."""
    starts: list[str | None] | None = None
    """When the work on each began, where they were asked for."""


@dataclass(kw_only=True)
class _Checks:
    """What was seen on the way that the holder of the log should know."""

    wanted: bool
    """Whether anyone asks; else what costs time is not looked for."""
    period: PeriodFilter | None = None
    """Which cases are read."""
    events: int = 0
    untimed: int = 0
    unread: bool = False
    disordered: int = 0
    varying: int = 0
    joined: int = 0
    undone: int = 0


def _cases(
    path: Path,
    log: Log,
    counter: VariantCounter,
    progress: Progress | None,
    checks: _Checks,
    with_times: bool,
) -> Iterator[_Case]:
    """Go through the cases of a file that count, with their events in the order asked for."""
    columns = log.columns
    assert columns is not None
    queries: _Queries | None = None
    stamp_key = columns.timestamp or TIME
    for number, trace in enumerate(traces(path, log.source.trusted, progress), start=1):
        namespace, _ = parted(trace)
        if queries is None or queries.namespace != namespace:
            queries = _Queries(path, namespace)
        parts = [queries.needed(trace, number, part) for part in columns.activity]
        names: list[Any] = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        stamps: list[str | None] | None = None
        times: list[datetime | None] = []
        order: list[int] | None = None
        if log.timed or with_times or checks.period is not None:
            stamps = queries.values(trace, stamp_key)
        if stamps is not None and (log.timed or checks.period is not None):
            times = [_time(stamp) for stamp in stamps]
        if log.timed:
            # The sort is stable: ties keep the order of the file.
            order = sorted(range(len(names)), key=[time or LAST for time in times].__getitem__)
        persons: list[str] = []
        if columns.person is not None:
            persons = queries.persons(trace, columns.person, order)
        person = persons[0] if persons else None
        if checks.period is not None:
            when = list(map(_microseconds, times))
            if not checks.period.keeps(queries.name(trace), when, person):
                continue
        if stamps is not None and order is not None:
            checks.events += len(times)
            checks.untimed += times.count(None)
            checks.unread = checks.unread or any(
                stamp is not None and time is None
                for stamp, time in zip(stamps, times, strict=True)
            )
            names = [names[i] for i in order]
            stamps = [stamps[i] for i in order]
        elif checks.wanted:
            checks.disordered += _is_disordered(queries.dates(trace, stamp_key))
        if columns.person is not None:
            checks.varying += len(set(persons)) > 1
            if not counter.wants(person):
                continue
        starts: list[str | None] | None = None
        kept = order
        if columns.lifecycle is not None:
            said = queries.values(trace, columns.lifecycle)
            if order is not None:
                said = [said[i] for i in order]
            if any(word is not None and word.lower() != "complete" for word in said):
                instances = join_instances(said, names)
                if stamps is not None:
                    starts = [None if i is None else stamps[i] for _, i in instances]
                    stamps = [stamps[i] for i, _ in instances]
                ended = len(instances)
                checks.joined += sum(i is not None and i != e for e, i in instances)
                checks.undone += len(names) - ended - sum(i not in (None, e) for e, i in instances)
                names = [names[i] for i, _ in instances]
                # An attribute of work is what its last event says.
                kept = [i if order is None else order[i] for i, _ in instances]
            elif stamps is not None:
                starts = [None] * len(stamps)
        values = queries.attributes(trace, log.attributes, kept) if with_times else []
        yield _Case(names, stamps, queries.truncated(trace), values, starts)


class _Queries:
    """What is asked of a trace, in the namespace of its file, prepared once."""

    def __init__(self, path: Path, namespace: str | None) -> None:
        self.namespace = namespace
        self._path = path
        x = "" if namespace is None else "x:"
        space = None if namespace is None else {"x": namespace}

        def prepared(query: str) -> Any:
            return etree.XPath(query, namespaces=space, smart_strings=False)

        # At most one value for each event: attributes inside attributes are not looked at.
        self._of_events = prepared(f"{x}event/*[@key=$key][1]/@value")
        self._dates = prepared(f"{x}event/{x}date[@key=$key]/@value")
        self._of_one = prepared("*[@key=$key][1]/@value")
        self._size = prepared(f"count({x}event)")
        self._events = prepared(f"{x}event")
        self._truncated = prepared(f"{x}boolean[@key='{TRUNCATED}'][1]/@value")

    def needed(self, trace: Any, number: int, key: str) -> list[str]:
        """Give an attribute of all events, which must have it."""
        values: list[str] = self._of_events(trace, key=key)
        if len(values) != self._size(trace):
            raise ReadError(self._path, f"case {number} has an event without {key}")
        return values

    def values(self, trace: Any, key: str) -> list[str | None]:
        """Give an attribute of all events, with None for those that lack it."""
        values: list[str | None] = self._of_events(trace, key=key)
        if len(values) == self._size(trace):
            return values
        found = [self._of_one(event, key=key) for event in self._events(trace)]
        return [value[0] if value else None for value in found]

    def dates(self, trace: Any, key: str) -> list[str]:
        """Give an attribute of those events that have it as a date; faster than `values`."""
        dates: list[str] = self._dates(trace, key=key)
        return dates

    def persons(self, trace: Any, key: str, order: list[int] | None) -> list[str]:
        """Give who a case could be of, the first being meant: the case says it, or its events."""
        values: list[str | None] = self._of_one(trace, key=key)
        if order is None:
            values = values + self._of_events(trace, key=key)
        else:
            of_events = self.values(trace, key)
            values = values + [of_events[i] for i in order]
        return [value for value in values if value is not None and not is_blank(value)]

    def attributes(
        self, trace: Any, attributes: tuple[Attribute, ...], order: list[int] | None
    ) -> list[list[str | None]]:
        """Give the attributes of all events; of the case, where they are its own, one value."""
        if not attributes:
            return []
        wanted = {each.name for each in attributes}
        events = [_values(event, wanted) for event in self._events(trace)]
        if order is not None:
            events = [events[i] for i in order]
        own = _values(trace, wanted)
        texts: list[list[str | None]] = []
        for each in attributes:
            first = [own[each.name]] if each.of_case and each.name in own else []
            texts.append([*first, *(event.get(each.name) for event in events)])
        return values_of(attributes, texts)

    def name(self, trace: Any) -> str | None:
        """Give the id of the case, if it has one."""
        values: list[str] = self._of_one(trace, key=NAME)
        return values[0] if values else None

    def truncated(self, trace: Any) -> bool:
        """Tell whether the case is marked as one that went on."""
        return bool(self._truncated(trace) == ["true"])


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
"""Stands for a missing time: after all others."""


def _time(stamp: str | None) -> datetime | None:
    if stamp is None:
        return None
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _microseconds(time: datetime | None) -> int | None:
    return None if time is None else (time - EPOCH) // timedelta(microseconds=1)


def _is_disordered(stamps: list[str]) -> bool:
    """Whether time stamps go back somewhere; those that cannot be read are left out."""
    # Texts of one length and one zone sort as their times do, and need not be read.
    ends = {(len(stamp), stamp[-6:]) for stamp in stamps}
    if len(ends) <= 1 and (not stamps or stamps[0][-6:-5] in ("+", "-")):
        return stamps != sorted(stamps)
    times = [time for stamp in stamps if (time := _time(stamp)) is not None]
    return any(later < earlier for earlier, later in pairwise(times))


def _first_events(path: Path, trusted: bool) -> Iterator[Any]:
    for trace in traces(path, trusted, None):
        yield from trace.iterchildren("{*}event")
