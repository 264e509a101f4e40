"""Which activities are there, which repeat, and which a case does only once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.queries.flow import FULL_WEIGHT, ActivityVotes
from sacofa.synthesis.flow.answers import (
    activities_once,
    activities_there,
    step_weights,
)
from sacofa.synthesis.flow.tuning import TUNING

VOTES = np.array([[90_000, 0], [100, -50], [40_000, 60_000], [-3_000, 10]])
NOISE = Fraction(1, 2_000)


def test_activities_that_noise_hides_are_dropped() -> None:
    """What stands out stays, and one at least."""
    assert activities_there(np.tile(VOTES, (50, 1)), DiscreteLaplace(NOISE))[:2] == [0, 2]
    assert activities_there(np.tile(-VOTES[:1], (100, 1)), DiscreteLaplace(NOISE)) == [0]
    assert activities_there(VOTES[:0], DiscreteLaplace(NOISE)) == []


def test_what_no_case_repeats_is_done_once() -> None:
    """Up to a noise scale of votes, nothing is repeated."""
    assert activities_once(VOTES, DiscreteLaplace(NOISE)) == {0, 1, 3}
    assert activities_once(np.array([[0, 1_999], [0, 2_000]]), DiscreteLaplace(NOISE)) == {0}


def test_the_commoner_an_activity_the_less_its_steps_count() -> None:
    """Up to three noise scales of votes nothing is common; twice as many count half.

    A case gives more than five times as many votes to what it repeats, so these count a fifth.
    """
    votes = np.array([[0, 0], [3, 15], [6, 0], [12, 0], [6, 30], [600, 0], [10**9, 9**9], [-5, 0]])
    full, least = FULL_WEIGHT, TUNING.min_step_weight
    weights = step_weights(votes, DiscreteLaplace(Fraction(1, 2)), ActivityVotes(8))
    assert weights == (full, full, full, 8, 8, least, least, full)
