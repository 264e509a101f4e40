"""Damaged files: every reader reads them or refuses them, and nothing else happens."""

from __future__ import annotations

import os

import pytest

from .child import run_module

COUNT = int(os.environ.get("SACOFA_FUZZ", "1100"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_readers_take_or_refuse_damaged_files(seed: int) -> None:
    """Half of the inputs each; SACOFA_FUZZ=20000 makes it the long run."""
    done = run_module("fuzz", COUNT // 2, seed)
    assert done.returncode == 0, done.stdout + done.stderr
