"""Hostile files: refused in one line, in little memory."""

from __future__ import annotations

import pytest

from .bombs import HOSTILE
from .child import run_module

MOST = 400
"""Megabytes: bombs that were let in took thousands."""


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_files_are_refused_in_little_memory(name: str) -> None:
    """Bombs of gzip, entities, depth, rows and columns meet a limit that names itself."""
    done = run_module("bombs", name)
    assert done.returncode == 0, done.stderr
    line, *took = done.stdout.splitlines()
    assert line.startswith("refused: /a."), done.stdout + done.stderr
    assert len(line) < 2_000
    assert all(int(megabytes) < MOST for megabytes in took), took
