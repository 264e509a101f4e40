"""The app's own folder: for its owner alone, and gone when the app ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

PREFIX = "serve-"


def default_parent() -> Path:
    """Where the folders of running apps lie."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "sacofa"


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that only its owner can enter, and delete it with all it holds at the end.

    Folders that an app left behind because it was killed are deleted first: a folder whose lock
    nobody holds belongs to nobody any more.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in parent.glob(f"{PREFIX}*"):
            _delete_abandoned(old)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise OutputError(parent, f"cannot be used as a folder: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _delete_abandoned(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
