"""What is asked of all rows of a text table before they are read: quotes and line ends in place.

A quotation mark begins a field or ends it, or stands there twice, and all lines end alike. Else one
stray mark could make one field of the rows of many cases, and one line end decide for all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

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
        with BoundedFile(head.path, trusted=trusted) as stream:
            rest = stream.read(len(BOM)).removeprefix(BOM)
            while block := stream.read(BLOCK):
                # The last byte waits, so that each is seen with the one that follows.
                data = rest + block
                scan.add(data[:-1], data[-1:])
                rest = data[-1:]
        for place in range(len(rest)):
            scan.add(rest[place : place + 1], rest[place + 1 : place + 2])
        if scan.inside:
            raise ReadError(head.path, Statement("read.csv.open_quote", line=scan.opened))


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
        quotes = None
        if b'"' in data:
            quotes = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == QUOTE)
            self._check_quotes(data, after or b"\n", quotes)
        if b"\r" in data or self.head.line_end != "\n":
            self._check_ends(data, after, quotes)
        if quotes is not None and (self.inside + len(quotes)) % 2:
            self.opened = self._line(data, int(quotes[-1]))
        self.inside = bool((self.inside + (0 if quotes is None else len(quotes))) % 2)
        self.lines += data.count(b"\n")
        self.before = data[-1:] or self.before

    def _refuse(self, code: str, data: bytes, place: int) -> NoReturn:
        raise ReadError(self.head.path, Statement(code, line=self._line(data, place)))

    def _check_quotes(self, data: bytes, after: bytes, quotes: NDArray[np.intp]) -> None:
        around = np.frombuffer(self.before + data + after, dtype=np.uint8)
        first = int(self.inside)
        opening, closing = quotes[first::2], quotes[1 - first :: 2]
        # A mark that stands there twice closes a text and opens it again at once.
        edges = np.zeros(256, dtype=np.bool_)
        edges[[QUOTE, LF, CR, ord(self.head.comma)]] = True
        for places, beside in ((opening, around[opening]), (closing, around[closing + 2])):
            wrong = places[~edges[beside]]
            if len(wrong):
                self._refuse("read.csv.stray_quote", data, int(wrong[0]))

    def _check_ends(self, data: bytes, after: bytes, quotes: NDArray[np.intp] | None) -> None:
        around = np.frombuffer(self.before + data + (after or b"\0"), dtype=np.uint8)
        here = around[1:-1]
        alone = (here == CR) & (around[2:] != LF)
        bare = (here == LF) & (around[:-2] != CR)
        paired = (here == CR) & (around[2:] == LF)
        wrong = np.flatnonzero(alone | (paired if self.head.line_end == "\n" else bare))
        if quotes is not None:
            wrong = wrong[(np.searchsorted(quotes, wrong) + self.inside) % 2 == 0]
        elif self.inside:
            return
        if len(wrong):
            self._refuse("read.csv.mixed_ends", data, int(wrong[0]))

    def _line(self, data: bytes, place: int) -> int:
        return self.lines + data.count(b"\n", 0, place)
