"""Which candidates are released: few, near to many cases, and in an order that makes sense.

After the last vote, representatives are chosen one by one. What one more is worth is how much
nearer the cases that voted are to their nearest representative. What it costs is a fixed price, and
a price for every two activities that it is the first to show in both orders (and every activity
that it is the first to repeat): disorder that no process needs unless many cases ask for it, and
that makes models of a released log imprecise. Everything here reads noisy votes only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...queries.distance import WHOLE, Ids, distances

Ints = NDArray[np.int64]

WEIGHTS = 40
"""All votes together have so many bits, so that votes times distances have 61."""
HIGHEST = 1 << 61
"""More than any representative gains: a higher price changes nothing."""
WORST = -(1 << 62)
"""Less than any representative can be worth before it pays for disorder."""


def select_medoids(
    candidates: Sequence[Ids],
    votes: Ints,
    activities: int,
    *,
    cost: Fraction,
    order_penalty: Fraction,
) -> tuple[list[int], Ints]:
    """Choose representatives; their places come back, with the votes of all whom they represent.

    Prices are in cases: a representative is worth 1 if it takes one case all the way from no
    likeness at all to being the same. At least one is chosen. No price is below 0.
    """
    # Candidates without votes may be chosen, but nobody asks how near they are to anything.
    voting = np.flatnonzero(votes > 0)
    weights, shift = _bounded(votes[voting])
    to_voting = distances([candidates[i] for i in voting.tolist()], candidates, activities)
    orders: dict[int, _Orders] = {}
    known = _Orders()
    # Before anyone is chosen, everybody is as far away as can be.
    nearest = np.full(len(voting), WHOLE, dtype=np.int64)
    fixed, each = (min(int(part * WHOLE) >> shift, HIGHEST) for part in (cost, order_penalty))
    chosen: list[int] = []
    # How much nearer all votes come, for every candidate; later it can only be less.
    worth = weights @ (WHOLE - to_voting) - fixed
    by_candidate = np.ascontiguousarray(to_voting.T)
    while len(chosen) < len(candidates):
        worth[chosen] = WORST
        best = len(candidates)
        most: float = -math.inf
        # Disorder only costs: whoever is worth less than the best so far need not be asked.
        for i, value in _descending(worth):
            if value < most:
                break
            if chosen and value > WORST:
                value = int(weights @ np.maximum(nearest - by_candidate[i], 0)) - fixed
                worth[i] = value
            if i not in orders:
                orders[i] = _Orders.of(candidates[i], activities)
            profit = value - known.new_disorder(orders[i]) * each
            # The lower place among equals, so that no sort decides.
            if (profit, -i) > (most, -best):
                best, most = i, profit
        if chosen and most <= 0:
            break
        chosen.append(best)
        known = known.joined(orders[best])
        nearest = np.minimum(nearest, to_voting[:, best])
    represented = np.zeros(len(chosen), dtype=np.int64)
    np.add.at(represented, to_voting[:, chosen].argmin(axis=1), votes[voting])
    return chosen, represented


def _bounded(votes: Ints) -> tuple[Ints, int]:
    """Halve all votes as often as it takes for what they are worth in sum to fit 61 bits.

    Only votes of noise beyond any log are so many. They lose what no choice depends on.
    """
    shift = max(int(votes.sum()).bit_length() - WEIGHTS, 0)
    return votes >> shift, shift


def _descending(values: Ints) -> Iterator[tuple[int, int]]:
    """Places and values, the highest first; lower places first among equals."""
    order = np.argsort(-values, kind="stable")
    return zip(order.tolist(), values[order].tolist(), strict=True)


class _Orders:
    """Which activity was seen before which, as bit sets."""

    __slots__ = ("_after", "_before", "_disorder", "_repeated")

    def __init__(self, before: int = 0, after: int = 0, repeated: int = 0) -> None:
        self._before = before
        self._after = after
        self._repeated = repeated
        # One set is the other transposed: a pair in both orders has two bits in common with it,
        # a repeated activity one.
        self._disorder = ((before & after).bit_count() + repeated.bit_count()) // 2

    @classmethod
    def of(cls, ids: Ids, activities: int) -> _Orders:
        """The pairs of a sequence."""
        # A bit for each ordered pair; Python's integers are bit sets of any size.
        before = after = repeated = 0
        seen: dict[int, None] = {}
        for b in ids:
            for a in seen:
                before |= 1 << (a * activities + b)
                after |= 1 << (b * activities + a)
            if b in seen:
                repeated |= 1 << b
            seen[b] = None
        return cls(before, after, repeated)

    def joined(self, other: _Orders) -> _Orders:
        """The pairs of both."""
        return _Orders(
            self._before | other._before,
            self._after | other._after,
            self._repeated | other._repeated,
        )

    def new_disorder(self, other: _Orders) -> int:
        """How many more pairs in both orders, and repeated activities, with another one."""
        both = (self._before | other._before) & (self._after | other._after)
        repeated = self._repeated | other._repeated
        return (both.bit_count() + repeated.bit_count()) // 2 - self._disorder
