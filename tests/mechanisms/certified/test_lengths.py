"""Where cases are truncated if nobody says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sacofa.mechanisms.certified.lengths import MARGIN, bin_edges, choose_length


def test_lengths_are_chosen_where_cases_end() -> None:
    """Nearly all cases are no longer than the choice; noise alone changes nothing."""
    edges = bin_edges(100)
    assert edges[0] == 1 and edges[-1] == 100 and edges == sorted(set(edges))
    votes = np.full(len(edges), 30)
    votes[edges.index(12)], votes[edges.index(18)] = 500, 300
    # Two bins more than what is seen: noise hides the few cases that are longest.
    assert choose_length(edges, votes, Fraction(1, 20)) == edges[edges.index(18) + MARGIN] == 41
    assert choose_length(edges, np.zeros(len(edges), dtype=np.int64), Fraction(1, 20)) == 30
    assert choose_length(bin_edges(7), np.zeros(5, dtype=np.int64), Fraction(1)) == 7


def test_lengths_far_beyond_all_others_take_more_to_believe() -> None:
    """Noise that puts a twentieth of the cases into a bin of long ones would ruin a release."""
    edges, epsilon = bin_edges(1_000), Fraction(1, 20)
    votes = np.zeros(len(edges), dtype=np.int64)
    votes[edges.index(8)] = 1_000
    plain = choose_length(edges, votes, epsilon)
    for length, number, believed in [(27, 160, True), (473, 160, False), (473, 300, True)]:
        some = votes.copy()
        some[edges.index(length)] = number
        assert (choose_length(edges, some, epsilon) > plain) == believed
    # What noise adds below is no reason to doubt what most cases are.
    votes[0] = 200
    assert choose_length(edges, votes, epsilon) == plain
