"""What public rules give, as figures (the measuring itself is in models.py)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from figure import Figure
from models import EPSILON, LOGS, mean_and_error, releases

RUNS = {"sepsis": 20, "receipt": 20, "traffic_fines": 5}
FEWER = 10
"""At ε = 1, where runs take longer and differ less."""


def measure_rules(folder: Path) -> Iterator[Figure]:
    """Similarity with each kind of rules at ε = 0.1; without and with learnt ones at ε = 1."""
    for epsilon in (EPSILON, "1"):
        for name in LOGS if epsilon == EPSILON else ("sepsis", "receipt"):
            runs = RUNS[name] if epsilon == EPSILON else FEWER
            seeds = f"1000 to {999 + runs}, for each of 4 ways to halve the log (seeds 0 to 3)"
            path = folder / f"{name}.xes.gz"
            for kind, halves in releases(name, path, epsilon, runs).items():
                place = f"rules/{name}/{epsilon}/{kind}"
                middle = statistics.mean(statistics.median(values) for values in halves)
                total = runs * len(halves)
                yield Figure(
                    name=f"{place}/median", value=round(middle, 4), runs=total, seeds=seeds
                )
                mean, error = mean_and_error(halves)
                yield Figure(
                    name=f"{place}/mean", value=round(mean, 4), runs=total, seeds=seeds,
                    low=round(mean - error, 4), high=round(mean + error, 4),
                )  # fmt: skip
