"""How good released times are, and what they cost: medians of fresh releases at ε = 1.

    python benchmarks/times.py LOGS [--runs N] [--seed FIRST]
    python benchmarks/times.py --events N [--events N ...]

LOGS holds the paper's logs; each figure stands beside that of two random halves of the log (median
of five splits). With --events, a made-up log of so many events is released from a Parquet file,
with times and without, and both are timed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from sacofa import Certified, open_log
from sacofa.cases import CaseBatch, Cases, gather
from sacofa.evaluation.measures.distances import cycle_time_distance
from sacofa.evaluation.measures.indicators import Indicator
from sacofa.evaluation.measures.performance import performance
from sacofa.evaluation.measures.similarity import similarity
from sacofa.evaluation.measures.timed import Timed
from sacofa.evaluation.reproduction import find_logs
from sacofa.logs import read_cases
from sacofa.mechanisms import perform
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise

SPLITS = 5
COLUMNS = (
    "similarity", "cycle time", "mean ratio", "waits", "gone", "bottlenecks", "arrivals", "CTD h",
)  # fmt: skip
ASKED = (
    'median time from "ER Registration" to first "Admission NC"',
    'share with time from "ER Sepsis Triage" to first "IV Antibiotics" under 1 h',
    'share with time from "ER Sepsis Triage" to first "LacticAcid" under 3 h',
)
"""What doctors ask of the log of sepsis patients."""

MADE = """
copy (
  select case_id, 'activity ' || ((case_id * 7 + place * (1 + case_id % 3)) % 12) as activity,
         timestamp '2020-01-01' + to_seconds(case_id % 86400 * 700 + place * (60 + case_id % 9000))
             as time
  from range({cases}) t(case_id), range(10) p(place)
) to '{path}' (format parquet)
"""


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=9_300)
    parser.add_argument("--events", type=int, action="append", default=[])
    given = parser.parse_args()
    if given.logs is not None:
        for name, path in find_logs(given.logs).items():
            show_quality(name, path, range(given.seed, given.seed + given.runs))
    for events in given.events:
        show_cost(events)


def show_quality(name: str, path: Path, seeds: range) -> None:
    """Release a log often, and print medians and quartiles beside two halves."""
    by_case = gather(read_cases(open_log(path)).by_case)
    cases = Cases(variants=by_case.variants(), by_case=by_case)
    rows, asked = [], []
    for seed in seeds:
        outcome = perform(Certified(epsilon=1), cases, Noise(SeededBits(seed)))
        released = CaseBatch.of_variants(outcome.variants, outcome.times * 1_000_000)
        rows.append(compared(by_case, released))
        asked.append(indicators(released))
    halves = []
    for split in range(SPLITS):
        one = np.random.default_rng(split).permutation(by_case.cases) < by_case.cases // 2
        halves.append(compared(by_case.where(one), by_case.where(~one)))
    low, middle, high = np.percentile(rows, [25, 50, 75], axis=0)
    limit = np.median(halves, axis=0)
    print(f"{name} ({len(rows)} runs)")
    for place, column in enumerate(COLUMNS):
        quartiles = f"({low[place]:.3g}-{high[place]:.3g})"
        print(f"  {column:12} {middle[place]:8.3g} {quartiles:16} halves {limit[place]:.3g}")
    if ASKED[0].split('"')[1] in by_case.activities:
        for text, true, found in zip(ASKED, indicators(by_case), np.array(asked).T, strict=True):
            low, middle, high = np.nanpercentile(found, [25, 50, 75])
            print(f"  {text}: log {true:.3g}, release {middle:.3g} ({low:.3g}-{high:.3g})")
    sys.stdout.flush()


def compared(original: CaseBatch, released: CaseBatch) -> list[float]:
    """One figure for each column."""
    left, right = Timed.both(original, released)
    found = performance(left, right)
    return [
        similarity(original.variants(), released.variants()),
        found.cycle_time,
        found.mean_ratio,
        found.waits,
        found.gone,
        found.bottlenecks,
        found.arrivals,
        cycle_time_distance(left, right),
    ]


def indicators(log: CaseBatch) -> list[float]:
    """The figures that doctors ask for."""
    timed = Timed.of(log, sorted(log.activities))
    return [Indicator.parse(text).of(timed) for text in ASKED]


def show_cost(events: int) -> None:
    """Release a made-up log with times and without, and print the processor's seconds of both."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        duckdb.sql(MADE.format(cases=events // 10, path=path))
        seconds = {}
        for option in ("--no-time", "--time"):
            begin = _used()
            command = [sys.executable, "-m", "sacofa", "anonymize", str(path), "--force"]
            command += ["-o", str(Path(folder) / "released.parquet"), "--epsilon", "1", option]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[option] = _used() - begin
    with_times, without = seconds["--time"], seconds["--no-time"]
    print(f"{events:,} events: {without:.1f} s without times, {with_times:.1f} s with them")
    print(f"  {with_times / without:.2f} times as long")


def _used() -> float:
    """What the processor did for commands so far; others on the machine make no difference."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
