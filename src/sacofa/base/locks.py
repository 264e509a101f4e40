"""Locks on files and folders, which the system takes back when their holder ends."""

from __future__ import annotations

import errno

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


def lock_file(file: int, *, wait: bool) -> bool | None:
    """Lock an open file or folder; False if somebody else holds it and is not waited for.

    Where there are no such locks, as on some network drives, the answer is None.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True
