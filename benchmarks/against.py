"""Compares the mechanism of this tree with that of another one, on one large log made up.

    git worktree add /tmp/other COMMIT
    python benchmarks/against.py /tmp/other [--cases 800000]

Each tree runs in a process of its own, on the same variants and with the same seed. Printed are
seconds of the processor, the most memory held, and the hash of the release: equal ones are equal
byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    """Count the log once, and let each tree release it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="the other tree")
    parser.add_argument("--cases", default="800000", help="how many cases the log has")
    options = parser.parse_args()
    here = Path(__file__).parents[1]
    with TemporaryDirectory() as folder:
        log, variants = Path(folder) / "log.parquet", Path(folder) / "variants"
        run(here, "-m", "sacofa", "generate", "-o", log, "--cases", options.cases)
        run(here, __file__, "--count", log, variants)
        for _ in range(3):
            for tree in (options.other, here):
                run(tree, __file__, "--release", variants)


def run(tree: Path, *words: object) -> None:
    """Run Python with the sources of a tree, and with one thread."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *map(str, words)], env=environment, check=True)


def count(log: str, target: str) -> None:
    """Count the variants of a log, and keep them for both trees."""
    from sacofa import count_variants

    counted = count_variants(log)
    print(f"{counted.cases:,} cases in {len(counted):,} variants")
    Path(target).write_bytes(pickle.dumps(counted))


def release(variants: str) -> None:
    """Release them, and print what that took."""
    import sacofa

    content = pickle.loads(Path(variants).read_bytes())
    start = time.process_time()
    made = sacofa.anonymize(content, sacofa.Certified(epsilon=1, time=False), seed=1).variants
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    digest = hashlib.sha256(made.activity_ids.tobytes() + made.counts.tobytes()).hexdigest()[:12]
    tree = Path(sacofa.__file__).parents[2]
    print(f"{tree}: {seconds:.1f} s of the processor, {megabytes:,.0f} MB, release {digest}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--count", log, target]:
            count(log, target)
        case ["--release", variants]:
            release(variants)
        case _:
            main()
