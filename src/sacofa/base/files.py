"""Files that appear whole or not at all, alone or in pairs."""

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
"""How the names of folders begin in which files are written before they get their names."""

EXISTS = Statement("file.exists", force=Argument("force", True))


@contextmanager
def write_whole(path: str | Path, force: bool = False) -> Iterator[Path]:
    """Give a place to write to, and move what was written to `path` when all went well.

    The place has the same name in a fresh folder beside the target, so that moving it is one
    step. After an error or an interrupt nothing is left behind; what a kill left is removed by
    the next that writes there. A file that exists is overwritten by force only, and only a regular
    file ever is. Of several that write to one name without force, one wins.
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
    """Give a place beside a target to write to; what is still there at the end is removed."""
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
    """Let a finished file have its name, in one step; without force only if nobody has it."""
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
    """Keep other processes that write so from giving names in these folders meanwhile."""
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
    """Turn what the system complains of into one line about the file that the user named."""
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
    """Bring what a file holds to the disk."""
    with path.open("rb") as written:
        os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names of files to the disk, where the system can."""
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
    """Whether a path can be the name of a file."""
    with suppress(ValueError):
        return "\0" not in os.fsencode(path).decode()
    return False


def check_apart(outputs: Mapping[Output, str | Path], inputs: Mapping[Input, str | Path]) -> None:
    """Refuse outputs that are each other, or what is read, by whatever names and links.

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
    """What tells a file from all others: where it is, and its number if it is there."""
    found: set[object] = {os.path.realpath(path)}
    with suppress(OSError, ValueError):
        now = os.stat(path)
        found.add((now.st_dev, now.st_ino))
    return found


def refuse(path: str | Path, target: Path, force: bool) -> None:
    """Refuse a target that is no regular file, or exists and is not to be overwritten."""
    if target.is_dir():
        raise OutputError(path, Statement("file.folder"))
    if target.exists() and not target.is_file():
        raise OutputError(path, Statement("file.not_regular"))
    if target.exists() and not force:
        raise OutputError(path, EXISTS)


def read_small(path: str | Path, largest: int, missing: Statement) -> bytes:
    """Read a whole file that is not larger than it can be; if it is not there, say what is missing.

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
    """The SHA-256 of what a file holds."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise ReadError(path, Statement("file.missing")) from None
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: object, error: OSError) -> ReadError:
    """Say why the system does not let a file be read."""
    return ReadError(path, Statement("file.unreadable", why=error.strerror or str(error)))


def write_text(path: str | Path, text: str, force: bool = False) -> None:
    """Write a text file whole or not at all."""
    with write_whole(path, force) as part:
        part.write_text(text, encoding="utf-8")


def write_secret(path: str | Path, content: bytes, force: bool = False) -> None:
    """Write a file that its owner alone may read, whole or not at all."""
    with write_whole(path, force) as part:
        # The file has these rights before it holds a letter.
        place = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(place, "wb") as file:
            file.write(content)
