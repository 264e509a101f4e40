"""The app's own folder: for its owner alone, and gone when the app ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..base.temporary import make_locked, remove, remove_abandoned
from ..errors import OutputError, Statement

PREFIX = "serve-"


def default_parent() -> Path:
    """Where the folders of running apps lie."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "sacofa"


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that only its owner can enter, and delete it with all it holds at the end.

    Folders that an app left behind because it was killed are deleted first. Its name is absolute:
    each job runs in a folder of its own.
    """
    parent = parent.absolute()
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_abandoned(parent, PREFIX)
        folder, lock = make_locked(parent, PREFIX)
    except OSError as error:
        why = error.strerror or ""
        raise OutputError(parent, Statement("file.not_a_folder", why=why)) from None
    try:
        yield folder
    finally:
        remove(folder, lock)
