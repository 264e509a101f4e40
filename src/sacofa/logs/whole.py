"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a new file to fill, which takes the name of path once it is whole.

    It lies beside path until then. On any error, and on Ctrl-C, it is removed and path is as it
    was. A file that exists is refused unless force is given.
    """
    target = Path(path)
    refuse_target(target, force=force)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise _refused(target, error) from None
    part = Path(name)
    try:
        os.chmod(part, 0o666 & ~_umask())
        yield part
        _flush(part)
        if not force:
            refuse_target(target)
        os.replace(part, target)
        with suppress(OSError):
            _flush(target.parent)
    except OSError as error:
        raise _refused(target, error) from None
    finally:
        part.unlink(missing_ok=True)


def refuse_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a target that exists, unless forced, or that can never be written."""
    target = Path(path)
    if target.is_dir():
        raise OutputError(target, "is a folder")
    if not target.parent.is_dir():
        raise OutputError(target, "its folder does not exist")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(target, "its folder cannot be written to")
    if target.exists() and not force:
        raise OutputError(target, "exists already: use --force to overwrite it")


def _refused(target: Path, error: OSError) -> OutputError:
    return OutputError(target, f"cannot be written: {(error.strerror or str(error)).lower()}")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
