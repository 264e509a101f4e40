"""From fitted numbers to released variants: order, whole cases, no activity lost, orderly core.

Two activities in both orders, or a repeated one, in a handful of cases is more often noise than
process, and makes the models of miners imprecise.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise

import numpy as np

from ...base.distance import WHOLE, distances
from ...kernel.language import Ids
from ...kernel.variants import VariantCounts
from ..numerics import Bools, Floats, Ints

Fitted = dict[Ids, float]
Refit = Callable[[Iterable[Ids]], Fitted]
"""Fits again what is left of fitted sequences."""
RARER = 4
"""One of two orders is a handful beside the other if that has so many times as many cases."""
FIXED = 1 << 20
"""Fitted numbers are kept to such parts of a case."""
CASES_EACH_INSERTION = 20
"""At most one of as many cases is changed: of small logs with many activities, insertions would
otherwise be most of what is released."""
WEIGHTS = 32
"""All votes together have so many bits at most: votes times distances then have 52, and floating
point, which is several times as fast, holds them and their sums exactly."""
HIGHEST = 1 << 61
"""More than any representative gains: a higher price changes nothing."""


def drop_disorder(fitted: Fitted, least: float, refit: Refit) -> Fitted:
    """Drop sequences with an order, or a repeat, that fewer than `least` cases show; fit again.

    Of two activities the order that more cases show stays, however few they are, and so does the
    other one unless it is much rarer: what few cases do at all, they may do now before and now
    after something else.
    """
    places: dict[tuple[int, int], int] = {}
    orders = {
        ids: [places.setdefault(pair, len(places)) for pair in orders_of(ids)] for ids in fitted
    }
    opposite = np.array([places.get((b, a), len(places)) for a, b in places], dtype=np.int64)
    repeats = np.array([a == b for a, b in places], dtype=np.bool_)
    shown = np.fromiter(chain.from_iterable(orders.values()), np.int64)
    numbers = np.repeat(list(fitted.values()), [len(pairs) for pairs in orders.values()])
    cases = np.bincount(shown, numbers, minlength=len(places))
    rarer = np.append(cases, 0.0)[opposite] > RARER * cases
    dropped = set(np.flatnonzero((cases < least) & (repeats | rarer)).tolist())
    left = [ids for ids in fitted if dropped.isdisjoint(orders[ids])]
    return refit(left) if left and len(left) < len(fitted) else fitted


def orders_of(ids: Ids) -> set[tuple[int, int]]:
    """Which activity first happens before which in a sequence; (a, a) where one is repeated.

    What comes between an activity and its repeat comes both after and before it. That is no
    disorder of its own: the repeat was asked for, and some way has to lead back.
    """
    first = dict.fromkeys(ids)
    return {*combinations(first, 2), *((a, a) for a in first if ids.count(a) > 1)}


def round_to(numbers: Mapping[Ids, float], size: int) -> dict[Ids, int]:
    """Scale fitted numbers to add up to `size`, and round them; who gets none is left out."""
    # Fixed places make equal what differs by the last bits of a floating-point number.
    parts = [round(number * FIXED) for number in numbers.values()]
    if not any(parts):
        parts = [1] * len(parts)
    whole = sum(parts)
    cells = [part * size // whole for part in parts]
    # The largest remainders are rounded up.
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(parts[i] * size % whole), i))
    for i in by_remainder[: size - sum(cells)]:
        cells[i] += 1
    return {ids: n for ids, n in zip(numbers, cells, strict=True) if n}


def insert_missing(released: Mapping[Ids, int], votes: Floats, max_length: int) -> dict[Ids, int]:
    """Insert each activity that no case has into one case, those with the most votes first.

    Args:
        released: The released sequences with their numbers of cases.
        votes: [a, b]: noisy votes for b directly after a; the last row begins and the last column
            ends a case.
        max_length: Cases of that length are truncated, so none is made as long.

    Returns:
        The same number of cases.
    """
    result = dict(released)
    end = len(votes) - 1
    there = {a for ids in released for a in ids}
    missing = [a for a in range(end) if a not in there]
    missing.sort(key=lambda a: -float(votes[:, a].max()))
    for a in missing[: sum(released.values()) // CASES_EACH_INSERTION]:
        place = _best_place(result, votes, a, max_length)
        if place is None:
            break
        ids, i = place
        result[ids] -= 1
        if not result[ids]:
            del result[ids]
        new = (*ids[:i], a, *ids[i:])
        result[new] = result.get(new, 0) + 1
    return result


def _best_place(
    released: Mapping[Ids, int], votes: Floats, activity: int, max_length: int
) -> tuple[Ids, int] | None:
    """The sequence and the place in it where most votes support an activity.

    Of several, the sequence of most cases; None where none may become longer.
    """
    end = len(votes) - 1
    gains = votes[:, activity][:, None] + votes[activity][None, :]
    best: tuple[float, int, Ids, int] | None = None
    for ids, cases in released.items():
        if len(ids) + 1 >= max_length:
            continue
        for i, (before, after) in enumerate(pairwise((end, *ids, end))):
            found = (float(gains[before, after]), cases, ids, i)
            if best is None or found[:2] > best[:2]:
                best = found
    return None if best is None else (best[2], best[3])


def mark_core(variants: VariantCounts, cost: Fraction, order_penalty: Fraction) -> Bools:
    """Mark the released variants that are the orderly core, by what was released alone."""
    released: dict[Ids, int] = {}
    for ids, count in zip(variants.sequences(), variants.counts.tolist(), strict=True):
        # A case without events is dropped from a release, and its core must stay the same.
        if ids:
            released[ids] = released.get(ids, 0) + count
    core = orderly_core(released, len(variants.activities), cost, order_penalty)
    return np.array([ids in core for ids in variants.sequences()], dtype=np.bool_)


def orderly_core(
    released: Mapping[Ids, int], activities: int, cost: Fraction, order_penalty: Fraction
) -> dict[Ids, int]:
    """Choose the released variants that represent the others in an order that makes sense."""
    variants = list(released)
    votes = np.array(list(released.values()), dtype=np.int64)
    places = select_medoids(variants, votes, activities, cost=cost, order_penalty=order_penalty)
    return {variants[i]: released[variants[i]] for i in places}


def select_medoids(
    variants: Sequence[Ids],
    votes: Ints,
    activities: int,
    *,
    cost: Fraction,
    order_penalty: Fraction,
) -> list[int]:
    """Choose representatives one by one (greedy facility location); their places come back.

    One more is worth how much nearer all cases come to their nearest representative, less a fixed
    price and a price for every two activities that it is the first to show in both orders (and
    every activity that it is the first to repeat). Prices are in cases: a representative is worth 1
    if it takes one case all the way from no likeness at all to being the same. At least one is
    chosen. All votes are above 0, no price is below.
    """
    # Votes beyond any log are halved until sums are exact in floating point, which is fast.
    shift = max(int(votes.sum()).bit_length() - WEIGHTS, 0)
    weights = (votes >> shift).astype(np.float64)
    fixed, each = (min(int(part * WHOLE) >> shift, HIGHEST) for part in (cost, order_penalty))
    by_variant = distances(variants, variants, activities)
    nearest = np.full(len(variants), WHOLE, dtype=np.int32)
    off = WHOLE * int(weights.sum())
    known, chosen = _Orders(), list[int]()

    @cache
    def orders(i: int) -> _Orders:
        return _Orders(activities, variants[i])

    def gain(i: int) -> int:
        return off - int(weights @ np.minimum(nearest, by_variant[i])) - fixed

    def price(i: int) -> int:
        return known.new_disorder(orders(i)) * each

    # How much nearer all votes come, below 0, with the place of each variant that is left. With
    # each choice a variant can only be worth less: these are bounds.
    worth = [(int(weights @ row) - off + fixed, i) for i, row in enumerate(by_variant)]
    heapq.heapify(worth)
    while worth:
        best, most = _best(worth, gain, price)
        if chosen and most <= 0:
            break
        chosen.append(best)
        nearest = np.minimum(nearest, by_variant[best])
        off = int(weights @ nearest)
        known.add(orders(best))
    return chosen


def _best(
    worth: list[tuple[int, int]], gain: Callable[[int], int], price: Callable[[int], int]
) -> tuple[int, float]:
    """Take the variant that is worth most out of a heap of bounds; its place, and what it is worth.

    Disorder only costs: whoever is worth less than the best so far need not be asked.
    """
    best, most, seen = (0, -1), -math.inf, list[tuple[int, int]]()
    while worth and -worth[0][0] >= most:
        bound, i = heapq.heappop(worth)
        paid = price(i)
        if -bound - paid >= most:
            bound = -gain(i)
            # The lower place among equals, so that no sort decides.
            if (-bound - paid, -i) > (most, -best[1]):
                best, most = (bound, i), -bound - paid
        seen.append((bound, i))
    for entry in seen:
        if entry != best:
            heapq.heappush(worth, entry)
    return best[1], most


class _Orders:
    """Which activity was seen before which, as bit sets: a bit for each ordered pair."""

    def __init__(self, activities: int = 0, ids: Ids = ()) -> None:
        self.before = self.after = self.repeated = self.disorder = 0
        seen: dict[int, None] = {}
        for b in ids:
            for a in seen:
                self.before |= 1 << (a * activities + b)
                self.after |= 1 << (b * activities + a)
            if b in seen:
                self.repeated |= 1 << b
            seen[b] = None
        self.disorder = self.new_disorder(self)

    def new_disorder(self, other: _Orders) -> int:
        """How many more pairs in both orders, and repeated activities, with another one."""
        both = (self.before | other.before) & (self.after | other.after)
        # One set is the other transposed: a pair in both orders has two bits in common with it,
        # a repeated activity one.
        repeated = self.repeated | other.repeated
        return (both.bit_count() + repeated.bit_count()) // 2 - self.disorder

    def add(self, other: _Orders) -> None:
        """Add the pairs of another one."""
        self.disorder += self.new_disorder(other)
        self.before |= other.before
        self.after |= other.after
        self.repeated |= other.repeated
