"""Private temporary folders, removed on exit or by the next run.

Each folder contains a file `lock`, locked by the process that created it. The operating system
releases the lock when that process ends for any reason. A folder with an unlocked file is
abandoned, and the next process that creates a folder there removes it.
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
    """Yield a private folder for parts of a log, inside TMPDIR, and remove it at the end.

    An unusable TMPDIR is an error, because parts of a log must not be written elsewhere.
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
    """Turn a failure to write in a private folder into a one-line error."""
    try:
        yield
    except OSError as error:
        raise _unusable(folder.parent, error, "TMPDIR") from None


def _unusable(place: Path, error: OSError, variable: str) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(place, Statement("temporary.unusable", reason=reason, variable=variable))


def lock_file(file: int, *, wait: bool) -> bool | None:
    """Lock an open file or folder; return False if `wait` is False and another process has the
    lock.

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
    """Create a private folder with a lock that this process owns."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:
            continue
        except OSError:
            folder.rmdir()
            raise
        # Another process may have removed the folder before it was locked.
        if lock_file(lock, wait=False) is not False and _is_at(lock, folder / LOCK):
            return folder, lock
        os.close(lock)


def remove(folder: Path, lock: int) -> None:
    """Remove a folder of this process and its content."""
    try:
        _clear(folder)
    except KeyboardInterrupt:
        # Confidential files are deleted before the process ends.
        _clear(folder)
        raise
    finally:
        os.close(lock)


def remove_abandoned(
    parent: Path, prefix: str, rescue: Callable[[Path], None] | None = None
) -> None:
    """Remove the folders of processes that ended; `rescue` may save files from them first."""
    owner = getattr(os, "geteuid", lambda: None)()
    with suppress(OSError), os.scandir(parent) as found:
        for entry in found:
            # Folders of other users are left alone, even if this user may delete them.
            with suppress(OSError):
                is_folder = entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
                if is_folder and entry.stat().st_uid == owner:
                    _remove_if_abandoned(Path(entry.path), rescue)


def _remove_if_abandoned(folder: Path, rescue: Callable[[Path], None] | None) -> None:
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        # A process that was about to lock it creates another folder.
        folder.rmdir()
        return
    try:
        # Without locks, nothing shows whether the owner is still running.
        if lock_file(lock, wait=False) and _is_at(lock, folder / LOCK):
            if rescue is not None:
                rescue(folder)
            _clear(folder)
    finally:
        os.close(lock)


def _clear(folder: Path) -> None:
    """Remove a folder, its lock last, so that an interrupted removal can be resumed."""
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
    """Whether an open file still has this path."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
