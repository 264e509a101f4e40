"""Compares seeded releases of this tree with those of another one, byte for byte.

    git worktree add /tmp/other COMMIT
    python benchmarks/same_releases.py /tmp/other LOGS [--certificates]

LOGS is the folder with the three logs of the paper. A change of the structure must leave all
released files as they are; with --certificates, their certificates must be equal as well.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SEPSIS_ATTRIBUTES = "org:group", "Diagnose", "Age", "InfectionSuspected"
RUNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "default.xes": ("sepsis.xes.gz", ("--epsilon", "1")),
    "flow.json": ("receipt.xes.gz", ("--epsilon", "1", "--no-time")),
    "rich.parquet": (
        "sepsis.xes.gz",
        ("--epsilon", "4", "--employees", *(f"--attribute={a}" for a in SEPSIS_ATTRIBUTES)),
    ),
    "low.csv": ("traffic_fines.xes.gz", ("--epsilon", "0.1")),
    "large.csv": ("receipt.xes.gz", ("--epsilon", "100")),
    "period.csv": ("receipt.xes.gz", ("--epsilon", "2", "--period", "2011")),
    "paper.csv": (
        "receipt.xes.gz",
        ("--mechanism", "sacofa", "--epsilon", "1", "--prune", "20", "--max-length", "10"),
    ),
    "laplace.json": (
        "traffic_fines.xes.gz",
        ("--mechanism", "laplace", "--epsilon", "1", "--prune", "20", "--max-length", "10"),
    ),
}
"""The name of each released file, the log and the options of the release."""


def main() -> int:
    """Release all logs with both trees, and compare the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="the other tree")
    parser.add_argument("logs", type=Path, help="the folder of the logs")
    parser.add_argument("--certificates", action="store_true", help="compare certificates, too")
    options = parser.parse_args()
    here = Path(__file__).parents[1]
    different = 0
    with TemporaryDirectory() as folder:
        work = Path(folder)
        for name, (log, words) in RUNS.items():
            made = [release(tree, work / place, options.logs / log, name, words)
                    for place, tree in (("other", options.other), ("here", here))]  # fmt: skip
            kept = {p for files in made for p in files if options.certificates or p == name}
            wrong = sorted(p for p in kept if made[0].get(p) != made[1].get(p))
            different += bool(wrong)
            print(f"{name:<16}{'different: ' + ', '.join(wrong) if wrong else 'equal'}", flush=True)
    return 1 if different else 0


def release(tree: Path, folder: Path, log: Path, name: str, words: tuple[str, ...]) -> dict:
    """Release a log with the sources of a tree; what it wrote."""
    folder.mkdir(exist_ok=True)
    if not log.exists():
        return {}
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = ["-m", "sacofa", "anonymize", log, "-o", folder / name, "--seed", "7", *words]
    subprocess.run([sys.executable, *map(str, command)], env=environment, check=True,
                   capture_output=True)  # fmt: skip
    return {p.name: p.read_bytes() for p in folder.glob(f"{name}*")}


if __name__ == "__main__":
    sys.exit(main())
