"""How far releases of generated logs are from the log, next to two halves of the log.

Without times, the logs of `trees.py` that are kept for such figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figure import Figure, median
from trees import KEPT

from sacofa import Certified, anonymize
from sacofa.evaluate.measures.flow import activity_error, steps_distance, trigrams_distance
from sacofa.kernel.variants import VariantCounts

SEEDS = range(901, 903)
"""Kept for these figures: whoever tunes takes others."""
EPSILONS = ("1", "10", "100")
MEASURES = {
    "steps": steps_distance,
    "trigrams": trigrams_distance,
    "activities": activity_error,
}


def measure_generated(folder: Path) -> Iterator[Figure]:
    """Release each log at several ε, and compare two random halves of it."""
    seeds = f"{SEEDS[0]}, {SEEDS[-1]}"
    for log in KEPT:
        place = f"generated/{log.name}"
        halves = split(log.variants)
        for name, measure in MEASURES.items():
            yield Figure(name=f"{place}/halves/{name}", value=round(measure(*halves), 4))
        for epsilon in EPSILONS:
            mechanism = Certified(epsilon=epsilon, time=False)
            releases = [anonymize(log.variants, mechanism, seed=seed).variants for seed in SEEDS]
            for name, measure in MEASURES.items():
                values = [measure(log.variants, released) for released in releases]
                yield median(f"{place}/{epsilon}/{name}", values, seeds=seeds)


def split(log: VariantCounts) -> tuple[VariantCounts, VariantCounts]:
    """Two random halves of a log, always the same."""
    first = np.random.default_rng(1).binomial(log.counts, 0.5)
    return _with_counts(log, first), _with_counts(log, log.counts - first)


def _with_counts(log: VariantCounts, counts: np.ndarray) -> VariantCounts:
    there = [(ids, n) for ids, n in zip(log.sequences(), counts.tolist(), strict=True) if n]
    return VariantCounts.from_arrays(
        log.activities,
        [i for ids, _ in there for i in ids],
        [len(ids) for ids, _ in there],
        [n for _, n in there],
    )
