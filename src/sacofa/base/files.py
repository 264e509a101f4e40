"""Atomic writing of files, alone or in pairs."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..errors import Argument, OutputError, ReadError, Statement
from .temporary import lock_file, make_locked, remove, remove_abandoned

Output = TypeVar("Output", bound=Statement | str)
Input = TypeVar("Input", bound=Statement | str)

PREFIX = ".sacofa-part-"
"""Name prefix of the folders in which files are staged."""

EXISTS = Statement("file.exists", force=Argument("force", True))


@contextmanager
def write_whole(path: str | Path, force: bool = False) -> Iterator[Path]:
    """Yield a path for writing, and move the finished file to `path` if no error occurs.

    The yielded path is in a new folder next to the target, so the move is atomic. After an error or
    an interrupt, no file remains; the leftovers of a killed process are removed by the next run
    that writes there. Only `force` overwrites an existing file, and only a regular one. If several
    processes write to one name without `force`, one of them succeeds.
    """
    with staged(path, force) as part:
        yield part
        with explained(path):
            sync(part)
            target = Path(os.path.realpath(path))
            with locked(target.parent):
                refuse(path, target, force)
                give_name(part, target, path, force)
            sync_folder(target.parent)


@contextmanager
def staged(path: str | Path, force: bool = False, prefix: str = PREFIX) -> Iterator[Path]:
    """Yield a path in a new folder next to a target; remove the folder at the end."""
    target = Path(os.path.realpath(path))
    with explained(path):
        refuse(path, target, force)
        remove_abandoned(target.parent, PREFIX)
        folder, lock = make_locked(target.parent, prefix)
    try:
        with explained(path, folder / target.name):
            yield folder / target.name
    finally:
        remove(folder, lock)


def give_name(part: Path, target: Path, path: str | Path, force: bool) -> None:
    """Move a finished file to its name atomically; without force, only if the name is free."""
    if force:
        os.replace(part, target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise OutputError(path, EXISTS) from None
    except OSError as error:
        # Some file systems have no links; the lock of the folder keeps others of us away.
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if target.exists():
            raise OutputError(path, EXISTS) from None
        os.replace(part, target)


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Prevent other sacofa processes from naming files in these folders."""
    with ExitStack() as stack:
        places = {}
        for folder in folders:
            with suppress(OSError):
                place = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
                stack.callback(os.close, place)
                now = os.fstat(place)
                places[now.st_dev, now.st_ino] = place
        # One order for all, so that no two wait for each other.
        for key in sorted(places):
            lock_file(places[key], wait=True)
        yield


@contextmanager
def explained(path: str | Path, part: Path | None = None) -> Iterator[None]:
    """Turn an error of the operating system into one line about the file that the user named."""
    try:
        yield
    except OutputError as error:
        if part is not None and error.path == str(part):
            raise OutputError(path, error.what) from None
        raise
    except OSError as error:
        why = error.strerror or str(error)
        if part is not None:
            why = why.replace(str(part), str(path))
        raise OutputError(path, Statement("file.unwritable", why=why)) from error


def sync(path: Path) -> None:
    """Flush the content of a file to disk."""
    with path.open("rb") as written:
        os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, if the system can."""
    if hasattr(os, "O_DIRECTORY"):
        place = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def check_target(path: str | Path, force: bool = False) -> None:
    """Refuse a target that cannot be written, before any work is done for it."""
    if not is_name(path):
        raise OutputError(ascii(str(path)), Statement("file.no_name"))
    target = Path(os.path.realpath(path))
    with explained(path):
        refuse(path, target, force)
        if not target.parent.is_dir():
            raise OutputError(path, Statement("file.no_folder"))
        if not os.access(target.parent, os.W_OK):
            raise OutputError(path, Statement("file.closed_folder"))


def is_name(path: str | Path) -> bool:
    """Whether a path is a valid file name."""
    with suppress(ValueError):
        return "\0" not in os.fsencode(path).decode()
    return False


def check_apart(outputs: Mapping[Output, str | Path], inputs: Mapping[Input, str | Path]) -> None:
    """Refuse an output that is the same file as another output or an input, also through links.

    With force, writing one would destroy the other.
    """
    seen: list[tuple[Statement | str, set[object]]]
    seen = [(what, identity(path)) for what, path in inputs.items()]
    for what, path in outputs.items():
        mine = identity(path)
        for other, theirs in seen:
            if mine & theirs:
                raise OutputError(path, Statement("file.same", one=what, other=other))
        seen.append((what, mine))


def identity(path: str | Path) -> set[object]:
    """Return values that identify a file: its path, and its device and inode if it exists."""
    found: set[object] = {os.path.realpath(path)}
    with suppress(OSError, ValueError):
        now = os.stat(path)
        found.add((now.st_dev, now.st_ino))
    return found


def refuse(path: str | Path, target: Path, force: bool) -> None:
    """Refuse a target that is not a regular file, or that exists unless `force` is set."""
    if target.is_dir():
        raise OutputError(path, Statement("file.folder"))
    if target.exists() and not target.is_file():
        raise OutputError(path, Statement("file.not_regular"))
    if target.exists() and not force:
        raise OutputError(path, EXISTS)


def read_small(path: str | Path, largest: int, missing: Statement) -> bytes:
    """Read a whole file of at most `largest` bytes; `missing` is the message if there is none.

    Raises:
        ReadError: If it is not a regular file, is larger, or cannot be read.
    """
    try:
        if not Path(path).is_file():
            raise ReadError(path, missing)
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(content) > largest:
        raise ReadError(path, Statement("file.too_large", bytes=largest))
    return content


def hash_file(path: str | Path) -> str:
    """Return the SHA-256 of the content of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: object, error: OSError) -> ReadError:
    """Return the error for a file that the operating system cannot read."""
    if isinstance(error, FileNotFoundError):
        return ReadError(path, Statement("file.missing"))
    return ReadError(path, Statement("file.unreadable", why=error.strerror or str(error)))


def write_text(path: str | Path, text: str, force: bool = False) -> None:
    """Write a text file atomically."""
    with write_whole(path, force) as part:
        part.write_text(text, encoding="utf-8")


def write_secret(path: str | Path, content: bytes, force: bool = False) -> None:
    """Write a file that only its owner can read, atomically."""
    with write_whole(path, force) as part:
        # The file has these permissions before it has any content.
        place = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(place, "wb") as file:
            file.write(content)
