"""How fast: the papers' mechanisms next to pm4py's, in the same run on the same machine.

Both libraries get the same pandas frame of events through the same call and return a pandas frame,
so that each of them counts variants itself, at the paper's settings; a whole command from file to
file with its peak memory; and how the cost grows with the size of the release.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from figure import Figure

from sacofa import Laplace, VariantCounts, trace_variant_query
from sacofa.kernel import Cases, Noise
from sacofa.mechanisms.protocol import Mechanism, Outcome, perform

REPEAT = 3
PROCESSOR = "ms of the processor"

SETTINGS = {
    "receipt": (10, {"1": 3, "0.1": 25, "0.01": 220}),
    "sepsis": (23, {"1": 4, "0.1": 20, "0.01": 190}),
    "traffic_fines": (9, {"1": 2, "0.1": 20, "0.01": 150}),
}
"""Section V of the paper: k, and p for each ε."""

THEIRS = """
import sys, warnings
warnings.filterwarnings("ignore")
import pm4py
from pm4py.algo.anonymization.trace_variant_query import algorithm
log = pm4py.read_xes(sys.argv[1], return_legacy_log_object=True)
algorithm.apply(log, algorithm.Variants.SACOFA,
                {"epsilon": 1.0, "k": 9, "p": 2, "show_progress_bar": False})
"""

WATCHER = """
import resource, subprocess, sys
quiet = subprocess.DEVNULL
subprocess.run(sys.argv[1:], check=True, stdout=quiet, stderr=quiet)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def measure_speed(folder: Path) -> Iterator[Figure]:
    """All measurements of time and memory."""
    yield from compare_mechanisms(folder)
    yield from compare_commands(folder)
    yield from show_growth()


def timed(work: Callable[[], object], repeat: int) -> float:
    """The median time of some work, in seconds of the processor: other work does not count."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def run(mechanism: Mechanism, variants: VariantCounts) -> Outcome:
    """Run a mechanism on counted variants."""
    return perform(mechanism, Cases(variants=variants), Noise())


def compare_mechanisms(logs: Path) -> Iterator[Figure]:
    """Time each query from the same frame of events to a frame, ours and pm4py's."""
    # pm4py's LAPLACE calls a function that current Pythons do not have.
    importlib.util.find_loader = importlib.util.find_spec  # type: ignore[attr-defined]
    from pm4py.algo.anonymization.trace_variant_query import algorithm

    for name, (k, thresholds) in SETTINGS.items():
        events = _events(logs / f"{name}.xes.gz")
        for epsilon, p in thresholds.items():
            parameters = {"epsilon": float(epsilon), "k": k, "p": p, "show_progress_bar": False}
            for variant in ("SACOFA", "LAPLACE"):
                place = f"speed/{name}/{epsilon}/{variant.lower()}"
                us = timed(partial(trace_variant_query.apply, events, variant, parameters), REPEAT)
                yield _milliseconds(f"{place}/sacofa", us, REPEAT)
                theirs = getattr(algorithm.Variants, variant)
                them = timed(partial(algorithm.apply, events, theirs, parameters), REPEAT)
                yield _milliseconds(f"{place}/pm4py", them, REPEAT)


def _events(path: Path) -> Any:
    """The events of a log as pm4py reads them: case, activity and time."""
    import pm4py

    return pm4py.read_xes(str(path))[["case:concept:name", "concept:name", "time:timestamp"]]


def _milliseconds(name: str, seconds: float, runs: int) -> Figure:
    return Figure(name=name, value=round(seconds * 1e3, 1), unit=PROCESSOR, runs=runs)


def compare_commands(logs: Path) -> Iterator[Figure]:
    """Time a whole release of Traffic fines from XES to XES; pm4py reads and anonymizes only."""
    log = str(logs / "traffic_fines.xes.gz")
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "released.xes")
        settings = ["--mechanism", "sacofa", "--epsilon", "1", "--max-length", "9", "--prune", "2"]
        ours = [sys.executable, "-m", "sacofa", "anonymize", log, "-o", target, *settings]
        for who, command in (("sacofa", ours), ("pm4py", [sys.executable, "-c", THEIRS, log])):
            seconds, memory = measured(command)
            place = f"speed/command/{who}"
            unit = "s of the processor"
            yield Figure(name=f"{place}/seconds", value=round(seconds, 2), unit=unit)
            yield Figure(name=f"{place}/memory", value=round(memory), unit="MB at the peak")


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds of the processor and peak memory in MB of a command."""
    watched = [sys.executable, "-c", WATCHER, *command]
    ran = subprocess.run(watched, check=True, capture_output=True, text=True)
    seconds, memory = ran.stdout.split()
    return float(seconds), float(memory) / (1024 if sys.platform == "linux" else 1024**2)


def show_growth() -> Iterator[Figure]:
    """Show that the cost follows what is released, not what could be."""
    for activities in (10, 50, 100, 200, 400):
        for length in (5, 10, 20, 40) if activities in (10, 400) else (20,):
            variants = generated(activities, cases=10_000, length=length)
            # Just high enough that inventions do not multiply.
            prune = 3 if activities == 10 else 7
            mechanism = Laplace(level_epsilon=Fraction(1), max_length=length, prune=prune)
            seconds = timed(partial(run, mechanism, variants), 5)
            yield _milliseconds(f"speed/growth/{activities}/{length}", seconds, 5)


def generated(activities: int, cases: int, length: int) -> VariantCounts:
    """Make a log of a few frequent variants and a long tail, the same every time."""
    names = [f"activity {i}" for i in range(activities)]
    made: dict[tuple[str, ...], int] = {}
    for i in range(200):
        steps = tuple(names[(i * i * 7 + j * (1 + i % 3)) % activities] for j in range(length - 1))
        made[steps] = made.get(steps, 0) + max(1, cases // (4 * (i + 1)))
    return VariantCounts.of(made, activities=names)
