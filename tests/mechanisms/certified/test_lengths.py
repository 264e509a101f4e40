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
