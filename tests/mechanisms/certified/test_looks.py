"""What each look asks for, added up case by case."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sacofa.privacy.noise import Noise
from sacofa.queries.session import VOTE_UNITS, Ints, Looks

from ...semantics.cases import logs, variants_of
from ...semantics.oracle import Case


class Bare(Noise):
    """No noise at all, to see what it would have been added to."""

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)


@given(logs(), st.integers(1, 8))
def test_a_case_spreads_its_votes_over_its_steps(log: tuple[list[Case], int], length: int) -> None:
    """The table of all votes is what the steps of every case add up to, one by one.

    Cases that are shorter than the cut are finished, whatever was known of them before.
    """
    cases, size = log
    expected = np.zeros((size + 1, size + 1), dtype=np.int64)
    for ids, _ in cases:
        path = [size, *ids[:length], *([size] if len(ids) < length else [])]
        for a, b in pairwise(path):
            expected[a, b] += VOTE_UNITS // (len(path) - 1)
    looks = Looks(variants_of(cases, size), Bare())
    looks.truncate(length)
    votes = looks.steps(Fraction(1))
    assert votes.tolist() == expected.tolist()
