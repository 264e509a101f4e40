"""Packed files: how they are told, and streams of what is in them."""

from __future__ import annotations

import bz2
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, Protocol

from ..errors import MissingExtraError, ReadError, Statement

Packing = Literal["gzip", "bzip2", "zstd", "zip"]


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read up to size bytes; none at the end."""


MAGIC: dict[bytes, Packing] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
"""How packed files begin, whatever they are called."""

ENDINGS = (".gz", ".bz2", ".zst", ".zip")
"""How the names of packed files end."""


def packing_in(start: bytes) -> Packing | None:
    """Tell how a file is packed by its first bytes."""
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


def unpacked(file: IO[bytes], packing: Packing, path: Path) -> Readable:
    """Give a stream of what is in an open file; gzip is unpacked elsewhere."""
    with explained(path, packing):
        if packing == "bzip2":
            return bz2.BZ2File(file)
        if packing == "zstd":
            return _Zstd(file)
        archive = zipfile.ZipFile(file)
        return archive.open(only_member(archive, path))


@contextmanager
def explained(path: Path, packing: Packing) -> Iterator[None]:
    """Turn what unpacking complains of into one clear line."""
    try:
        yield
    except EOFError:
        raise ReadError(path, Statement("read.packed.cut_short", packing=packing)) from None
    except ReadError:
        raise
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        code = "read.packed.locked" if "password" in str(error) else "read.packed.damaged"
        raise ReadError(path, Statement(code, packing=packing)) from None
    except Exception as error:
        # The library for zstd has an error of its own, which is nobody's child.
        if type(error).__name__ != "ZstdError":
            raise
        raise ReadError(path, Statement("read.packed.damaged", packing=packing)) from None


def only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Give the one file of an archive; what a Mac adds does not count."""
    files = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        raise ReadError(path, Statement("read.packed.several", number=len(files)))
    return files[0]


def name_inside(path: Path) -> str:
    """The name of the one file of an archive."""
    with explained(path, "zip"), zipfile.ZipFile(path) as archive:
        return only_member(archive, path).filename


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
