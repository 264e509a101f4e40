"""Cases of an XES file, one at a time.

Each case is forgotten once it was counted, so memory holds one case and the variants, whatever the
size of the file. Each `trace` is a case, also one without events and also where two have the same
name. The order of the file is meant: cases whose times contradict it are counted for the holder of
the log, and ordered by time on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
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
from .case_store import Case, CaseStore, Name, StoredCases, Texts, VariantCounter
from .columns import TIMES_TAKEN, Columns, one_column
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source
from .xes_form import (
    TIME,
    Declared,
    Search,
    kinds_of,
    lookup_in,
    parted,
    read_declared,
    standard_columns,
    traces,
)

TRUNCATED = "unfinished"
"""The attribute that marks a case which went on but was cut; pm4py adds `case:` to its name."""

NAME = "concept:name"
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
            namespace, _ = parted(element)
            yield XesTrace(path, number, element, _Queries(namespace))


@lru_cache(maxsize=8)
class _Queries:
    """What is asked of a trace, in the namespace of its file, prepared once."""

    def __init__(self, namespace: str | None) -> None:
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
    """A case of an XES file: texts, asked for by the name of an attribute."""

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
        parts: list[list[str]] = []
        for key in activity:
            parts.append(self.queries.of_events(self.element, key=key))
            if len(parts[-1]) != self.size:
                what = Statement("read.xes.event_without", number=self.number, key=key)
                raise ReadError(self.path, what)
        return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))

    def values(self, key: str) -> Texts:
        """An attribute of all events; None for those that lack it."""
        values: Texts = self.queries.of_events(self.element, key=key)
        if len(values) == self.size:
            return values
        if not values:
            return [None] * self.size
        found = [self.queries.of_one(e, key=key) for e in self.queries.events(self.element)]
        return [value[0] if value else None for value in found]

    def own(self, key: str) -> str | None:
        """An attribute of the case itself."""
        return next(iter(self.queries.of_one(self.element, key=key)), None)

    def dates(self, key: str) -> list[str]:
        """An attribute of those events that have it as a date; faster than `values`."""
        dates: list[str] = self.queries.dates(self.element, key=key)
        return dates

    def attributes(
        self, attributes: tuple[Attribute, ...], places: Sequence[int] | None
    ) -> list[Texts]:
        """The attributes of the events at these places, or of all; those of the case once."""
        texts: list[Texts] = []
        for each in attributes:
            values = self.values(each.name)
            placed = values if places is None else [values[place] for place in places]
            texts.append([self.own(each.name), *placed] if each.of_case else placed)
        return values_of(attributes, texts)
