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
        [sys.executable, "benchmarks/faults.py", "--seconds", "2", "--part", part], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {part} |" in done.stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_reserving_waits_for_the_disk_five_times(tmp_path: Path) -> None:
    """Journal, its folder, its length, the ledger, the folder again: SQLite at its most careful."""
    code = (
        "import sys\nfrom fractions import Fraction\nfrom sacofa.ledger import Ledger\n"
        "ledger = Ledger.create(sys.argv[1])\nledger.set_budget('visits', Fraction(9))\n"
        "for _ in range(int(sys.argv[2])):\n"
        "    ledger.reserve('visits', mechanism='m', settings='{}', price=Fraction(1),"
        " certificate='{}')\n"
    )
    waits = []
    for number in (1, 4):
        subprocess.run(
            ["strace", "-f", "--seccomp-bpf", "-e", "trace=fsync,fdatasync,sync_file_range,sync",
             "-o", tmp_path / "calls", sys.executable, "-c", code, tmp_path / f"{number}.ledger",
             str(number)],
            env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])}, check=True,
        )  # fmt: skip
        waits.append((tmp_path / "calls").read_text().count("sync("))
    assert waits[1] - waits[0] == 3 * 5
