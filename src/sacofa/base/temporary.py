"""Folders for what must not stay: closed to others, and removed at the end, at the latest later.

A folder holds a file `lock`, locked by the process that made it. The system lets go of the lock
when that process ends, however it ends. So a folder whose lock nobody holds belongs to nobody any
more, and whoever makes the next folder in the same place removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError, Statement

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

PREFIX = "sacofa-"
LOCK = "lock"


@contextmanager
def secret_folder() -> Iterator[Path]:
    """Give a folder for parts of a log, in the place that TMPDIR names, and remove it at the end.

    A place that is named and cannot be used is an error: parts of a log must not lie elsewhere.
    """
    for name in ("TMPDIR", "TEMP", "TMP"):
        place = os.environ.get(name)
        if place:
            if not Path(place).is_dir():
                raise OutputError(place, Statement("temporary.no_folder", variable=name))
            break
    else:
        name, place = "TMPDIR", tempfile.gettempdir()
    try:
        remove_abandoned(Path(place), PREFIX)
        folder, lock = make_locked(Path(place), PREFIX)
    except OSError as error:
        raise _unusable(Path(place), error, name) from None
    try:
        yield folder
    finally:
        remove(folder, lock)


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Tell in one line if a file in a folder for secrets cannot be written."""
    try:
        yield
    except OSError as error:
        raise _unusable(folder.parent, error, "TMPDIR") from None


def _unusable(place: Path, error: OSError, variable: str) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(place, Statement("temporary.unusable", reason=reason, variable=variable))


def lock_file(file: int, *, wait: bool) -> bool | None:
    """Lock an open file or folder; False if somebody else holds it and is not waited for.

    Returns None if the file system has no such locks, as on some network drives.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def make_locked(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder that only its owner can enter, with a lock that this process holds."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:
            continue
        except OSError:
            folder.rmdir()
            raise
        # Somebody who cleans up may have come between: then the folder is gone.
        if lock_file(lock, wait=False) is not False and _is_at(lock, folder / LOCK):
            return folder, lock
        os.close(lock)


def remove(folder: Path, lock: int) -> None:
    """Remove a folder that this process holds, with all that is in it."""
    try:
        _clear(folder)
    except KeyboardInterrupt:
        # What is secret goes before we do.
        _clear(folder)
        raise
    finally:
        os.close(lock)


def remove_abandoned(
    parent: Path, prefix: str, rescue: Callable[[Path], None] | None = None
) -> None:
    """Remove the folders of processes that are gone; `rescue` may take something out before."""
    owner = getattr(os, "geteuid", lambda: None)()
    with suppress(OSError), os.scandir(parent) as found:
        for entry in found:
            # What somebody else left is theirs, whoever may delete it.
            with suppress(OSError):
                is_folder = entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
                if is_folder and entry.stat().st_uid == owner:
                    _remove_if_abandoned(Path(entry.path), rescue)


def _remove_if_abandoned(folder: Path, rescue: Callable[[Path], None] | None) -> None:
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        # Whoever is about to lock it makes another one.
        folder.rmdir()
        return
    try:
        # Where there are no locks, nobody knows whether its owner lives.
        if lock_file(lock, wait=False) and _is_at(lock, folder / LOCK):
            if rescue is not None:
                rescue(folder)
            _clear(folder)
    finally:
        os.close(lock)


def _clear(folder: Path) -> None:
    """Remove a folder; the lock goes last, so that one whose removal breaks off is found again."""
    with suppress(OSError):
        for content in (each for each in folder.iterdir() if each.name != LOCK):
            with suppress(OSError):
                _delete(content)
    shutil.rmtree(folder, ignore_errors=True)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_at(file: int, path: Path) -> bool:
    """Tell whether an open file is still the one that has its name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
