"""Reading of plain and compressed files, with bounds against decompression bombs."""

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

from ..base.files import unreadable
from ..base.temporary import secret_folder
from ..errors import Argument, MissingExtraError, OutputError, ReadError, Statement

Progress = Callable[[float], None]
"""Called now and then with the share that is done, between 0 and 1."""
Packing = Literal["gzip", "bzip2", "zstd", "zip"]

TRUSTED = Argument("trusted", True)
"""The option that skips the checks for hostile files."""
MAX_EXPANSION = 200
"""A packed file that unpacks to more than this many times its size is refused unless trusted."""
UNCHECKED_BYTES = 1 << 30
"""Files of up to this many unpacked bytes may have any expansion."""
MAGIC: dict[bytes, Packing] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
"""The first bytes of compressed files."""
ENDINGS = (".gz", ".bz2", ".zst", ".zip")
"""The suffixes of compressed files."""

STANDARD_INPUT = "-"
"""Path that stands for standard input."""

_BLOCK = 1 << 18


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read up to size bytes; empty at the end."""


def packing_of(path: Path) -> Packing | None:
    """Detect the compression of a file by its first bytes, whatever its name."""
    refuse_endless(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise unreadable(path, error) from None
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


def refuse_endless(path: Path) -> None:
    """Refuse a pipe or a device: it may be endless or readable only once."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError:
        raise ReadError(ascii(str(path)), Statement("read.file.no_name")) from None
    if not regular:
        raise ReadError(path, Statement("read.file.not_regular"))


@contextmanager
def explained(path: Path, packing: Packing) -> Iterator[None]:
    """Turn an error of decompression into one clear line."""
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
        # The zstd library has its own error class, without a base class.
        if not isinstance(error, known) and type(error).__name__ != "ZstdError":
            raise
        code = "read.packed.locked" if "password" in str(error) else "read.packed.damaged"
        raise ReadError(path, Statement(code, packing=packing)) from None


def name_inside(path: Path) -> str:
    """The name of the one file of an archive."""
    with explained(path, "zip"), zipfile.ZipFile(path) as archive:
        return _only_member(archive, path).filename


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Return the one file of an archive; files that macOS adds are ignored."""
    members = (member for member in archive.infolist() if not member.is_dir())
    files = [member for member in members if not member.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        raise ReadError(path, Statement("read.packed.several", number=len(files)))
    return files[0]


def _unpacked(file: IO[bytes], packing: Packing | None, path: Path) -> Readable:
    """Return a stream of the unpacked content of an open file."""
    if packing == "zip":
        archive = zipfile.ZipFile(file)
        return archive.open(_only_member(archive, path))
    openers: dict[Packing | None, Callable[[IO[bytes]], Readable]]
    openers = {"gzip": lambda it: gzip.GzipFile(fileobj=it), "bzip2": bz2.BZ2File, "zstd": _Zstd}
    return openers[packing](file) if packing in openers else file


class _Zstd:
    """A stream of one or more consecutive zstd frames."""

    FED = 1 << 12
    """Compressed bytes per step: few enough for the result to fit into memory."""

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
        """Read up to size bytes; empty at the end."""
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
    """A file that is read once from beginning to end, and unpacked if it is compressed."""

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
        """Number of unpacked bytes that were read."""
        self._progress = progress
        self._packed = packing_of(path)
        try:
            self._file = path.open("rb", buffering=0)
            self._size = max(path.stat().st_size, 1)
        except OSError as error:
            raise unreadable(path, error) from None
        self._limit = most or max(UNCHECKED_BYTES, MAX_EXPANSION * self._size)
        self._is_bounded = self._packed is not None and not trusted
        with explained(path, self._packed or "gzip"):
            self._inside = _unpacked(self._file, self._packed, path)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Read up to size bytes; empty at the end."""
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
        """Yield the lines without line ends; a line of more than `longest` bytes is refused."""
        rest = b""
        while block := self.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            if len(rest) > longest:
                raise ReadError(self.path, Statement("read.file.long_line", size=longest >> 20))
        yield rest


class StandardInput:
    """The content of standard input, in a file that is removed with the last reference to it.

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
