"""Checks on the quotes and line ends of a text table before its rows are read.

A quotation mark must begin or end a field or be doubled, and all line ends must be the same.
Otherwise a stray mark could merge the rows of many cases into one field, and one line end could
change how all lines are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ReadError, Statement
from ..bounded_file import BoundedFile
from .csv_files import BOM, Head

BLOCK = 1 << 20
"""Number of bytes per block."""

QUOTE, LF, CR = b'"\n\r'


def check_rows(heads: Sequence[Head], *, trusted: bool) -> None:
    """Refuse misplaced quotes and mixed line ends; compressed files are unpacked on the fly."""
    for head in heads:
        _check(head, trusted)


def _blocks(path: Path, trusted: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the blocks of a file, each with the byte that follows it, if any."""
    with BoundedFile(path, trusted=trusted) as stream:
        data = stream.read(len(BOM)).removeprefix(BOM)
        while block := stream.read(BLOCK):
            if data:
                yield data, block[:1]
            data = block
        if data:
            yield data, b""


def _check(head: Head, trusted: bool) -> None:
    edges = np.zeros(256, dtype=np.bool_)
    edges[[QUOTE, LF, CR, ord(head.separator)]] = True
    before, line, inside, opened = b"\n", 1, 0, 0
    for data, after in _blocks(head.path, trusted):
        around = np.frombuffer(before + data + (after or b"\n"), dtype=np.uint8)
        here = around[1:-1]
        quotes = np.flatnonzero(here == QUOTE)
        # Each mark begins or ends a field; a doubled one does both.
        for places, side in ((quotes[inside::2], 0), (quotes[1 - inside :: 2], 2)):
            stray = places[~edges[around[places + side]]]
            _refuse(head, "read.csv.stray_quote", data, line, stray)
        if b"\r" in data or head.line_end != "\n":
            is_before_lf = around[2:] == LF
            is_before_lf[-1] &= bool(after)
            is_wrong = (here == LF) & (around[:-2] != CR)
            if head.line_end == "\n":
                is_wrong = (here == CR) & is_before_lf
            wrong = np.flatnonzero(is_wrong | ((here == CR) & ~is_before_lf))
            is_outside = (np.searchsorted(quotes, wrong) + inside) % 2 == 0
            _refuse(head, "read.csv.mixed_ends", data, line, wrong[is_outside])
        inside = (inside + len(quotes)) % 2
        if inside and len(quotes):
            opened = line + data.count(b"\n", 0, int(quotes[-1]))
        line += data.count(b"\n")
        before = data[-1:]
    if inside:
        raise ReadError(head.path, Statement("read.csv.open_quote", line=opened))


def _refuse(head: Head, code: str, data: bytes, line: int, places: NDArray[np.intp]) -> None:
    if len(places):
        line += data.count(b"\n", 0, int(places[0]))
        raise ReadError(head.path, Statement(code, line=line))
