"""Where cases are truncated if nobody says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sacofa.kernel.laws import DiscreteLaplace
from sacofa.synthesis.flow.answers import (
    bin_edges,
    choose_length,
    known_length,
    mean_length,
)
from sacofa.synthesis.flow.tuning import TUNING


def test_lengths_are_chosen_where_cases_end() -> None:
    """Nearly all cases are no longer than the choice; noise alone changes nothing."""
    edges = bin_edges(100)
    assert edges[0] == 1 and edges[-1] == 100 and edges == sorted(set(edges))
    votes = np.full(len(edges), 30)
    votes[edges.index(12)], votes[edges.index(18)] = 500, 300
    # Three bins more than what is seen: noise hides the few cases that are longest.
    chosen = edges[edges.index(18) + TUNING.spare_lengths]
    assert (
        choose_length(edges, votes, DiscreteLaplace(Fraction(1, 20)), 850)
        == (chosen, False)
        == (62, False)
    )
    nothing = np.zeros(len(edges), dtype=np.int64)
    assert choose_length(edges, nothing, DiscreteLaplace(Fraction(1, 20)), 850) == (30, True)
    assert choose_length(bin_edges(7), nothing[:5], DiscreteLaplace(Fraction(1)), 1) == (7, True)


def test_lengths_far_beyond_all_others_take_more_to_believe() -> None:
    """Noise that puts a twentieth of the cases into a bin of long ones would ruin a release."""
    edges, epsilon = bin_edges(1_000), Fraction(1, 20)
    votes = np.zeros(len(edges), dtype=np.int64)
    votes[edges.index(8)] = 1_000
    plain, _ = choose_length(edges, votes, DiscreteLaplace(epsilon), 1_000)
    for length, number, believed in [(27, 160, True), (473, 160, False), (473, 300, True)]:
        some = votes.copy()
        some[edges.index(length)] = number
        assert (choose_length(edges, some, DiscreteLaplace(epsilon), 1_000)[0] > plain) == believed
    # What noise adds below is no reason to doubt what most cases are.
    votes[0] = 200
    assert choose_length(edges, votes, DiscreteLaplace(epsilon), 1_200) == (plain, False)


def test_where_noise_hides_the_lengths_of_many_they_are_not_taken_for_short() -> None:
    """Half of the cases end after one event; noise hides the bins that the others are in."""
    edges, epsilon = bin_edges(1_000), Fraction(1, 20)
    votes = np.zeros(len(edges), dtype=np.int64)
    votes[0], votes[5:11] = 500, 80
    assert choose_length(edges, votes, DiscreteLaplace(epsilon), 980) == (30, True)
    # A few hidden ones may be anything: no reason to doubt the rest.
    assert choose_length(edges, votes, DiscreteLaplace(epsilon), 600) == (
        edges[TUNING.spare_lengths],
        False,
    )
    # What is seen of longer ones is longer still.
    votes[edges.index(62)] = 200
    assert choose_length(edges, votes, DiscreteLaplace(epsilon), 1_180) == (30, True)
    votes[edges.index(12)], votes[edges.index(27)] = 300, 300
    assert choose_length(edges, votes, DiscreteLaplace(epsilon), 1_900)[0] > 30


def test_the_mean_length_is_that_of_what_is_seen() -> None:
    """Noise in bins of long cases would move it by more than all cases do."""
    edges, epsilon = bin_edges(1_000), Fraction(1, 20)
    votes = np.full(len(edges), 30)
    assert mean_length(edges, votes, DiscreteLaplace(epsilon)) is None
    votes[edges.index(5)], votes[edges.index(12)] = 300, 400
    assert mean_length(edges, votes, DiscreteLaplace(epsilon)) == 9.0


def test_of_few_lengths_the_longest_is_chosen_whatever_is_answered() -> None:
    """So it is known beforehand; of more of them it is not."""
    draw = np.random.default_rng(2)
    for longest in range(1, 12):
        edges = bin_edges(longest)
        chosen = {
            choose_length(edges, votes, DiscreteLaplace(Fraction(1, 20)), cases)[0]
            for votes in draw.integers(-500, 900, (200, len(edges)))
            for cases in (1, 1_000)
        }
        known = known_length(longest)
        assert (chosen == {longest}) == (known == longest)
        assert known in (None, longest)
