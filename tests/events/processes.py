"""Find processes by who started them; needs /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finding processes to kill needs /proc"
)


def processes_below(pid: int) -> dict[int, list[bytes]]:
    """The processes that a process started, and those that they started, with their commands."""
    parents: dict[int, int] = {}
    commands: dict[int, list[bytes]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # A process may end while one looks.
            with suppress(OSError):
                status = (entry / "stat").read_text().rsplit(")", 1)[1]
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().split(bytes(1))
                parents[int(entry.name)] = int(status.split()[1])
    below = {}
    for process in parents:
        above = parents[process]
        while above in parents and above != pid:
            above = parents[above]
        if above == pid:
            below[process] = commands[process]
    return below
