"""Cases of an XES file, one at a time.

The file is parsed as a stream and each case is forgotten once it was counted, so memory holds one
case and the variants, whatever the size of the file. A document type, and with it every entity, is
refused. Each `trace` is a case, also one without events and also where two have the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

from lxml import etree

from ..errors import ColumnsError, ReadError
from ..variants import VariantCounts
from .bounded_file import BoundedFile, Progress
from .columns import Columns
from .options import ReadOptions
from .source import Log, Notify, Source
from .variant_counter import VariantCounter

MAX_CASE_BYTES = 1 << 26
"""A single case that takes more than this in the file is refused unless trusted."""

TRUNCATED = "unfinished"
"""The attribute that marks a case which went on but was cut; pm4py adds `case:` to its name."""

_TIME = "time:timestamp"


def list_columns(source: Source) -> list[str]:
    """List the attributes of the first event of each file."""
    found: dict[str, None] = {}
    for path in source.content:
        first = next(_first_events(path, source.trusted), None)
        if first is not None:
            found.update((child.get("key"), None) for child in first if child.get("key"))
    return list(found)


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the attributes to count by; they must be there at the first event of each file."""
    columns = Columns(
        case=options.case or "concept:name",
        activity=options.activity or ("concept:name",),
        timestamp=options.timestamp or _TIME,
        person=options.person,
        truncated=TRUNCATED,
    )
    needed = [("activity", name) for name in columns.activity]
    if options.order == "time":
        needed.append(("timestamp", options.timestamp or _TIME))
    for path in source.content:
        first = next(_first_events(path, source.trusted), None)
        if first is None:
            continue
        present = [key for child in first if (key := child.get("key")) is not None]
        for role, name in needed:
            if name not in present:
                raise ColumnsError(path, [role], present, name)
    return columns


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of XES files."""
    paths = log.source.content
    counter = VariantCounter(log.name, log.unit)
    for done, path in enumerate(paths):
        share: Progress | None = None
        if progress is not None:
            share = partial(_share, progress, done, len(paths))
        _count_file(counter, path, log, share)
    return counter.variants()


def _share(progress: Progress, done: int, files: int, part: float) -> None:
    progress((done + part) / files)


def _count_file(counter: VariantCounter, path: Path, log: Log, progress: Progress | None) -> None:
    columns = log.columns
    assert columns is not None
    queries: _Queries | None = None
    single = columns.activity[0] if len(columns.activity) == 1 else None
    for number, trace in enumerate(_traces(path, log.source.trusted, progress), start=1):
        namespace, _ = _parted(trace)
        if queries is None or queries.namespace != namespace:
            queries = _Queries(path, namespace)
        if columns.person is not None and not counter.wants(queries.person(trace, columns.person)):
            continue
        names: list[Any]
        if single is not None:
            names = queries.values(trace, number, single)
        else:
            parts = [queries.values(trace, number, part) for part in columns.activity]
            names = list(zip(*parts, strict=True))
        if log.timed:
            stamps = queries.values(trace, number, columns.timestamp or _TIME)
            times = [_time(path, number, stamp) for stamp in stamps]
            # The sort is stable: ties keep the order of the file.
            names = [names[i] for i in sorted(range(len(names)), key=times.__getitem__)]
        counter.add(names, truncated=queries.truncated(trace))


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
        self._of_trace = prepared("*[@key=$key][1]/@value")
        self._size = prepared(f"count({x}event)")
        self._truncated = prepared(f"{x}boolean[@key='{TRUNCATED}'][1]/@value")

    def values(self, trace: Any, number: int, key: str) -> list[str]:
        """Give an attribute of all events, which must have it."""
        values: list[str] = self._of_events(trace, key=key)
        if len(values) != self._size(trace):
            raise ReadError(self._path, f"case {number} has an event without {key}")
        return values

    def person(self, trace: Any, key: str) -> str | None:
        """Give the person of a case: an attribute of it, or of its first event."""
        values = self._of_trace(trace, key=key) or self._of_events(trace, key=key)
        return values[0] if values else None

    def truncated(self, trace: Any) -> bool:
        """Tell whether the case is marked as one that went on."""
        return bool(self._truncated(trace) == ["true"])


def _time(path: Path, number: int, stamp: str) -> datetime:
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        # What stands there is not repeated: it may be anything, and messages travel.
        raise ReadError(path, f"case {number} has a time stamp that cannot be read") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _first_events(path: Path, trusted: bool) -> Iterator[Any]:
    for trace in _traces(path, trusted, None):
        yield from trace.iterchildren("{*}event")


def _traces(path: Path, trusted: bool, progress: Progress | None) -> Iterator[Any]:
    """Go through the traces of a file; each is forgotten when the next is asked for."""
    with BoundedFile(path, trusted=trusted, progress=progress) as stream:
        watch = _Watch(stream, trusted)
        try:
            parser: Any = etree.iterparse(
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
                if event == "end" and element is not root and element.getparent() is root:
                    watch.start = stream.done
                    yield element
                    element.clear()
                    while element.getprevious() is not None:
                        del root[0]
            if root is None:
                _checked_root(path, parser.root)
        except etree.XMLSyntaxError as error:
            if not stream.done:
                raise ReadError(path, "the file is empty") from None
            line, _ = error.position
            # Further lines of such a message repeat what stands in the file.
            what = (error.msg or "not XML").partition("\n")[0].split(", line ")[0]
            raise ReadError(path, f"broken XML in line {line}: {what}") from None


class _Watch:
    """Hands bytes to the parser, and stops it when a single case grows past all bounds."""

    def __init__(self, stream: BoundedFile, trusted: bool) -> None:
        self.start = 0
        self._stream = stream
        self._trusted = trusted

    def read(self, size: int) -> bytes:
        if not self._trusted and self._stream.done - self.start > MAX_CASE_BYTES:
            raise ReadError(
                self._stream.path,
                f"a single case takes more than {MAX_CASE_BYTES >> 20} MB: "
                "say that the file is trusted (--trusted) if that is meant",
            )
        return self._stream.read(size)


def _checked_root(path: Path, element: Any) -> Any:
    root = element.getroottree().getroot()
    if element.getroottree().docinfo.internalDTD is not None:
        raise ReadError(path, "has a document type (<!DOCTYPE), which is refused: remove it")
    _, name = _parted(root)
    if name != "log":
        raise ReadError(path, f"not XES: it begins with <{name}>")
    return root


def _parted(element: Any) -> tuple[str | None, str]:
    """Part the name of an element from its namespace, in which anything may stand."""
    space, brace, name = element.tag.rpartition("}")
    return (space[1:] if brace else None), name
