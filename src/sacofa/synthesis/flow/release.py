"""From fitted numbers to released variants: order, whole cases, no activity lost, orderly core.

Two activities in both orders, or a repeated one, in a handful of cases is more often noise than
process, and makes the models of miners imprecise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise
from operator import or_

import numpy as np

from ...base.distance import WHOLE, distances
from ...kernel.language import Ids
from ...kernel.variants import VariantCounts
from ..numerics import Bools, Floats, Ints
from .tuning import TUNING

Fitted = dict[Ids, float]
FIXED = 1 << 20
"""Fitted numbers are kept to such parts of a case."""
WEIGHTS = 32
"""All votes together have so many bits at most: votes times distances then have 52, and floating
point, which is several times as fast, holds them and their sums exactly."""
HIGHEST = np.iinfo(np.int64).max // 2
"""More than any representative gains: a higher price changes nothing."""


def drop_disorder(fitted: Fitted, least: float, refit: Callable[[Iterable[Ids]], Fitted]) -> Fitted:
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
    rarer = np.append(cases, 0.0)[opposite] > TUNING.rarer * cases
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

    It is inserted where most votes support it, of several sequences into that of most cases.

    Args:
        released: The released sequences with their numbers of cases.
        votes: [a, b]: noisy votes for b directly after a; the last row begins and the last column
            ends a case.
        max_length: Cases of that length are truncated, so none is made as long.

    Returns:
        The same number of cases.
    """
    result, end = dict(released), len(votes) - 1
    missing = set(range(end)).difference(*released)
    by_votes = sorted(missing, key=lambda a: (-float(votes[:, a].max()), a))
    for a in by_votes[: sum(released.values()) // TUNING.cases_each_insertion]:
        gains = votes[:, a][:, None] + votes[a][None, :]
        places = (
            (float(gains[before, after]), cases, ids, i)
            for ids, cases in result.items()
            if len(ids) + 1 < max_length
            for i, (before, after) in enumerate(pairwise((end, *ids, end)))
        )
        # Of equal places the first.
        best = max(places, key=lambda place: place[:2], default=None)
        if best is None:
            break
        ids, i = best[2:]
        result[ids] -= 1
        if not result[ids]:
            del result[ids]
        new = (*ids[:i], a, *ids[i:])
        result[new] = result.get(new, 0) + 1
    return result


def mark_core(variants: VariantCounts, cost: Fraction, order_penalty: Fraction) -> Bools:
    """Mark the released variants that represent the others in an order that makes sense."""
    released: dict[Ids, int] = {}
    for ids, count in zip(variants.sequences(), variants.counts.tolist(), strict=True):
        # A case without events is dropped from a release, and its core must stay the same.
        if ids:
            released[ids] = released.get(ids, 0) + count
    sequences, votes = list(released), np.array(list(released.values()), dtype=np.int64)
    number = len(variants.activities)
    places = select_medoids(sequences, votes, number, cost=cost, order_penalty=order_penalty)
    core = {sequences[i] for i in places}
    return np.array([ids in core for ids in variants.sequences()], dtype=np.bool_)


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
    orders = [_orders(ids, activities) for ids in variants]
    known, chosen = (0, 0, 0), list[int]()
    # How much nearer all votes come, for each variant that is left. With each choice a variant can
    # only be worth less: these are bounds.
    bounds = {i: off - int(weights @ row) - fixed for i, row in enumerate(by_variant)}
    while bounds:
        best, most = -1, -math.inf
        # Disorder only costs: whoever is worth less than the best so far need not be asked.
        for i in sorted(bounds, key=lambda i: -bounds[i]):
            if bounds[i] < most:
                break
            price = each * (_disorder(*map(or_, known, orders[i])) - _disorder(*known))
            if bounds[i] - price >= most:
                bounds[i] = off - int(weights @ np.minimum(nearest, by_variant[i])) - fixed
                # The lower place among equals, so that no sort decides.
                best, most = max((best, most), (i, bounds[i] - price), key=lambda b: (b[1], -b[0]))
        if chosen and most <= 0:
            break
        chosen.append(best)
        del bounds[best]
        nearest = np.minimum(nearest, by_variant[best])
        off = int(weights @ nearest)
        before, after, repeated = map(or_, known, orders[best])
        known = (before, after, repeated)
    return chosen


def _orders(ids: Ids, activities: int) -> tuple[int, int, int]:
    """Which activity is seen before which, after which, and repeated: a bit for each (pair)."""
    before = after = repeated = 0
    seen: dict[int, None] = {}
    for b in ids:
        for a in seen:
            before |= 1 << (a * activities + b)
            after |= 1 << (b * activities + a)
        repeated |= (b in seen) << b
        seen[b] = None
    return before, after, repeated


def _disorder(before: int, after: int, repeated: int) -> int:
    """How many pairs are seen in both orders, and how many activities are repeated."""
    # One set is the other transposed: a pair in both orders has two bits in common with it, a
    # repeated activity one.
    return ((before & after).bit_count() + repeated.bit_count()) // 2
