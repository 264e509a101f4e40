"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import OutputError


@contextmanager
def write_whole(path: str | Path, force: bool = False) -> Iterator[Path]:
    """Give a place to write to, and move what was written to `path` when all went well.

    The place has the same name in a fresh folder beside the target, so that moving it is one
    step. After an error or an interrupt nothing is left behind. A file that exists is
    overwritten by force only, and only a regular file ever is.
    """
    target = Path(os.path.realpath(path))
    _refuse(path, target, force)
    try:
        folder = Path(tempfile.mkdtemp(prefix=".sacofa-", dir=target.parent))
    except OSError as error:
        raise OutputError(path, f"cannot be written: {error.strerror}") from error
    try:
        part = folder / target.name
        try:
            yield part
            with part.open("rb") as written:
                os.fsync(written.fileno())
            _refuse(path, target, force)
            os.replace(part, target)
            _sync_folder(target.parent)
        except OSError as error:
            raise OutputError(path, f"cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Bring the name of a file to the disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        place = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def check_target(path: str | Path, force: bool = False) -> None:
    """Refuse a target that cannot be written, before any work is done for it."""
    target = Path(os.path.realpath(path))
    _refuse(path, target, force)
    if not target.parent.is_dir():
        raise OutputError(path, "its folder does not exist")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(path, "its folder cannot be written to")


def _refuse(path: str | Path, target: Path, force: bool) -> None:
    if target.is_dir():
        raise OutputError(path, "is a folder: name a file in it")
    if target.exists() and not target.is_file():
        raise OutputError(path, "is not a regular file")
    if target.exists() and not force:
        raise OutputError(path, "exists already: choose another name or use --force")
