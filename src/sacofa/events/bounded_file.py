"""Bytes of a file, unpacked on the way where it is packed, never more than is safe."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from ..errors import Argument, ReadError, Statement
from .unpacking import Packing, Readable, explained, packing_in, unpacked

Progress = Callable[[float], None]
"""Called now and then with the share that is done, between 0 and 1."""

TRUSTED = Argument("trusted", True)
"""What lets a file through that looks hostile."""

MAX_EXPANSION = 200
"""A packed file that unpacks to more than this many times its size is refused unless trusted."""

SMALL = 1 << 30
"""Up to this many bytes any expansion is let through."""

_BLOCK = 1 << 18


def packing_of(path: Path) -> Packing | None:
    """Tell how a file is packed by its first bytes, whatever it is called."""
    refuse_endless(path)
    try:
        with path.open("rb") as file:
            return packing_in(file.read(4))
    except OSError as error:
        raise unreadable(path, error) from None


def refuse_endless(path: Path) -> None:
    """Refuse a pipe or a device: it can be read once only, or forever, and opening may not end."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError:
        raise ReadError(ascii(str(path)), Statement("read.file.no_name")) from None
    if not regular:
        raise ReadError(path, Statement("read.file.not_regular"))


def unreadable(path: object, error: OSError) -> ReadError:
    """Say why a file cannot be opened or read."""
    return ReadError(path, (error.strerror or str(error)).lower())


class BoundedFile(AbstractContextManager["BoundedFile"]):
    """A file to be read once from beginning to end, unpacked where it is packed."""

    def __init__(
        self,
        path: Path,
        *,
        trusted: bool = False,
        progress: Progress | None = None,
        most: int | None = None,
    ) -> None:
        self.path = path
        self.done = 0
        """How many unpacked bytes were handed out."""
        self._progress = progress
        self._packed = packing_of(path)
        self._inflate = zlib.decompressobj(31)
        self._rest = b""
        self._read = 0
        try:
            self._file = path.open("rb", buffering=0)
            self._size = max(path.stat().st_size, 1)
        except OSError as error:
            raise unreadable(path, error) from None
        self._limit = most or max(SMALL, MAX_EXPANSION * self._size)
        self._trusted = trusted
        self._inside: Readable | None = None
        if self._packed not in (None, "gzip"):
            # An archive is read from its end, so how far it is cannot be told.
            self._inside = unpacked(self._file, self._packed, path)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Read up to size bytes; none at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_BLOCK), b""))
        if self._inside is not None and self._packed is not None:
            with explained(self.path, self._packed):
                data = self._inside.read(size)
                if self._progress is not None:
                    self._progress(min(self._file.tell() / self._size, 1.0))
        else:
            data = self._unpacked(size) if self._packed else self._raw(size)
        self.done += len(data)
        if self._packed and not self._trusted and self.done > self._limit:
            megabytes = self._limit >> 20
            what = Statement("read.file.bomb", megabytes=megabytes, trusted=TRUSTED)
            raise ReadError(self.path, what)
        return data

    def lines(self, longest: int) -> Iterator[bytes]:
        """Yield the lines without their ends; one of more than `longest` bytes is refused."""
        rest = b""
        while block := self.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            if len(rest) > longest:
                raise ReadError(self.path, Statement("read.file.long_line", size=longest >> 20))
        yield rest

    def _raw(self, size: int) -> bytes:
        try:
            data = self._file.read(size) or b""
        except OSError as error:
            raise unreadable(self.path, error) from None
        self._read += len(data)
        if self._progress is not None:
            self._progress(min(self._read / self._size, 1.0))
        return data

    def _unpacked(self, size: int) -> bytes:
        try:
            while True:
                if self._inflate.eof:
                    # Gzip files may be several, one after the other, with zeros at the end.
                    rest = self._inflate.unused_data.lstrip(b"\0") or self._raw(_BLOCK).lstrip(
                        b"\0"
                    )
                    if not rest:
                        return b""
                    self._inflate = zlib.decompressobj(31)
                    self._rest = rest
                data = self._inflate.decompress(self._rest, size)
                self._rest = self._inflate.unconsumed_tail
                if data:
                    return data
                if self._inflate.eof or self._rest:
                    continue
                self._rest = self._raw(_BLOCK)
                if not self._rest:
                    raise ReadError(self.path, Statement("read.packed.cut_short", packing="gzip"))
        except zlib.error:
            raise ReadError(self.path, Statement("read.packed.damaged", packing="gzip")) from None
