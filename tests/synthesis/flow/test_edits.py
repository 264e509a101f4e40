"""What one change makes of a usual sequence: all of it, the likeliest first."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sacofa.kernel.language import Ids
from sacofa.kernel.queries.flow import FULL_WEIGHT
from sacofa.synthesis.flow.candidates import likely_edits
from sacofa.synthesis.flow.steps import StepOdds
from sacofa.synthesis.flow.tuning import TUNING

Floats = NDArray[np.float64]
USUAL = (0, 1, 2, 3, 4, 5)
ACTIVITIES = 27
SWAPPED = (0, 4, 5, 1, 2, 3)


def steps_of(ids: Ids, activities: int) -> list[tuple[int, int]]:
    """The steps of a sequence, with beginning and end."""
    return list(pairwise((activities, *ids, activities)))


def odds_of(votes: Floats, cases: float) -> StepOdds:
    """Odds by votes in noise scales, where all steps counted the same."""
    weights = np.full(votes.shape, FULL_WEIGHT, dtype=np.int64)
    return StepOdds(votes=votes, weights=weights, cases=cases)


def noisy_votes(seed: int, cases: dict[Ids, int], scale: float) -> Floats:
    """What cases vote for steps, one vote each, in scales of its noise."""
    votes = np.zeros((ACTIVITIES + 1, ACTIVITIES + 1))
    for ids, number in cases.items():
        for step in steps_of(ids, ACTIVITIES):
            votes[step] += number / (len(ids) + 1)
    return votes / scale + np.random.default_rng(seed).laplace(size=votes.shape)


def plain_edits(usual: Ids) -> set[Ids]:
    """Every change of order, and every skip."""
    number = len(usual)
    found: set[Ids] = set()
    for i in range(number):
        parts = [*range(i, min(i + TUNING.longest_change, number) + 1), number]
        for j in parts[1:]:
            found.add(usual[:i] + usual[j:])
            for k in (
                range(j + 1, min(j + TUNING.longest_change, number) + 1)
                if j <= i + TUNING.longest_change
                else ()
            ):
                found.add(usual[:i] + usual[j:k] + usual[i:j] + usual[k:])
    return found


@given(st.permutations(range(7)), st.integers(0, 7), st.integers(0, 10_000))
def test_the_likeliest_changes_come_first(names: list[int], number: int, seed: int) -> None:
    """All of them are there, and a change is as likely as its steps."""
    usual, activities = tuple(names[:number]), 9
    odds = np.random.default_rng(seed).normal(0, 3, (activities + 1, activities + 1))
    for step in steps_of(usual, activities):
        odds[step] = 0
    found = list(likely_edits(usual, odds))
    assert len({*found}) == len(found)
    assert {*found} == plain_edits(usual)
    scores = [sum(odds[step] for step in steps_of(ids, activities)) for ids in found]
    assert scores == pytest.approx(sorted(scores, reverse=True))


def test_odds_are_those_of_votes() -> None:
    """They rise with votes, up to a bound; a sequence's own steps say nothing."""
    votes = np.full((4, 4), -2.0)
    votes[0] = [1, 3, 9, 90]
    odds = odds_of(votes, 200.0).beside((1, 2))
    assert odds[3, 1] == odds[1, 2] == odds[2, 3] == 0
    assert odds[1, 1] < 0 < odds[0, 1] < odds[0, 2] == odds[0, 3] <= TUNING.clear_step
    # Of few cases a step has few votes, and no step tells much.
    few = odds_of(votes, 1.0).beside((1, 2))
    assert np.abs(few).max() < 0.5
    # What rules forbid is as unlikely as can be, and still a number.
    assert np.isfinite(odds_of(np.full((4, 4), -np.inf), 200.0).beside((1,))).all()


@pytest.mark.parametrize(("blind", "expected"), [(False, True), (True, False)])
def test_steps_that_noise_hides_stand_out_together(blind: bool, expected: bool) -> None:
    """A tenth of the cases does two parts in the other order; each new step has a noise scale.

    The change is among the first twenty in nearly all runs. Whoever does not look at the votes
    finds it in hardly any.
    """
    cases = {USUAL: 900, SWAPPED: 140}
    found = 0
    for seed in range(40):
        votes = noisy_votes(seed, cases, 20.0)
        if blind:
            votes = noisy_votes(seed, {}, 20.0)
        edits = likely_edits(USUAL, odds_of(votes, 1_040 / 20).beside(USUAL))
        found += SWAPPED in [ids for ids, _ in zip(edits, range(20), strict=False)]
    assert (found > 30) == expected
    assert blind == (found < 20)


def test_changes_of_a_long_sequence_take_little_room() -> None:
    """A thousand events in a row: only what is taken is written out."""
    draw = np.random.default_rng(1)
    long = tuple(draw.integers(0, ACTIVITIES, 1_000).tolist())
    odds = odds_of(noisy_votes(1, {}, 1.0), 50.0).beside(long)
    tracemalloc.start()
    first = [ids for ids, _ in zip(likely_edits(long, odds), range(20), strict=False)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(first) == 20 and peak < 60 * 2**20
