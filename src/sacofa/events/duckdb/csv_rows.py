"""What is asked of all rows of a text table before they are read: quotes and line ends in place.

A quotation mark begins a field or ends it, or stands there twice, and all lines end alike. Else one
stray mark could make one field of the rows of many cases, and one line end decide for all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ReadError, Statement
from ..bounded_file import BoundedFile
from .csv_files import BOM, Head

BLOCK = 1 << 20
"""So many bytes are looked at at a time."""

QUOTE, LF, CR = b'"\n\r'


def check_rows(heads: Sequence[Head], *, trusted: bool) -> None:
    """Refuse files with quotes or line ends out of place; packed ones are unpacked on the way."""
    for head in heads:
        scan = _Scan(head)
        for data, after in _blocks(head.path, trusted):
            scan.add(data, after)
        if scan.inside:
            raise ReadError(head.path, Statement("read.csv.open_quote", line=scan.opened))


def _blocks(path: Path, trusted: bool) -> Iterator[tuple[bytes, bytes]]:
    """The blocks of a file, each with the byte that comes next, if any does."""
    with BoundedFile(path, trusted=trusted) as stream:
        data = stream.read(len(BOM)).removeprefix(BOM)
        while block := stream.read(BLOCK):
            yield data, block[:1]
            data = block
        yield data, b""


@dataclass
class _Scan:
    """What was seen of a file so far."""

    head: Head
    before: bytes = b"\n"
    """The last byte."""
    lines: int = 1
    """The number of the line."""
    inside: bool = False
    """Whether a quotation mark is open."""
    opened: int = 0
    """The line of the last one that was open at the end of a block."""

    def add(self, data: bytes, after: bytes) -> None:
        """Look at some bytes; `after` comes next, if anything does."""
        quotes = np.zeros(0, dtype=np.intp)
        if b'"' in data:
            quotes = self._quotes(data, after)
        if b"\r" in data or self.head.line_end != "\n":
            around = np.frombuffer(self.before + data + (after or b"\0"), dtype=np.uint8)
            here, then = around[1:-1], around[2:]
            stray = (here == LF) & (around[:-2] != CR)
            if self.head.line_end == "\n":
                stray = (here == CR) & (then == LF)
            wrong = np.flatnonzero(stray | ((here == CR) & (then != LF)))
            is_outside = (np.searchsorted(quotes, wrong) + self.inside) % 2 == 0
            self._refuse("read.csv.mixed_ends", data, wrong[is_outside])
        self.inside = bool((self.inside + len(quotes)) % 2)
        if self.inside and len(quotes):
            self.opened = self._line(data, int(quotes[-1]))
        self.lines += data.count(b"\n")
        self.before = data[-1:] or self.before

    def _quotes(self, data: bytes, after: bytes) -> NDArray[np.intp]:
        """The places of quotation marks, each of which begins a field, ends it, or is doubled."""
        around = np.frombuffer(self.before + data + (after or b"\n"), dtype=np.uint8)
        quotes, first = np.flatnonzero(around[1:-1] == QUOTE), int(self.inside)
        # A mark that stands there twice closes a text and opens it again at once.
        edges = np.zeros(256, dtype=np.bool_)
        edges[[QUOTE, LF, CR, ord(self.head.comma)]] = True
        for places, side in ((quotes[first::2], 0), (quotes[1 - first :: 2], 2)):
            self._refuse("read.csv.stray_quote", data, places[~edges[around[places + side]]])
        return quotes

    def _refuse(self, code: str, data: bytes, places: NDArray[np.intp]) -> None:
        if len(places):
            line = self._line(data, int(places[0]))
            raise ReadError(self.head.path, Statement(code, line=line))

    def _line(self, data: bytes, place: int) -> int:
        return self.lines + data.count(b"\n", 0, place)
