"""Whether verdicts are right: predicted and measured errors of releases of held-out logs.

The logs are those that `trees.py` holds out and random ones of processes that no limit was set on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figure import Figure, median
from trees import KEPT, KINDS, TreeLog

from sacofa import Certified, anonymize
from sacofa.evaluate.measures.flow import activity_error, steps_distance

EDGES, ACTIVITIES = 0.15, 0.05
"""A release whose measured errors are larger must not be called reliable."""
EPSILONS = ("1", "3")
SEEDS = range(901, 903)
"""Kept for these figures: whoever tunes takes others."""
RANDOM_LOGS = range(7001, 7061)
"""Seeds of processes, cases and noise of random logs: kept as well."""
RANDOM_EPSILONS = ("3/10", "11/20", "1", "1", "3", "10")


def measure_verdict(folder: Path) -> Iterator[Figure]:
    """Release each log, and compare what the verdict predicts with what is measured."""
    found: dict[str, list[tuple[float, ...]]] = {}
    runs = 0
    for log, epsilon, seed in _runs():
        runs += 1
        release = anonymize(log.variants, Certified(epsilon=epsilon), seed=seed)
        verdict = release.certificate.verdict
        assert verdict is not None
        edges = steps_distance(log.variants, release.variants)
        activities = activity_error(log.variants, release.variants)
        wrong = edges > EDGES or activities > ACTIVITIES
        predicted = verdict.errors
        row = (edges, activities, wrong, edges / predicted.edges, activities / predicted.activities)
        found.setdefault(verdict.sureness.value, []).append(row)
    seeds = f"{SEEDS[0]}, {SEEDS[-1]}, {RANDOM_LOGS[0]} to {RANDOM_LOGS[-1]}"
    yield Figure(name="verdict/releases", value=runs, runs=runs, seeds=seeds)
    for word, rows in found.items():
        edges, activities, wrong, of_edges, of_activities = zip(*rows, strict=True)
        place = f"verdict/{word}"
        count = len(rows)
        yield Figure(name=f"{place}/releases", value=count, runs=count, seeds=seeds)
        share = round(float(np.mean(wrong)), 4)
        yield Figure(name=f"{place}/wrong", value=share, runs=count, seeds=seeds)
        for measure, values in (
            ("edges", edges), ("activities", activities),
            ("edges of predicted", of_edges), ("activities of predicted", of_activities),
        ):  # fmt: skip
            yield median(f"{place}/{measure}", values, seeds=seeds)
            top = round(float(np.quantile(values, 0.95)), 4)
            yield Figure(name=f"{place}/{measure}/95", value=top, runs=count, seeds=seeds)


def _runs() -> Iterator[tuple[TreeLog, str, int]]:
    """Logs with an ε and the seed of the noise."""
    for log in KEPT:
        if log.held_out:
            yield from ((log, epsilon, seed) for epsilon in EPSILONS for seed in SEEDS)
    for seed in RANDOM_LOGS:
        draw = np.random.default_rng(seed)
        log = TreeLog(
            cases=int(np.exp(draw.uniform(np.log(400), np.log(15_000)))),
            activities=int(np.exp(draw.uniform(np.log(5), np.log(70)))),
            kind=list(KINDS)[seed % len(KINDS)],
            seed=seed,
            held_out=True,
        )
        yield log, str(draw.choice(RANDOM_EPSILONS)), seed
