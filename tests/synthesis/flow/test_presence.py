"""No activity that was asked about vanishes from a release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sacofa import Certified, VariantCounts
from sacofa.kernel import Cases, Noise
from sacofa.kernel.bits import SeededBits
from sacofa.mechanisms import perform
from sacofa.synthesis.flow.release import insert_missing
from sacofa.synthesis.flow.tuning import TUNING

VOTES = np.full((5, 5), -1.0)
VOTES[0, 2] = VOTES[2, 1] = 4.0
VOTES[1, 3] = VOTES[3, 4] = 3.0


def test_missing_activities_are_inserted_where_votes_support_them() -> None:
    """Into the sequence of most cases; the number of cases stays."""
    released = {(0, 1): 50, (0, 0, 1): 60, (1,): 10}
    found = insert_missing(released, VOTES, 10)
    assert found == {(0, 1): 50, (0, 0, 1): 58, (1,): 10, (0, 0, 2, 1): 1, (0, 0, 1, 3): 1}


def test_few_cases_are_changed() -> None:
    """At most one of so many, the activity with the most votes first."""
    found = insert_missing({(0, 1): TUNING.cases_each_insertion}, VOTES, 10)
    assert found == {(0, 1): TUNING.cases_each_insertion - 1, (0, 2, 1): 1}
    less = {(0, 1): TUNING.cases_each_insertion - 1}
    assert insert_missing(less, VOTES, 10) == less


def test_no_case_reaches_the_length_at_which_cases_are_truncated() -> None:
    """It would become an unfinished one."""
    released = {(0, 1): 100, (1,): 50}
    assert insert_missing(released, VOTES, 3) == {(0, 1): 100, (1,): 48, (2, 1): 1, (1, 3): 1}
    assert insert_missing(released, VOTES, 2) == released


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1)])
def test_an_activity_of_a_quarter_of_long_cases_is_in_every_release(epsilon: Fraction) -> None:
    """Its votes drown: 40 other activities are in all cases, and it has a place of its own."""
    common = [f"a{i:02}" for i in range(40)]
    counts = {(*common[:9], name, *common[9:]): 200 for name in ("x", "y", "z")}
    log = VariantCounts.of({**counts, tuple(common): 200})
    for seed in range(4):
        outcome = perform(Certified(epsilon=epsilon), Cases(variants=log), Noise(SeededBits(seed)))
        assert outcome.log.variants.used() == list(log.activities)
