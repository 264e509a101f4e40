"""Hostile files: refused in one line, in little memory."""

from __future__ import annotations

from itertools import pairwise

from .bombs import HOSTILE
from .child import run_module

MOST = 400
"""Megabytes: bombs that were let in took thousands."""


def test_hostile_files_are_refused_in_little_memory() -> None:
    """Bombs of gzip, entities, depth, rows and columns meet a limit that names itself."""
    done = run_module("bombs", *HOSTILE)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    starts = [lines.index(name) for name in HOSTILE]
    for start, end in pairwise([*starts, len(lines)]):
        name, line, *took = lines[start:end]
        assert line.startswith("refused: /a."), name
        assert len(line) < 2_000, name
        assert all(int(megabytes) < MOST for megabytes in took), (name, took)
