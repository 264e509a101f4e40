"""Which candidates are released: few, near to many cases, and in an order that makes sense.

After the last vote, representatives are chosen one by one. What one more is worth is how much
nearer the cases that voted are to their nearest representative. What it costs is a fixed price, and
a price for every two activities that it is the first to show in both orders (and every activity
that it is the first to repeat): disorder that no process needs unless many cases ask for it, and
that makes models of a released log imprecise. Everything here reads noisy votes only.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...base.distance import WHOLE, Distances, distances
from ...kernel.language import Ids

Ints = NDArray[np.int64]

WEIGHTS = 32
"""All votes together have so many bits at most: votes times distances then have 52, and floating
point, which is several times as fast, holds them and their sums exactly."""
HIGHEST = 1 << 61
"""More than any representative gains: a higher price changes nothing."""


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
    by_candidate = distances(candidates, [candidates[i] for i in voting.tolist()], activities)
    fixed, each = (min(int(part * WHOLE) >> shift, HIGHEST) for part in (cost, order_penalty))
    search = _Search(candidates, activities, weights, by_candidate, fixed, each)
    chosen: list[int] = []
    while search.worth:
        best, profit = search.best()
        if chosen and profit <= 0:
            break
        search.take(best, len(chosen))
        chosen.append(best)
    represented = np.zeros(len(chosen), dtype=np.int64)
    np.add.at(represented, search.owners, votes[voting])
    return chosen, represented


class _Search:
    """Finds the candidate that is worth most, again and again."""

    def __init__(
        self,
        candidates: Sequence[Ids],
        activities: int,
        weights: Ints,
        by_candidate: Distances,
        fixed: int,
        each: int,
    ) -> None:
        self._candidates, self._activities = candidates, activities
        self._weights, self._by_candidate = weights.astype(np.float64), by_candidate
        self._fixed, self._each = fixed, each
        self._orders: dict[int, _Orders] = {}
        self._known = _Orders()
        # Before anyone is chosen, everybody is as far away as can be.
        self._nearest = np.full(by_candidate.shape[1], WHOLE, dtype=np.int32)
        self.owners = np.zeros(by_candidate.shape[1], dtype=np.int64)
        """Which of those that were taken represents each vote."""
        whole = WHOLE * int(weights.sum())
        self.worth = [(self._off(row) - whole + fixed, i) for i, row in enumerate(by_candidate)]
        """How much nearer all votes come, below 0, with the place of each candidate that is left.

        A heap. With each choice a candidate can only be worth less: these are bounds.
        """
        heapq.heapify(self.worth)

    def best(self) -> tuple[int, float]:
        """Find the best candidate, and what it is worth after its price for disorder."""
        best, most, off, seen = len(self._candidates), -math.inf, self._off(self._nearest), []
        # Disorder only costs: whoever is worth less than the best so far need not be asked.
        while self.worth and -self.worth[0][0] >= most:
            bound, i = heapq.heappop(self.worth)
            price = self._known.new_disorder(self._order(i)) * self._each
            if -bound - price >= most:
                left = np.minimum(self._nearest, self._by_candidate[i])
                bound = self._off(left) - off + self._fixed
                # The lower place among equals, so that no sort decides.
                if (-bound - price, -i) > (most, -best):
                    best, most = i, -bound - price
            seen.append((bound, i))
        for entry in seen:
            if entry[1] != best:
                heapq.heappush(self.worth, entry)
        return best, most

    def take(self, best: int, place: int) -> None:
        """Let the best represent all that are nearer to it than to those before."""
        row = self._by_candidate[best]
        self.owners[row < self._nearest] = place
        self._nearest = np.minimum(self._nearest, row)
        self._known = self._known.joined(self._orders.pop(best))

    def _off(self, distances: Distances) -> int:
        """How far away all votes are: exact, as floating point holds numbers of this size."""
        return int(self._weights @ distances)

    def _order(self, i: int) -> _Orders:
        if i not in self._orders:
            self._orders[i] = _Orders.of(self._candidates[i], self._activities)
        return self._orders[i]


def _bounded(votes: Ints) -> tuple[Ints, int]:
    """Halve all votes as often as it takes for what they are worth in sum to fit 52 bits.

    Only votes of noise beyond any log are so many. They lose what no choice depends on.
    """
    shift = max(int(votes.sum()).bit_length() - WEIGHTS, 0)
    return votes >> shift, shift


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
