"""The short form of `make faults`: each part runs once or a little more, and finds nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sacofa

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["kills and signals", "failing system calls", "16 writers", "web load"]
)
def test_a_few_faults_of_each_kind(part: str) -> None:
    """What must not be is never seen."""
    if part == "failing system calls" and shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if part == "web load":
        pytest.importorskip("fastapi")
    done = subprocess.run(
        [sys.executable, "benchmarks/faults.py", "--seconds", "5", "--part", part], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {part} |" in done.stdout
