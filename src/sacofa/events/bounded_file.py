"""Bytes of a file, unpacked on the way where it is packed, never more than is safe."""

from __future__ import annotations

import bz2
import gzip
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Literal, Protocol
from weakref import finalize

from ..base.temporary import secret_folder
from ..errors import Argument, MissingExtraError, OutputError, ReadError, Statement

Progress = Callable[[float], None]
"""Called now and then with the share that is done, between 0 and 1."""
Packing = Literal["gzip", "bzip2", "zstd", "zip"]

TRUSTED = Argument("trusted", True)
"""What lets a file through that looks hostile."""
MAX_EXPANSION = 200
"""A packed file that unpacks to more than this many times its size is refused unless trusted."""
SMALL = 1 << 30
"""Up to this many bytes any expansion is let through."""
MAGIC: dict[bytes, Packing] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
"""How packed files begin, whatever they are called."""
ENDINGS = (".gz", ".bz2", ".zst", ".zip")
"""How the names of packed files end."""

STANDARD_INPUT = "-"
"""What stands for standard input in place of a path."""

_BLOCK = 1 << 18


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read up to size bytes; none at the end."""


def packing_of(path: Path) -> Packing | None:
    """Tell how a file is packed by its first bytes, whatever it is called."""
    refuse_endless(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise unreadable(path, error) from None
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


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


@contextmanager
def explained(path: Path, packing: Packing) -> Iterator[None]:
    """Turn what unpacking complains of into one clear line."""
    try:
        yield
    except EOFError:
        raise ReadError(path, Statement("read.packed.cut_short", packing=packing)) from None
    except ReadError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(path, error) from None
        known = (OSError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)
        # The library for zstd has an error of its own, which derives from no other.
        if not isinstance(error, known) and type(error).__name__ != "ZstdError":
            raise
        code = "read.packed.locked" if "password" in str(error) else "read.packed.damaged"
        raise ReadError(path, Statement(code, packing=packing)) from None


def name_inside(path: Path) -> str:
    """The name of the one file of an archive."""
    with explained(path, "zip"), zipfile.ZipFile(path) as archive:
        return _only_member(archive, path).filename


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Give the one file of an archive; what a Mac adds does not count."""
    members = (member for member in archive.infolist() if not member.is_dir())
    files = [member for member in members if not member.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        raise ReadError(path, Statement("read.packed.several", number=len(files)))
    return files[0]


def _unpacked(file: IO[bytes], packing: Packing | None, path: Path) -> Readable:
    """Give a stream of what is in an open file."""
    if packing == "zip":
        archive = zipfile.ZipFile(file)
        return archive.open(_only_member(archive, path))
    openers: dict[Packing | None, Callable[[IO[bytes]], Readable]]
    openers = {"gzip": lambda it: gzip.GzipFile(fileobj=it), "bzip2": bz2.BZ2File, "zstd": _Zstd}
    return openers[packing](file) if packing in openers else file


class _Zstd:
    """A stream of zstd, which may be several, one after the other."""

    FED = 1 << 12
    """So few packed bytes at a time cannot become more than memory holds."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("zstandard", "zstd") from None
        self._make = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._make()
        self._file = file
        self._fed = False
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Read up to size bytes; none at the end."""
        while not self._ready:
            block = self._frame.unused_data if self._frame.eof else b""
            block = block or self._file.read(self.FED)
            if not block:
                if self._fed and not self._frame.eof:
                    raise EOFError
                return b""
            if self._frame.eof:
                self._frame = self._make()
            self._fed = True
            self._ready = memoryview(self._frame.decompress(block))
        data, self._ready = self._ready[:size], self._ready[size:]
        return bytes(data)


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
        try:
            self._file = path.open("rb", buffering=0)
            self._size = max(path.stat().st_size, 1)
        except OSError as error:
            raise unreadable(path, error) from None
        self._limit = most or max(SMALL, MAX_EXPANSION * self._size)
        self._is_bounded = self._packed is not None and not trusted
        with explained(path, self._packed or "gzip"):
            self._inside = _unpacked(self._file, self._packed, path)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Read up to size bytes; none at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_BLOCK), b""))
        with explained(self.path, self._packed or "gzip"):
            data = self._inside.read(size)
            place = self._file.tell()
        if self._progress is not None:
            self._progress(min(place / self._size, 1.0))
        self.done += len(data)
        if self._is_bounded and self.done > self._limit:
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


class StandardInput:
    """What came from standard input, in a file that is removed with the last reference to it.

    A log is read more than once, and a pipe can be read only once.
    """

    def __init__(self) -> None:
        stack = ExitStack()
        folder = stack.enter_context(secret_folder())
        finalize(self, stack.close)
        self.path: Path = folder / "standard input"
        try:
            with self.path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except OSError as error:
            what = Statement("read.file.input_not_kept", why=error.strerror or str(error))
            raise OutputError(folder.parent, what) from None
