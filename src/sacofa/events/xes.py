"""Cases of XES files, one at a time: selection of cases and order of their events.

Memory holds one case and the variants, whatever the size of the file. Each `trace` is a case, also
one without events and also where two have the same name. Events are in the order of the file unless
the user orders them by time. The handling of a case depends on that case alone; of a person's cases
the first count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import cast

from ..errors import ColumnsError, ReadError, SettingError, Statement
from ..kernel.variants import VariantCounts
from .attributes import Sightings, with_attributes
from .bounded_file import Progress
from .case_store import Case, CaseStore, Name, StoredCases, Texts, joined_names
from .columns import TIMES_TAKEN, Columns, one_column
from .lifecycle import join_instances
from .notices import Notify, is_blank, notify_counts
from .options import ReadOptions
from .source import Log, Source
from .time_format import times_unread
from .xes_form import (
    NAME,
    TIME,
    TRUNCATED,
    Declared,
    XesTrace,
    kinds_of,
    lookup_in,
    read_declared,
    scan_events,
    standard_columns,
    traces,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
AFTER_ALL_TIMES = 1 << 63
"""Sort key of a missing time: after all others."""
FIRST_CASES = 100
"""Number of cases that are searched for names of attributes."""


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
    """Resolve the attributes; requested ones must occur in each file that has events.

    Files are read until all are found: to the end for attributes that no file declares before its
    first case.
    """
    stamp = one_column("timestamp", options.timestamp, "XES") or TIME
    columns = standard_columns(options, "XES", marks=(NAME, TRUNCATED), stamp=stamp)
    if options.start is not None:
        raise SettingError("start", options.start, Statement("read.must.no_start"))
    declared = [read_declared(path, source.trusted) for path in source.content]
    present, seen = search(source, options, columns, declared)
    lookup, said = lookup_in(declared, seen, options), {each.times for each in declared}
    columns = with_attributes(columns, source.name, options, lookup, present)
    if options.timestamp is not None or options.order == "time" or said == {True}:
        return columns
    # Where files differ, one file, which may be that of one case, decides for all others.
    taken = (*columns.taken, *[TIMES_TAKEN] * (len(said) > 1))
    return replace(columns, timestamp=stamp if True in said else None, taken=taken)


def search(
    source: Source, options: ReadOptions, columns: Columns, declared: Sequence[Declared]
) -> tuple[list[str], Sightings]:
    """Search for all requested attributes, and refuse those that are in no file.

    Returns:
        The attributes of the first events, and all sightings.
    """
    stamps = {columns.timestamp} if options.timestamp is not None or options.order == "time" else ()
    # Declared attributes need not occur: a rare value must not decide whether there is a release.
    said = lookup_in(declared, None, options)
    undeclared = {n.removeprefix("case:"): "attribute" for n in options.attribute if not said(n)}
    # Every event has an activity, so the first is enough; others may come late, in any file.
    late = dict(sorted(undeclared.items()))
    late |= {
        key: role for role in ("lifecycle", "person") if (key := getattr(options, role)) is not None
    }
    present, seen = dict[str, None](), Sightings()
    for path in source.content:
        missing, is_empty = {*stamps}, True
        for keys in scan_events(path, source.trusted, seen):
            if is_empty:
                present.update(dict.fromkeys(keys))
                _refuse(path, "activity", columns.activity, keys, present)
            missing, is_empty = missing.difference(keys), False
            if not (missing or undeclared) and all(name in seen for name in late):
                break
        # The checks need an event.
        _refuse(path, "timestamp", () if is_empty else missing, (), present)
    for name, role in late.items():
        _refuse(source.name, role, (name,), seen, present)
    return [*present], seen


def _refuse(
    path: object, role: str, names: Iterable[str], there: Container[str], present: Iterable[str]
) -> None:
    for name in names:
        if name not in there:
            raise ColumnsError(path, [role], list(present), name)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of XES files."""
    cases = _read(log, progress, notify, with_times=False)
    counts = Counter((tuple(case.activities), case.truncated) for case in cases)
    names = list(dict.fromkeys(name for variant, _ in counts for name in variant))
    text = dict(zip(names, joined_names(log.name, names), strict=True))
    counted: tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]] = ({}, {})
    for (variant, truncated), number in counts.items():
        counted[truncated][tuple(text[name] for name in variant)] = number
    return VariantCounts.of(counted[0], sorted(text.values()), counted[1], log.unit)


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Return the cases of XES files with their times."""
    started = log.columns is not None and log.columns.lifecycle is not None
    store = CaseStore(log.name, log.unit, log.attributes, started=started)
    for case in _read(log, progress, notify, with_times=True):
        store.add(case)
    return store.close()


def _read(
    log: Log, progress: Progress | None, notify: Notify | None, *, with_times: bool
) -> Iterator[Case]:
    """Yield the cases that count, and report anomalies at the end."""
    assert log.columns is not None
    columns, stamp = log.columns, log.columns.timestamp or TIME
    period, had, counts = log.period_filter(), Counter[str](), Counter[str]()
    for trace, names in _traces(log.source, columns.activity, progress):
        stamps = trace.values(stamp) if log.timed or with_times or period or notify else []
        times = [None if text is None else moment_of(text) for text in stamps]
        order = _order(times) if log.timed else range(len(names))
        persons = columns.person and _persons(trace, columns.person, order)
        person = persons[0] if persons else None
        if period is not None and not period.keeps(trace.own(NAME), times, person):
            continue
        if stamps:
            _count_times(counts, stamps, times, timed=log.timed)
        # The first cases of each person count. A case without a person is a person of its own.
        if persons and person is not None:
            counts["varying"] += len(set(persons)) > 1
            had[person] += 1
            if had[person] > log.unit.max_cases:
                counts["dropped"] += 1
                continue
        words = None if columns.lifecycle is None else trace.values(columns.lifecycle)
        found = _instances(words, names, order, counts)
        yield _case(log, trace, names, times if with_times else None, found)
    events, unread = counts.pop("events", 0), counts.pop("unread", 0)
    if unread and counts["untimed"] == events:
        raise ReadError(log.name, times_unread("only_iso", stamp))
    more = () if period is None else period.notices()
    notify_counts(notify, max_cases=log.max_cases, more=more, **counts)


def _traces(
    source: Source, activity: Sequence[str], progress: Progress | None
) -> Iterator[tuple[XesTrace, Sequence[Name]]]:
    """Iterate over the cases of all files, with the activities of their events: names, or parts."""
    for done, path in enumerate(source.content):

        def share(part: float, done: int = done) -> None:
            if progress is not None:
                progress((done + part) / len(source.content))

        for number, element in enumerate(traces(path, source.trusted, share), start=1):
            trace, parts = XesTrace(element), list[Texts]()
            for key in activity:
                parts.append(trace.values(key))
                if None in parts[-1]:
                    what = Statement("read.xes.event_without", number=number, key=key)
                    raise ReadError(path, what)
            names = [*zip(*parts, strict=True)] if len(parts) > 1 else parts[0]
            yield trace, cast(Sequence[Name], names)


def _order(times: Sequence[int | None]) -> Sequence[int]:
    """The places of events by time. The sort is stable, so ties keep the order of the source."""
    keys = [AFTER_ALL_TIMES if time is None else time for time in times]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _persons(trace: XesTrace, key: str, order: Sequence[int]) -> list[str]:
    """Return the possible persons of a case, the preferred one first: its own, then its events'."""
    values = trace.values(key)
    named = (trace.own(key), *(values[place] for place in order))
    return [who for who in named if who is not None and not is_blank(who)]


def _count_times(
    counts: Counter[str], stamps: Texts, times: Sequence[int | None], *, timed: bool
) -> None:
    """Count contradictions to the requested order."""
    if timed:
        counts["events"] += len(times)
        counts["untimed"] += times.count(None)
        counts["unread"] += times.count(None) > stamps.count(None)
    else:
        known = (time for time in times if time is not None)
        counts["disordered"] += any(later < earlier for earlier, later in pairwise(known))


Instance = tuple[int, int | None]
"""The place of an event that counts, and that of the event that it began with."""


def _instances(
    words: Texts | None, names: Sequence[Name], order: Sequence[int], counts: Counter[str]
) -> list[Instance]:
    """Return the events that count, in order; `words` are their life-cycle transitions."""
    if words is None or {*map(str.lower, filter(None, words))} <= {"complete"}:
        return [(place, None) for place in order]
    found = join_instances([words[place] for place in order], [names[place] for place in order])
    joined = sum(begin not in (None, end) for end, begin in found)
    counts["joined"] += joined
    counts["undone"] += len(names) - len(found) - joined
    return [(order[end], None if begin is None else order[begin]) for end, begin in found]


def _case(
    log: Log,
    trace: XesTrace,
    names: Sequence[Name],
    times: Sequence[int | None] | None,
    found: list[Instance],
) -> Case:
    """Build a case from the events that count; a joined one has its completion's attributes."""
    places = [end for end, _ in found]
    case = Case([names[place] for place in places], trace.own(TRUNCATED) == "true")
    if times is not None:
        case.times = [times[place] for place in places]
        case.starts = [None if begin is None else times[begin] for _, begin in found]
        case.values = trace.attributes(log.attributes, places)
    return case


def moment_of(stamp: str) -> int | None:
    """The microseconds since 1970 of a time in ISO 8601; without an offset it is UTC."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND
