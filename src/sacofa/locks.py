"""Locks on files and folders, which the system takes back when their holder ends."""

from __future__ import annotations

import errno

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


def lock_file(file: int, *, wait: bool) -> bool:
    """Lock an open file or folder; False if somebody else holds it and is not waited for.

    Where there are no such locks, as on some network drives, the answer is True all the same: what
    is locked here is also safe without, but for two processes in the same instant.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True
