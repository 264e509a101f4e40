"""Run one of the programs beside this file in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sacofa


def run_module(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a module of these tests, with the package that is under test here."""
    root = Path(__file__).parents[2]
    source = str(Path(sacofa.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", f"tests.hardening.{name}", *map(str, arguments)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
