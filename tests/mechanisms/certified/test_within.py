"""How far the figures of a release may be off: as seldom further as is said."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from sacofa import Cases, Certified, Noise, Outcome, VariantCounts
from sacofa.mechanisms import perform
from sacofa.privacy.bits import SeededBits
from sacofa.queries.flow import NearestCandidate

from .mixture import log_of

LOG = log_of([300, 120, 40, 80, 25, 0, 10])
# 575 cases at ε = 1 are few enough for the size to be asked again.
MECHANISM = Certified(epsilon=1, max_length=6, max_candidates=30, time=False)
TINY = Certified(epsilon="1/10", time=False)
"""So little that activities are not asked, and cases vote as if nothing were repeated."""
RUNS = 200


@pytest.fixture(scope="module", params=[MECHANISM, TINY], ids=["small", "tiny"])
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    """Many runs on one log."""
    return [
        perform(request.param, Cases(variants=LOG), Noise(SeededBits(seed))) for seed in range(RUNS)
    ]


def figures(log: VariantCounts, kind: str) -> Counter[object]:
    """The steps of a log, or the events of its activities, with their numbers."""
    found: Counter[object] = Counter()
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        names = [log.activities[i] for i in ids]
        for one in names if kind == "activity" else pairwise([None, *names, None]):
            found[one] += count
    return found


def inside(outcome: Outcome, kind: str, times: float) -> list[bool]:
    """Whether what is true lies within so many times the range, for each released figure."""
    assert outcome.within is not None
    within = times * (getattr(outcome.within, kind) or 0)
    released = outcome.variants
    if kind == "cases":
        return [abs(LOG.cases - released.cases) <= within]
    if kind == "variant":
        # A released variant stands for the cases that are nearest to it.
        sequences = tuple(released.sequences())
        true = NearestCandidate("all", sequences).table(LOG).tolist()
        return [abs(a - b) <= within for a, b in zip(true, released.counts.tolist(), strict=True)]
    true_figures = figures(LOG, kind)
    return [abs(true_figures[a] - n) <= within for a, n in figures(released, kind).items()]


@pytest.mark.parametrize("kind", ["cases", "variant", "step", "activity"])
def test_ranges_hold_in_95_of_100_runs(outcomes: list[Outcome], kind: str) -> None:
    """What is true lies in the range as often as is said; in a tenth of the range it does not."""
    whole, tenth = (
        float(np.mean([hit for outcome in outcomes for hit in inside(outcome, kind, times)]))
        for times in (1.0, 0.1)
    )
    # 200 numbers of cases are few: three standard deviations below 95 in 100.
    assert whole > (0.90 if kind == "cases" else 0.95)
    assert tenth < 0.9
