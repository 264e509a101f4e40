"""How far releases with a δ are from the log, next to those of pure ε, without times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from figure import Figure, median
from generated import MEASURES
from trees import KEPT

from sacofa import Certified, anonymize
from sacofa.evaluate.reproduction import find_logs
from sacofa.events import count_variants

SEEDS = range(601, 609)
"""Reserved for these figures, never used for tuning."""
EPSILONS = ("1", "0.1")
DELTAS = ("0", "1e-6")
MOST_CASES = 10_000
"""Larger generated logs are omitted, because their noise is small."""


def measure_delta(folder: Path) -> Iterator[Figure]:
    """Release the paper's logs and the generated logs that are held out."""
    logs = {name: count_variants(path) for name, path in find_logs(folder).items()}
    held_out = (log for log in KEPT if log.name.endswith("held-out"))
    logs |= {log.name: log.variants for log in held_out if log.variants.cases < MOST_CASES}
    for name, log in logs.items():
        for epsilon in EPSILONS:
            for delta in DELTAS:
                mechanism = Certified(epsilon=epsilon, delta=delta, time=False)
                releases = [anonymize(log, mechanism, seed=seed).variants for seed in SEEDS]
                for measure, distance in MEASURES.items():
                    values = [distance(log, released) for released in releases]
                    place = f"delta/{name}/{epsilon}/{delta}/{measure}"
                    yield median(place, values, seeds=f"{SEEDS[0]}-{SEEDS[-1]}")
