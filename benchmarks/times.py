"""How good released times are, and what they cost: releases at ε = 1.

How good they are is told by medians, each beside that of two random halves of the log (median of
five splits). What they cost is told by made-up logs of ten million events, released from Parquet to
Parquet with times and without, in turn: the least of some runs, as other programs only add to it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
from figure import Figure, median
from reading import sample
from speed import measured

from sacofa import Certified, open_log
from sacofa.base.batches import cases_of, gather
from sacofa.evaluate.measures.flow import similarity
from sacofa.evaluate.measures.times import (
    Indicator,
    Timed,
    arrivals_distance,
    bottlenecks_kept,
    cycle_time_distance,
    cycle_time_error,
    mean_cycle_ratio,
    waits,
)
from sacofa.evaluate.reproduction import find_logs
from sacofa.events import read_cases
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.noise import Noise
from sacofa.mechanisms import perform

SEEDS = range(601, 621)
"""Kept for these figures: whoever tunes takes others."""
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

EVENTS, RUNS = 10_000_000, 5
MADE = """
copy (
  select case_id, 'activity ' || ((case_id * 7 + place * (1 + case_id % 3)) % 12) as activity,
         timestamp '2020-01-01' + to_seconds(case_id % 86400 * 700 + place * (60 + case_id % 9000))
             as time
  from range({cases}) t(case_id), range(10) p(place)
) to '{path}' (format parquet)
"""


def measure_times(folder: Path) -> Iterator[Figure]:
    """Release each log often; its figures stand beside those of two halves."""
    for name, path in find_logs(folder).items():
        by_case = gather(read_cases(open_log(path)).by_case)
        cases = Cases(variants=by_case.variants(), by_case=by_case)
        rows, asked = [], []
        for seed in SEEDS:
            outcome = perform(Certified(epsilon=1), cases, Noise(SeededBits(seed)))
            released = cases_of(outcome.log.variants, outcome.log.times * 1_000_000)
            rows.append(compared(by_case, released))
            asked.append(indicators(released))
        halves = []
        for split in range(SPLITS):
            one = np.random.default_rng(split).permutation(by_case.cases) < by_case.cases // 2
            halves.append(compared(by_case.where(one), by_case.where(~one)))
        seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
        for place, column in enumerate(COLUMNS):
            yield median(f"times/{name}/{column}", [row[place] for row in rows], seeds=seeds)
            limit = [half[place] for half in halves]
            yield median(f"times/{name}/{column}/halves", limit, seeds=f"0 to {SPLITS - 1}")
        if ASKED[0].split('"')[1] in by_case.activities:
            for place, (text, true) in enumerate(zip(ASKED, indicators(by_case), strict=True)):
                yield Figure(name=f"times/{name}/{text}/log", value=round(true, 4))
                found = [row[place] for row in asked if not np.isnan(row[place])]
                yield median(f"times/{name}/{text}", found, seeds=seeds)


def compared(original: CaseBatch, released: CaseBatch) -> list[float]:
    """One figure for each column."""
    left, right = Timed.both(original, released)
    return [
        similarity(original.variants(), released.variants()),
        cycle_time_error(left, right),
        mean_cycle_ratio(left, right),
        *waits(left, right),
        bottlenecks_kept(left, right),
        arrivals_distance(left, right),
        cycle_time_distance(left, right),
    ]


def indicators(log: CaseBatch) -> list[float]:
    """The figures that doctors ask for."""
    timed = Timed.of(log, sorted(log.activities))
    return [Indicator.parse(text).of(timed) for text in ASKED]


def measure_cost(folder: Path) -> Iterator[Figure]:
    """Release made-up logs with times and without: seconds of the processor, memory, the ratio."""
    with tempfile.TemporaryDirectory(prefix="sacofa-") as made:
        few = Path(made) / "few.parquet"
        duckdb.sql(MADE.format(cases=EVENTS // 10, path=few))
        yield from _cost("few variants", str(few), Path(made))
        yield from _cost("many variants", sample(Path(made), EVENTS), Path(made))


def _cost(name: str, log: str, folder: Path) -> Iterator[Figure]:
    seconds: dict[str, list[float]] = {"--no-time": [], "--time": []}
    memory: dict[str, list[float]] = {"--no-time": [], "--time": []}
    target = ["-o", str(folder / "released.parquet"), "--epsilon", "1", "--force"]
    for _ in range(RUNS):
        for option in seconds:
            command = [sys.executable, "-m", "sacofa", "anonymize", log, *target, option]
            used, peak = measured(command)
            seconds[option].append(used)
            memory[option].append(peak)
    least = {option: min(runs) for option, runs in seconds.items()}
    for option, what in (("--no-time", "flow"), ("--time", "times")):
        place = f"cost/{name}/{what}"
        unit = "s of the processor"
        yield Figure(name=f"{place}/seconds", value=round(least[option], 1), unit=unit, runs=RUNS)
        peak = round(max(memory[option]))
        yield Figure(name=f"{place}/memory", value=peak, unit="MB at the peak", runs=RUNS)
    ratio = round(least["--time"] / least["--no-time"], 2)
    unit = "times the seconds of the processor"
    yield Figure(name=f"cost/{name}/ratio", value=ratio, unit=unit, runs=RUNS)
