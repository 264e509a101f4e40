"""Order in a fitted release: what little disorder is dropped, and which cases are its orderly core.

Two activities in both orders, or a repeated one, in a handful of cases is more often noise than
process, and makes the models of miners imprecise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids
from ...kernel.variants import VariantCounts
from .medoids import select_medoids

Fitted = dict[Ids, float]
Refit = Callable[[Iterable[Ids]], Fitted]
"""Fits again what is left of fitted sequences."""
RARER = 4
"""One of two orders is a handful beside the other if that has so many times as many cases."""


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


def mark_core(
    variants: VariantCounts, cost: Fraction, order_penalty: Fraction
) -> NDArray[np.bool_]:
    """Mark the released variants that are the orderly core, by what was released alone."""
    released: dict[Ids, int] = {}
    for ids, count in zip(variants.sequences(), variants.counts.tolist(), strict=True):
        if not ids:
            # A case without events is dropped from a release, and its core must stay the same.
            continue
        released[ids] = released.get(ids, 0) + count
    if not released:
        return np.zeros(len(variants), dtype=np.bool_)
    core = orderly_core(
        released,
        len(variants.activities),
        cost,
        order_penalty,
    )
    return np.array([ids in core for ids in variants.sequences()], dtype=np.bool_)


def orderly_core(
    released: Mapping[Ids, int], activities: int, cost: Fraction, order_penalty: Fraction
) -> dict[Ids, int]:
    """Choose the released variants that represent the others in an order that makes sense."""
    candidates = list(released)
    votes = np.array([released[ids] for ids in candidates], dtype=np.int64)
    places, _ = select_medoids(
        candidates, votes, activities, cost=cost, order_penalty=order_penalty
    )
    return {candidates[i]: released[candidates[i]] for i in places}
