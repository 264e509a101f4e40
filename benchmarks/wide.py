"""How much of a log with hundreds of activities survives: one made up like those of permits.

In such logs a few dozen activities are in most cases, in much the same order, and each of hundreds
of others in a few. No two cases are the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figure import Figure, median

from sacofa import Certified, anonymize
from sacofa.evaluate.measures.flow import similarity, steps_distance
from sacofa.kernel.variants import VariantCounts

CASES, ACTIVITIES, COMMON = 1_200, 400, 60
SEEDS = range(801, 811)
"""Kept for these figures: whoever tunes takes others."""
EPSILONS = (1, 4)


def measure_wide(folder: Path) -> Iterator[Figure]:
    """Release it at two ε, beside what a second sample of the same process shows."""
    log, other = permits(1), permits(2)
    yield Figure(name="wide/events of a case", value=round(log.events / log.cases, 1))
    yield Figure(name="wide/sample/similarity", value=round(similarity(log, other), 4))
    yield Figure(name="wide/sample/steps", value=round(steps_distance(log, other), 4))
    for epsilon in EPSILONS:
        found: dict[str, list[float]] = {"similarity": [], "steps": [], "seconds": []}
        for seed in SEEDS:
            start = time.process_time()
            released = anonymize(log, Certified(epsilon=epsilon), seed=seed).variants
            found["seconds"].append(time.process_time() - start)
            found["similarity"].append(similarity(log, released))
            found["steps"].append(steps_distance(log, released))
        seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
        for measure, values in found.items():
            unit = "s of the processor" if measure == "seconds" else ""
            yield median(f"wide/{epsilon}/{measure}", values, unit=unit, seeds=seeds)


def permits(seed: int) -> VariantCounts:
    """Make up the log: the common activities in order, most of them, and rare ones in between."""
    draw = np.random.default_rng(seed)
    names = [f"activity {i:03}" for i in range(ACTIVITIES)]
    # The same process for every seed: how often each common activity happens, where rare ones do.
    process = np.random.default_rng(0)
    chance = process.beta(3, 1.2, COMMON)
    rare = 1 / np.arange(3, ACTIVITIES - COMMON + 3)
    place = process.random(len(rare)) * COMMON
    cases = []
    for _ in range(CASES):
        # Neighbours change places now and then.
        there = np.flatnonzero(draw.random(COMMON) < chance)
        when = dict(zip(there.tolist(), (there + draw.normal(0, 0.4, len(there))), strict=True))
        for i in draw.choice(len(rare), int(draw.poisson(2)), p=rare / rare.sum()).tolist():
            when[COMMON + i] = place[i] + draw.normal(0, 1)
        cases.append([names[i] for i in sorted(when, key=lambda i: float(when[i]))])
    return VariantCounts.from_cases(cases).project_onto(names)
