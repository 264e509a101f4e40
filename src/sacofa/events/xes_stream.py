"""The traces of an XES file as a stream, and what makes a file safe to parse.

Each trace is forgotten when the next is asked for, so memory holds one case, whatever the size of
the file. A document type, and with it every entity, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from lxml import etree

from ..errors import ReadError, Statement
from .bounded_file import TRUSTED, BoundedFile, Progress

MAX_CASE_BYTES = 1 << 24
"""A single case that takes more than this in the file is refused unless trusted; in memory it takes
thirty times as much."""


def traces(path: Path, trusted: bool, progress: Progress | None) -> Iterator[Any]:
    """Go through the traces of a file; each is forgotten when the next is asked for."""
    with BoundedFile(path, trusted=trusted, progress=progress) as stream, _explained(stream):
        watch = _Watch(stream, trusted)
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
