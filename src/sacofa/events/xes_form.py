"""XES files as a stream of traces, what they declare before the first, and what their cases hold.

Each trace is forgotten when the next is asked for, so memory holds one case, whatever the size of
the file. A document type, and with it every entity, is refused. A declaration is public, as the
header of a table is. What cases hold is not: what is taken from them is taken from all of them, in
no order, and named as an assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast, get_args

from lxml import etree

from ..errors import ColumnsError, ReadError, SettingError, Statement
from ..kernel.attributes import Attribute, Kind
from .attributes import Lookup, Present, Sightings, values_of
from .bounded_file import TRUSTED, BoundedFile, Progress
from .case_store import Name, Texts
from .columns import Columns
from .columns_file import read_columns
from .lifecycle import TRANSITION
from .options import ReadOptions

NAME, TIME, TRUNCATED = "concept:name", "time:timestamp", "unfinished"
"""Attributes; the last one marks a case which went on but was cut (`case:unfinished` in tables)."""
LONGEST_HEAD = 1 << 20
MAX_CASE_BYTES = 1 << 24
"""A single case that takes more than this in the file is refused unless trusted; in memory it takes
thirty times as much."""


def traces(path: Path, trusted: bool, progress: Progress | None) -> Iterator[Any]:
    """Go through the traces of a file; each is forgotten when the next is asked for."""
    with BoundedFile(path, trusted=trusted, progress=progress) as stream, _explained(stream):
        watch = _Watch(stream, trusted)
        parser = etree.iterparse(
            cast(Any, watch),
            events=("start", "end"),
            tag=("{*}log", "{*}trace"),
            resolve_entities=False,
            no_network=True,
            huge_tree=trusted,
            remove_comments=True,
            remove_pis=True,
            remove_blank_text=True,
        )
        root = None
        for event, element in parser:
            if root is None:
                root = _checked_root(path, element)
            if element is root:
                continue
            if parted(element)[1] == "log":
                raise ReadError(path, Statement("read.xes.log_in_log"))
            if event == "end" and element.getparent() is root:
                watch.start = stream.done
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del root[0]
        if root is None:
            _checked_root(path, parser.root)


@contextmanager
def _explained(stream: BoundedFile) -> Iterator[None]:
    """Turn what the parser complains of into one clear line."""
    try:
        yield
    except etree.XMLSyntaxError as error:
        if not stream.done:
            raise ReadError(stream.path, Statement("file.empty")) from None
        line, _ = error.position
        # Further lines of such a message repeat what stands in the file.
        why = (error.msg or "not XML").partition("\n")[0].split(", line ")[0]
        raise ReadError(stream.path, Statement("read.xes.broken", line=line, why=why)) from None


class _Watch:
    """Hands bytes to the parser, and stops it when a single case grows past all bounds."""

    def __init__(self, stream: BoundedFile, trusted: bool) -> None:
        self.start = 0
        self._stream = stream
        self._trusted = trusted

    def read(self, size: int) -> bytes:
        if not self._trusted and self._stream.done - self.start > MAX_CASE_BYTES:
            megabytes = MAX_CASE_BYTES >> 20
            what = Statement("read.xes.large_case", megabytes=megabytes, trusted=TRUSTED)
            raise ReadError(self._stream.path, what)
        return self._stream.read(size)


def _checked_root(path: Path, element: Any) -> Any:
    root = element.getroottree().getroot()
    if element.getroottree().docinfo.internalDTD is not None:
        raise ReadError(path, Statement("read.xes.document_type"))
    _, name = parted(root)
    if name != "log":
        raise ReadError(path, Statement("read.xes.no_log", name=name))
    return root


def parted(element: Any) -> tuple[str | None, str]:
    """Part the name of an element from its namespace, in which anything may stand."""
    space, brace, name = element.tag.rpartition("}")
    return (space[1:] if brace else None), name


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
    queries: _Queries = field(init=False)
    _size: int = -1

    def __post_init__(self) -> None:
        self.queries = _Queries(parted(self.element)[0])

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


def standard_columns(
    options: ReadOptions, what: str, *, case: str, timestamp: str, start: str | None = None
) -> Columns:
    """What holds what, as XES names it, unless it is named otherwise; each trace is a case."""
    if options.case is not None:
        must = Statement("read.must.traces_are_cases", what=what)
        raise SettingError("case", options.case, must)
    activity, lifecycle = options.activity or (NAME,), options.lifecycle or TRANSITION
    return Columns(
        case=case,
        activity=activity,
        timestamp=timestamp,
        start=start,
        lifecycle=None if lifecycle in activity else lifecycle,
        person=options.person,
    )


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What stands before the first case of one file."""

    times: bool
    """Whether events have time stamps.

    Whether times are released follows from this, so no case may decide it.
    """
    of_cases: Mapping[str, str]
    """Attributes of cases with their types: `<global scope="trace">`."""
    of_events: Mapping[str, str]
    """Attributes of events with their types: `<global scope="event">`."""

    def present(self, name: str) -> Present | None:
        """An attribute as it is declared; `case:` before its name asks for one of cases."""
        key = name.removeprefix("case:")
        for of_case in (True, False) if name.startswith("case:") else (False, True):
            kinds = self.of_cases if of_case else self.of_events
            if key in kinds:
                return Present(of_case=of_case, kind=kinds[key])
        return None


def lookup_in(declared: Sequence[Declared], seen: Sightings | None, options: ReadOptions) -> Lookup:
    """Find attributes by what options say of them, by what is declared, and by what was seen.

    Where files declare different things, the log as a whole declares nothing.
    """
    columns = read_columns(options.columns)

    def lookup(name: str) -> Present | None:
        key, is_of_case = name.removeprefix("case:"), name.startswith("case:")
        if columns.settles(name):
            return Present(of_case=is_of_case)
        said = {each.present(name) for each in declared}
        there = said.pop() if len(said) == 1 else None
        if there is None and seen is not None:
            there = seen.present(key)
        return replace(there, of_case=True) if there and is_of_case else there

    return lookup


def read_declared(path: Path, trusted: bool) -> Declared:
    """Read what a file declares before its first case; its elements may have any prefix."""
    with BoundedFile(path, trusted=trusted) as stream:
        head = stream.read(1 << 16)
        # In UTF-16 every other byte of such words is 0.
        while b"<trace" not in head.replace(b"\0", b"") and 1 <= len(head) < LONGEST_HEAD:
            if not (block := stream.read(1 << 16)):
                break
            head += block
    parser = etree.XMLPullParser(
        events=("start", "end"),
        tag=("{*}extension", "{*}global", "{*}trace"),
        resolve_entities=False,
        no_network=True,
    )
    has_times, found = False, {"trace": dict[str, str](), "event": dict[str, str]()}
    # What is wrong in a file is reported where its cases are read.
    with suppress(etree.XMLSyntaxError):
        parser.feed(head)
        for event, element in parser.read_events():
            _, name = parted(element)
            if name == "trace":
                break
            if event == "end" and name == "global":
                kinds = found.get(element.get("scope", ""), {})
                kinds |= {**dict(reversed(kinds_of(element))), **kinds}
            has_times |= name == "extension" and element.get("prefix") == "time"
    return Declared(
        times=has_times or TIME in found["event"],
        of_cases=found["trace"],
        of_events=found["event"],
    )


def kinds_of(element: Any) -> list[tuple[str, str]]:
    """The attributes of a trace or an event, each with its type."""
    named = ((child.get("key"), parted(child)[1]) for child in element)
    return [(k, kind if kind in get_args(Kind) else "string") for k, kind in named if k is not None]


@dataclass(kw_only=True)
class Search:
    """Looks for attributes in the cases of all files, and refuses what does not exist."""

    needed: Mapping[str, str]
    """What each file that has events must have, with its role; activities at its first event."""
    late: dict[str, str]
    """What may come late, in any file; what was found is taken out."""
    undeclared: frozenset[str]
    """Of which the form of the log does not say what they are: all cases are looked at."""
    present: dict[str, None] = field(default_factory=dict)
    """What the first event of each file has."""
    seen: Sightings = field(default_factory=Sightings)
    """Where the undeclared ones stand."""

    def go_through(self, path: Path, trusted: bool) -> None:
        """Look at a file as far as it takes."""
        missing, is_empty = dict(self.needed), True
        for trace in traces(path, trusted, None):
            # Persons may be attributes of the case.
            self._see(trace, {}, of_case=True)
            for event in trace.iterchildren("{*}event"):
                keys = self._see(event, missing, of_case=False)
                if is_empty:
                    self.present.update(dict.fromkeys(keys))
                    is_empty = False
                self._refuse(path, [key for key in missing if self.needed[key] == "activity"])
                if not (missing or self.late or self.undeclared):
                    return
        # A file without any event has nothing to lack.
        if not is_empty:
            self._refuse(path, list(missing))

    def _refuse(self, path: Path, missing: Sequence[str]) -> None:
        for name in missing:
            raise ColumnsError(path, [self.needed[name]], list(self.present), name)

    def _see(self, element: Any, missing: dict[str, str], *, of_case: bool) -> list[str]:
        found = kinds_of(element)
        for key, kind in found:
            self.late.pop(key, None)
            missing.pop(key, None)
            if key in self.undeclared:
                self.seen.add(key, of_case=of_case, kind=kind)
        return [key for key, _ in found]
