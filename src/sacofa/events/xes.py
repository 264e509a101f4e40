"""Cases of an XES file, one at a time.

Each case is forgotten once it was counted, so memory holds one case and the variants, whatever the
size of the file. Each `trace` is a case, also one without events and also where two have the same
name. The order of the file is meant: cases whose times contradict it are counted for the holder of
the log, and ordered by time on request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from ..errors import ColumnsError, ReadError, SettingError, Statement
from ..kernel.attributes import Attribute
from ..kernel.variants import VariantCounts
from .attributes import describe_taken, resolve_attributes, values_of
from .bounded_file import Progress
from .case_by_case import CaseReader
from .case_store import CaseStore, StoredCases
from .columns import TIMES_TAKEN, Columns, one_column
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source
from .variant_counter import Case, Name, Texts, VariantCounter
from .xes_form import TIME, Declared, Search, kinds_of, lookup_in, read_declared, standard_columns
from .xes_stream import parted, traces

TRUNCATED = "unfinished"
"""The attribute that marks a case which went on but was cut; pm4py adds `case:` to its name."""

NAME = "concept:name"
FIRST_CASES = 100
"""So many cases are looked at for the names of attributes."""


def list_columns(source: Source) -> list[str]:
    """List the attributes of the first event of each file."""
    found: dict[str, None] = {}
    for path in source.content:
        first = next(_events(path, source.trusted), None)
        if first is not None:
            found.update((child.get("key"), None) for child in first if child.get("key"))
    return list(found)


def _events(path: Path, trusted: bool) -> Iterator[Any]:
    for trace in traces(path, trusted, None):
        yield from trace.iterchildren("{*}event")


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
    return _with_times(
        replace(
            columns,
            attributes=resolve_attributes(source.name, options, lookup, present, used),
            taken=describe_taken(options, lookup),
        ),
        declared,
        asked=_asks_times(options),
    )


def _asks_times(options: ReadOptions) -> bool:
    return options.timestamp is not None or options.order == "time"


def _search(
    source: Source, options: ReadOptions, columns: Columns, declared: Sequence[Declared]
) -> Search:
    """Look for all that is asked for, and refuse what is in no file."""
    needed = dict.fromkeys(columns.activity, "activity")
    if _asks_times(options):
        needed.setdefault(columns.timestamp or TIME, "timestamp")
    # What is declared need not occur: that a rare value is there must not decide about a release.
    lookup_declared = lookup_in(declared, None, options)
    names = [name for name in options.attribute if lookup_declared(name) is None]
    undeclared = frozenset(name.removeprefix("case:") for name in names)
    # Activities must be at every event, so the first tells; others may come late, in any file.
    late = dict.fromkeys(sorted(undeclared), "attribute")
    for role in ("lifecycle", "person"):
        if getattr(options, role) is not None:
            late[getattr(options, role)] = role
    search = Search(needed=needed, late=late, undeclared=undeclared)
    for path in source.content:
        search.go_through(path, source.trusted)
    for name, role in search.late.items():
        raise ColumnsError(source.name, [role], list(search.present), name)
    return search


def _with_times(columns: Columns, declared: Sequence[Declared], *, asked: bool) -> Columns:
    """Settle whether there are time stamps: they were asked for, or are declared."""
    said = {each.times for each in declared}
    if asked or said == {True}:
        return columns
    if True not in said:
        return replace(columns, timestamp=None)
    # One file, which may be that of one case, decides for all others.
    return replace(columns, taken=(*columns.taken, TIMES_TAKEN))


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
        share = partial(_share, progress, done, len(source.content)) if progress else None
        queries: _Queries | None = None
        for number, element in enumerate(traces(path, source.trusted, share), start=1):
            namespace, _ = parted(element)
            if queries is None or queries.namespace != namespace:
                queries = _Queries(namespace)
            yield XesTrace(path, number, element, queries)


def _share(progress: Progress, done: int, files: int, part: float) -> None:
    progress((done + part) / files)


class _Queries:
    """What is asked of a trace, in the namespace of its file, prepared once."""

    def __init__(self, namespace: str | None) -> None:
        self.namespace = namespace
        x = "" if namespace is None else "x:"
        space = None if namespace is None else {"x": namespace}

        def prepared(query: str) -> Any:
            return etree.XPath(query, namespaces=space, smart_strings=False)

        # At most one value for each event: attributes inside attributes are not looked at.
        self.of_events = prepared(f"{x}event/*[@key=$key][1]/@value")
        self.dates = prepared(f"{x}event/{x}date[@key=$key]/@value")
        self.of_one = prepared("*[@key=$key][1]/@value")
        self.size = prepared(f"count({x}event)")
        self.events = prepared(f"{x}event")
        self.truncated = prepared(f"{x}boolean[@key='{TRUNCATED}'][1]/@value")


@dataclass(slots=True)
class XesTrace:
    """A case of an XES file (see `case_by_case.Trace`)."""

    path: Path
    number: int
    """Its place in the file, from 1."""
    element: Any
    queries: _Queries
    _size: int = -1

    @property
    def size(self) -> int:
        """How many events it has."""
        if self._size < 0:
            self._size = int(self.queries.size(self.element))
        return self._size

    @property
    def case_id(self) -> str | None:
        """The name of the case, if it has one."""
        return self.own(NAME)

    @property
    def is_truncated(self) -> bool:
        """Whether the case is marked as one that went on."""
        return bool(self.queries.truncated(self.element) == ["true"])

    def names(self, activity: Sequence[str]) -> Sequence[Name]:
        """The activity of each event, which must have one: a name, or its parts."""
        parts = [self._needed(key) for key in activity]
        return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))

    def _needed(self, key: str) -> list[str]:
        values: list[str] = self.queries.of_events(self.element, key=key)
        if len(values) != self.size:
            what = Statement("read.xes.event_without", number=self.number, key=key)
            raise ReadError(self.path, what)
        return values

    def values(self, key: str) -> Texts:
        """An attribute of all events; None for those that lack it."""
        values: Texts = self.queries.of_events(self.element, key=key)
        if len(values) == self.size:
            return values
        found = [self.queries.of_one(e, key=key) for e in self.queries.events(self.element)]
        return [value[0] if value else None for value in found]

    def own(self, key: str) -> str | None:
        """An attribute of the case itself."""
        values: list[str] = self.queries.of_one(self.element, key=key)
        return values[0] if values else None

    def dates(self, key: str) -> list[str]:
        """An attribute of those events that have it as a date; faster than `values`."""
        dates: list[str] = self.queries.dates(self.element, key=key)
        return dates

    def attributes(
        self, attributes: tuple[Attribute, ...], places: Sequence[int] | None
    ) -> list[Texts]:
        """The attributes of the events at these places, or of all; those of the case once."""
        if not attributes:
            return []
        wanted = {each.name for each in attributes}
        events = [_values(event, wanted) for event in self.queries.events(self.element)]
        if places is not None:
            events = [events[place] for place in places]
        own = _values(self.element, wanted)
        texts: list[Texts] = []
        for each in attributes:
            first = [own[each.name]] if each.of_case and each.name in own else []
            texts.append([*first, *(event.get(each.name) for event in events)])
        return values_of(attributes, texts)


def _values(element: Any, wanted: Collection[str]) -> dict[str, str]:
    """The values of some attributes of a trace or an event; the first of each counts."""
    found: dict[str, str] = {}
    for child in element:
        key, value = child.get("key"), child.get("value")
        if key in wanted and value is not None:
            found.setdefault(key, value)
    return found
