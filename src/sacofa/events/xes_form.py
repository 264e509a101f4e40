"""XES files as a stream of traces, their declarations, and the attributes in their cases.

Memory holds one case, whatever the size of the file. Document types, and so all entities, are
refused. A declaration is public, as the header of a table is. The content of cases is not: facts
taken from it are taken from all cases, in no order, and named as assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

from lxml import etree
from lxml.etree import _Element as Element

from ..base.domains import is_of_case
from ..errors import ReadError, SettingError, Statement
from ..kernel.attributes import Attribute, Kind
from .attributes import Lookup, Present, Sightings, table_lookup
from .bounded_file import TRUSTED, BoundedFile, Progress
from .case_store import Texts
from .columns import Columns
from .columns_file import read_columns
from .lifecycle import TRANSITION
from .options import ReadOptions

NAME, TIME, TRUNCATED = "concept:name", "time:timestamp", "unfinished"
"""Attributes; the last one marks a case which went on but was cut (`case:unfinished` in tables)."""
LONGEST_HEAD = 1 << 20
MAX_CASE_BYTES = 1 << 24
"""Maximum size of a case in the file unless trusted; in memory it takes thirty times as much."""


def traces(path: Path, trusted: bool, progress: Progress | None) -> Iterator[Element]:
    """Iterate over the traces of a file; each is freed when the next is requested."""
    with BoundedFile(path, trusted=trusted, progress=progress) as stream, _explained(stream):
        watch = _Watch(stream, trusted)
        parser = etree.iterparse(
            watch,
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
            if element.tag.endswith("log"):
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
    """Turn an error of the parser into one clear line."""
    try:
        yield
    except etree.XMLSyntaxError as error:
        if not stream.done:
            raise ReadError(stream.path, Statement("file.empty")) from None
        line, _ = error.position
        # Further lines of such a message repeat content of the file.
        why = (error.msg or "not XML").partition("\n")[0].split(", line ")[0]
        raise ReadError(stream.path, Statement("read.xes.broken", line=line, why=why)) from None


@dataclass
class _Watch:
    """Hands bytes to the parser, and stops it when a single case grows past all bounds."""

    stream: BoundedFile
    trusted: bool
    start: int = 0

    def read(self, size: int) -> bytes:
        if not self.trusted and self.stream.done - self.start > MAX_CASE_BYTES:
            megabytes = MAX_CASE_BYTES >> 20
            what = Statement("read.xes.large_case", megabytes=megabytes, trusted=TRUSTED)
            raise ReadError(self.stream.path, what)
        return self.stream.read(size)


def _checked_root(path: Path, element: Element) -> Element:
    root = element.getroottree().getroot()
    if element.getroottree().docinfo.internalDTD is not None:
        raise ReadError(path, Statement("read.xes.document_type"))
    if _name(root) != "log":
        raise ReadError(path, Statement("read.xes.no_log", name=_name(root)))
    return root


def _name(element: Element) -> str:
    """Return the name of an element without its namespace, which may be anything."""
    return str(element.tag.rpartition("}")[2])


def texts_of(element: Element) -> dict[str, str | None]:
    """The attributes of a trace or an event; of several with one name the first counts."""
    return {child.get("key", ""): child.get("value") for child in reversed(element)}


def events_of(trace: Element) -> Iterator[dict[str, str | None]]:
    """The attributes of each event of a trace."""
    return map(texts_of, trace.iterchildren("{*}event"))


@lru_cache(maxsize=512)
def _query(namespace: str, query: str, key: str = "") -> etree.XPath:
    """Compile a query for events, or for an attribute; a variable for the key would be slower."""
    parts = ", '\"', ".join(f'"{part}"' for part in key.split('"'))
    event, quoted = "x:event" if namespace else "event", f"concat({parts})" if '"' in key else parts
    spaces = {"x": namespace} if namespace else None
    text = query.format(event=event, key=quoted)
    return etree.XPath(text, namespaces=spaces, smart_strings=False)


class XesTrace:
    """A case of an XES file, as texts by the names of attributes, until the next case is read.

    Compiled queries are faster than loops over events, and skip the events that lack an attribute.
    """

    def __init__(self, element: Element) -> None:
        self._element = element
        self._namespace = element.tag.rpartition("}")[0][1:]
        self._events = _query(self._namespace, "count({event})")(element)

    def own(self, key: str) -> str | None:
        """An attribute of the case itself."""
        found = _query(self._namespace, "*[@key = {key}][1]/@value", key)(self._element)
        return found[0] if found else None

    def values(self, key: str) -> Texts:
        """Return the values of an attribute for all events; None for events without it."""
        query = _query(self._namespace, "{event}/*[@key = {key}][1]/@value", key)
        values: Texts = query(self._element)
        if len(values) == self._events:
            return values
        return [event.get(key) for event in events_of(self._element)]

    def attributes(self, attributes: tuple[Attribute, ...], places: Sequence[int]) -> list[Texts]:
        """The attributes of the events at these places; of those of the case the first text."""
        found: list[Texts] = []
        for each in attributes:
            values = self.values(each.name)
            texts = [values[place] for place in places]
            if each.of_case:
                known = (text for text in (self.own(each.name), *texts) if text is not None)
                texts = [next(known, None)]
            found.append(texts)
        return found


def standard_columns(
    options: ReadOptions, what: str, *, marks: tuple[str, str], stamp: str, start: str | None = None
) -> Columns:
    """Return the roles of attributes by the XES standard unless others are named; traces are cases.

    `marks` are the attributes of the case id and of truncated cases.
    """
    if options.case is not None:
        must = Statement("read.must.traces_are_cases", what=what)
        raise SettingError("case", options.case, must)
    activity, lifecycle = options.activity or (NAME,), options.lifecycle or TRANSITION
    return Columns(
        case=marks[0],
        activity=activity,
        timestamp=stamp,
        start=start,
        lifecycle=None if lifecycle in activity else lifecycle,
        person=options.person,
        truncated=marks[1],
    )


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The declarations before the first case of one file."""

    times: bool
    """Whether events have time stamps. It decides whether times are released, so no case may."""
    kinds: Mapping[str, str]
    """Attributes of events with their types, and those of cases as `case:…`."""

    @classmethod
    def of(
        cls, of_cases: Mapping[str, str], of_events: Mapping[str, str], *, times: bool
    ) -> Declared:
        """Return declarations for all cases and all events, as in `<global>`, and of `times`."""
        kinds = {name: kind for name, kind in of_events.items() if not is_of_case(name)}
        kinds |= {f"case:{name}": kind for name, kind in of_cases.items()}
        return cls(times=times or TIME in of_events, kinds=kinds)


def lookup_in(declared: Sequence[Declared], seen: Sightings | None, options: ReadOptions) -> Lookup:
    """Make a function that finds attributes by options, by declarations, and by sightings.

    If the declarations of files differ, the log as a whole declares nothing.
    """
    columns, lookups = read_columns(options.columns), [table_lookup(it.kinds) for it in declared]

    def lookup(name: str) -> Present | None:
        if columns.settles(name):
            return Present(of_case=name.startswith("case:"))
        said = {each(name) for each in lookups}
        there = said.pop() if len(said) == 1 else None
        if there is None and seen is not None:
            there = seen.present(name.removeprefix("case:"))
        return replace(there, of_case=True) if there and name.startswith("case:") else there

    return lookup


def read_declared(path: Path, trusted: bool) -> Declared:
    """Read the declarations of a file before its first case; elements may have any prefix."""
    has_times, found = False, {"trace": dict[str, str](), "event": dict[str, str]()}
    # Errors in a file are reported where its cases are read.
    with BoundedFile(path, trusted=trusted) as stream, suppress(etree.XMLSyntaxError):
        head = SimpleNamespace(read=lambda n: stream.read(n) if stream.done < LONGEST_HEAD else b"")
        parser = etree.iterparse(
            head,
            events=("start", "end"),
            tag=("{*}extension", "{*}global", "{*}trace"),
            resolve_entities=False,
            no_network=True,
        )
        for event, element in parser:
            name = _name(element)
            if name == "trace":
                break
            if event == "end" and name == "global":
                kinds = found.get(element.get("scope", ""), {})
                kinds |= {**dict(reversed(kinds_of(element))), **kinds}
            has_times |= name == "extension" and element.get("prefix") == "time"
    return Declared.of(found["trace"], found["event"], times=has_times)


def kinds_of(element: Element) -> list[tuple[str, str]]:
    """The attributes of a trace or an event, each with its type."""
    named = ((child.get("key"), _name(child)) for child in element)
    return [(k, kind if kind in get_args(Kind) else "string") for k, kind in named if k is not None]


def scan_events(path: Path, trusted: bool, seen: Sightings) -> Iterator[dict[str, str]]:
    """Yield the attributes of each event, and add those of cases and events to `seen`."""
    for trace in traces(path, trusted, None):
        # Persons may be attributes of the case.
        for element in (trace, *trace.iterchildren("{*}event")):
            found = kinds_of(element)
            for key, kind in found:
                seen.add(key, of_case=element is trace, kind=kind)
            if element is not trace:
                yield dict(found)
