"""Hostile files: refused in one line, in little memory."""

from __future__ import annotations

import pytest

from .bombs import HOSTILE
from .child import run_module


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_files_are_refused_in_little_memory(name: str) -> None:
    """Bombs of gzip, entities, depth, rows and columns meet a limit that names itself."""
    done = run_module("bombs", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: /a."), done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert len(done.stdout) < 2_000
