"""Which candidates are released: compared with asking every candidate, every time."""

from __future__ import annotations

from fractions import Fraction
from operator import or_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.base.distance import WHOLE, distances
from sacofa.synthesis.flow.release import _disorder, _orders, select_medoids

small = st.integers(1, 60)
sequences = st.lists(st.integers(0, 4), max_size=6).map(tuple)


def pairs_in_both_orders(sequences: list[tuple[int, ...]]) -> int:
    """Count by definition: pairs seen in both orders, and repeated activities."""
    seen = {(s[i], s[j]) for s in sequences for i in range(len(s)) for j in range(i + 1, len(s))}
    return sum((b, a) in seen for a, b in seen if a < b) + sum(a == b for a, b in seen)


@given(sequences, sequences)
def test_disorder_is_counted_by_its_definition(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    """Bit sets agree with a plain count."""
    first, second = _orders(one, 5), _orders(two, 5)
    assert _disorder(*first) == pairs_in_both_orders([one])
    assert _disorder(*map(or_, first, second)) == pairs_in_both_orders([one, two])


def test_representatives_pay_for_disorder() -> None:
    """A few cases in another order are not worth it; many are."""
    candidates = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 2)]
    few = select_medoids(
        candidates, np.array([100, 4, 30]), 4, cost=Fraction(1), order_penalty=Fraction(5)
    )
    assert few == [0, 2]
    many = select_medoids(
        candidates, np.array([100, 40, 30]), 4, cost=Fraction(1), order_penalty=Fraction(5)
    )
    assert many == [0, 1, 2]


def asked_of_all(
    candidates: list[tuple[int, ...]], votes: list[int], cost: int, order_penalty: int
) -> list[int]:
    """Choose representatives by definition: ask every candidate, every time."""
    apart = distances(candidates, candidates, 5)
    nearest_now = [WHOLE] * len(candidates)
    chosen: list[int] = []
    while len(chosen) < len(candidates):
        shown = [candidates[i] for i in chosen]
        profits = {
            i: sum(vote * max(nearest_now[j] - int(apart[j, i]), 0) for j, vote in enumerate(votes))
            - cost * WHOLE
            - (pairs_in_both_orders([*shown, candidates[i]]) - pairs_in_both_orders(shown))
            * order_penalty
            * WHOLE
            for i in range(len(candidates))
            if i not in chosen
        }
        best = max(profits, key=lambda i: (profits[i], -i))
        if chosen and profits[best] <= 0:
            break
        chosen.append(best)
        nearest_now = [min(n, int(apart[j, best])) for j, n in enumerate(nearest_now)]
    return chosen


@given(
    st.lists(st.tuples(sequences, small), min_size=1, max_size=8, unique_by=lambda one: one[0]),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_representatives_are_the_best_of_all(
    voted: list[tuple[tuple[int, ...], int]], cost: int, order_penalty: int
) -> None:
    """Those that are not asked for their disorder would not have been chosen."""
    candidates, votes = [ids for ids, _ in voted], [vote for _, vote in voted]
    chosen = select_medoids(
        candidates,
        np.array(votes),
        5,
        cost=Fraction(cost),
        order_penalty=Fraction(order_penalty),
    )
    assert chosen == asked_of_all(candidates, votes, cost, order_penalty)


@pytest.mark.parametrize("times", [2**20, 2**30, 10**12])
def test_votes_beyond_any_log_lead_to_the_same_choice(times: int) -> None:
    """Votes and prices so many times as large give the same representatives, and no overflow."""
    candidates, votes = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 2)], np.array([100, 40, 30])
    one = select_medoids(candidates, votes, 4, cost=Fraction(1), order_penalty=Fraction(5))
    two = select_medoids(
        candidates, votes * times, 4, cost=Fraction(times), order_penalty=Fraction(5 * times)
    )
    assert one == two


def test_no_price_is_too_high() -> None:
    """Where nobody is worth the price, the best of all is released alone."""
    candidates, votes = [(0, 1), (1, 0, 0), (1,)], np.array([3, 9, 1])
    chosen = select_medoids(
        candidates, votes, 2, cost=Fraction(10**30), order_penalty=Fraction(10**30)
    )
    assert len(chosen) == 1
