"""The semantics that votes buy: kept steps lie on a way from beginning to end."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import FULL_WEIGHT, StepVotes
from sacofa.synthesis.flow.chain import Chain
from sacofa.synthesis.flow.steps import (
    KeptSteps,
    StepOdds,
    _reached,
    connect,
    keep_steps,
    likeliest_ways,
)
from sacofa.synthesis.flow.tuning import TUNING
from sacofa.synthesis.numerics import draw_uniform

small = st.integers(-30, 60)


IMPOSSIBLE = int(np.iinfo(np.int64).min)
Steps = tuple[tuple[int, int], ...]
EVERY: list[Steps] = [
    tuple(pairwise((3, *inside, 3)))
    for length in (1, 2, 3)
    for inside in permutations(range(3), length)
]
"""Every way through three activities that visits none twice."""


def score(row: list[list[float]], cases: float, way: Steps, length: int) -> float:
    """How much likelier noisy votes are if cases of this length take a way, written out."""
    most = cases / (length + 1)
    whole = 0.0
    for a, b in way:
        shares = [min(share * most, TUNING.clear_step) for share in TUNING.path_shares]
        each = [exp(min(max(2 * row[a][b] - more, -more), more)) for more in shares]
        whole += log(sum(each) / len(each)) - log(3) / 2
    return whole


@given(
    st.lists(
        st.lists(st.floats(-5, 15) | st.just(-inf), min_size=4, max_size=4), min_size=4, max_size=4
    ),
    st.floats(1, 200),
)
def test_the_likeliest_ways_are_the_likeliest(rows: list[list[float]], cases: float) -> None:
    """As many as are wanted of all possible ones, whatever the length of cases; the best first."""
    weights = np.full((4, 4), FULL_WEIGHT, dtype=np.int64)
    odds = StepOdds(votes=np.array(rows), weights=weights, cases=cases)
    found = [tuple(way) for way in likeliest_ways(odds)]
    ways = [way for way in EVERY if all(rows[a][b] > -inf for a, b in way)]
    assert set(found) <= set(ways)
    best = sorted(
        (score(rows, cases, way, length) for length in TUNING.path_lengths for way in ways),
        reverse=True,
    )
    if ways:
        first = max(score(rows, cases, found[0], length) for length in TUNING.path_lengths)
        assert first == pytest.approx(best[0])
    assert len(found) == len(TUNING.path_lengths) * min(TUNING.branches, len(ways))


def test_many_steps_of_as_many_votes_as_cases_would_give_beat_two_lucky_ones() -> None:
    """Noise makes the way whose steps have most votes; the likeliest is what cases do."""
    votes = np.zeros((9, 9))
    for a, b in pairwise((8, *range(6), 8)):
        votes[a, b] = 3.0
    votes[8, 6] = votes[6, 8] = 10.0
    odds = StepOdds(votes=votes, weights=np.full((9, 9), FULL_WEIGHT), cases=21.0)
    assert likeliest_ways(odds)[0] == list(pairwise((8, *range(6), 8)))


def test_without_cases_or_activities_no_way_is_likely() -> None:
    """Nothing is drawn from nothing."""
    one = np.ones((1, 1), dtype=np.int64)
    assert likeliest_ways(StepOdds(votes=one * 9.0, weights=one, cases=9.0)) == []
    two = np.ones((2, 2), dtype=np.int64)
    assert likeliest_ways(StepOdds(votes=two * 9.0, weights=two, cases=0.0)) == []


def test_a_weak_step_of_the_main_way_passes() -> None:
    """A way of two lucky steps does not take its place: the other steps make up for the weak."""
    votes = np.full((6, 6), -500, dtype=np.int64)
    for a, b in pairwise((5, 0, 1, 2, 3, 5)):
        votes[a, b] = 9_000
    votes[1, 2] = 1_000
    votes[5, 4] = votes[4, 5] = 5_800
    kept = keep_steps(votes, DiscreteLaplace(Fraction(1, 2000)), Fraction(1, 40), cases=50)
    assert all(kept.allowed[a, b] for a, b in pairwise((5, 0, 1, 2, 3, 5)))
    assert kept.likeliest[0] == (0, 1, 2, 3)
    assert kept.odds is not None
    assert kept.odds.votes[0, 1] == 4.5 and kept.odds.cases == 25.0


@given(st.lists(st.lists(st.integers(-9000, 9000), min_size=5, max_size=5), min_size=5, max_size=5))
def test_kept_steps_all_lie_on_a_way(rows: list[list[int]]) -> None:
    """There is always a way from beginning to end, and no kept step leads nowhere."""
    kept = keep_steps(np.array(rows), DiscreteLaplace(Fraction(1, 2000)), Fraction(2))
    chain = Chain(kept, 50, partial(draw_uniform, Noise(SeededBits(1))))
    assert kept.allowed[-1].any() and kept.allowed[:, -1].any()
    for a in range(4):
        assert kept.allowed[a].any() == kept.allowed[:, a].any()
    for ids in chain.draw(5):
        path = (4, *ids, 4)
        if len(path) < 52:
            assert all(kept.allowed[a, b] for a, b in pairwise(path))


def test_a_step_among_few_true_ones_takes_more_votes_to_pass() -> None:
    """The same votes are likely noise where next to no step is true, and not where many are."""
    noise = np.random.default_rng(1).laplace(0, 2000, (29, 29)).astype(np.int64)
    few, many = noise.copy(), noise.copy()
    few[range(-1, 28), range(29)] = 100_000
    many += np.random.default_rng(2).integers(0, 20_000, noise.shape)
    passed = []
    for votes in (few, many):
        votes[3, 9] = 6_500
        kept = keep_steps(votes, DiscreteLaplace(Fraction(1, 2000)), Fraction(1, 40))
        passed.append(bool(kept.allowed[3, 9]))
        others = np.asarray(kept.others)
        assert (others[kept.allowed] == 0).all() and (others >= 0).all()
    assert passed == [False, True]
    # False steps that the threshold alone lets pass: about 20 of 841.
    assert (noise >= 2000 * 3).sum() > 10
    kept = keep_steps(few, DiscreteLaplace(Fraction(1, 2000)), Fraction(1, 40))
    assert kept.allowed.sum() < 40


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=6, max_size=6))
def test_what_is_reached_is_found_step_by_step(rows: list[list[bool]]) -> None:
    """The same as going on from each place that was reached."""
    found, todo = {5}, [5]
    while todo:
        here = todo.pop()
        new = {b for b in range(6) if rows[here][b]} - found
        found |= new
        todo += new
    assert np.flatnonzero(_reached(np.array(rows))).tolist() == sorted(found)


def test_votes_count_as_if_all_steps_had_counted_in_full() -> None:
    """A step that counted a quarter has a quarter of the votes, and passes with them."""
    votes = np.zeros((3, 3), dtype=np.int64)
    # So many that none of them is likely noise.
    votes[2, 0], votes[0, 1], votes[1, 2] = 400_000, 400_000, 400_000
    whole = keep_steps(votes, DiscreteLaplace(Fraction(1, 2000)), Fraction(1, 40))
    # The steps at the ends count half, and the one in between a quarter.
    votes[2, 0], votes[0, 1], votes[1, 2] = 200_000, 100_000, 200_000
    query = StepVotes(2, weights=(4, 4))
    quarter = keep_steps(votes, DiscreteLaplace(Fraction(1, 2000)), Fraction(1, 40), query=query)
    assert (whole.weights == quarter.weights).all()


@given(
    st.lists(st.lists(small | st.just(IMPOSSIBLE), min_size=5, max_size=5), min_size=5, max_size=5)
)
def test_every_activity_is_connected_where_that_is_possible(rows: list[list[int]]) -> None:
    """By the strongest steps: the weakest step on the way to each is as strong as it can be."""
    votes = np.array(rows)
    passed = np.zeros((5, 5), dtype=np.bool_)
    connect(votes, passed)
    assert (_reached(passed) == _reached(votes > IMPOSSIBLE)).all()
    assert (_reached(passed.T) == _reached(votes.T > IMPOSSIBLE)).all()
    for level in {value for row in rows for value in row} - {IMPOSSIBLE}:
        assert (_reached(passed & (votes >= level)) == _reached(votes >= level)).all()


def test_of_too_many_3_grams_those_of_the_heaviest_pairs_are_listed() -> None:
    """All that may come after such a pair; nothing where only one thing may."""
    weights = np.zeros((4, 4), dtype=np.int64)
    weights[3, 0] = 90
    weights[0, 1], weights[0, 2] = 60, 30
    weights[1, 3] = 60
    weights[2, 0], weights[2, 3] = 10, 20
    kept = KeptSteps(weights=weights)
    every = set(kept.trigrams(10**9))
    assert len(every) == kept.count_trigrams() == 7
    assert every == set(kept.trigrams(7))
    # The beginning comes before 0, and 1 or 2 after it; then 0 before 2, and 0 or the end after it.
    six = [(3, 0, 1), (3, 0, 2), (0, 2, 0), (0, 2, 3), (2, 0, 1), (2, 0, 2)]
    assert list(kept.trigrams(6)) == six
    assert list(kept.trigrams(3)) == [(3, 0, 1), (3, 0, 2)]
    assert list(kept.trigrams(1)) == []
