"""Order in a fitted release: what little disorder is dropped, and which cases are its orderly core.

Two activities in both orders, or a repeated one, in a handful of cases is more often noise than
process, and makes the models of miners imprecise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.distance import Ids
from ...kernel.variants import VariantCounts
from .medoids import select_medoids

Fitted = dict[Ids, float]
Refit = Callable[[Fitted, Iterable[Ids]], Fitted]
"""Fits again what is left of fitted sequences."""
RARER = 4
"""One of two orders is a handful beside the other if that has so many times as many cases."""
AGAIN = 3
"""So often disorder is dropped and the rest fitted again, at most."""


def drop_disorder(fitted: Fitted, least: float, refit: Refit) -> Fitted:
    """Drop sequences with an order, or a repeat, that fewer than `least` cases show; fit again.

    Of two activities the order that more cases show stays, however few they are, and so does the
    other one unless it is much rarer: what few cases do at all, they may do now before and now
    after something else.
    """
    orders = {ids: orders_of(ids) for ids in fitted}
    for _ in range(AGAIN):
        cases: defaultdict[tuple[int, int], float] = defaultdict(float)
        for ids, number in fitted.items():
            if number > 0:
                for pair in orders[ids]:
                    cases[pair] += number
        rare = {
            (a, b)
            for (a, b), number in cases.items()
            if number < least and (a == b or cases.get((b, a), 0.0) > RARER * number)
        }
        left = [ids for ids in fitted if orders[ids].isdisjoint(rare)]
        if not left or len(left) == len(fitted):
            break
        fitted = refit(fitted, left)
    return fitted


def orders_of(ids: Ids) -> set[tuple[int, int]]:
    """Which activity first happens before which in a sequence; (a, a) where one is repeated.

    What comes between an activity and its repeat comes both after and before it. That is no
    disorder of its own: the repeat was asked for, and some way has to lead back.
    """
    pairs: set[tuple[int, int]] = set()
    seen: dict[int, None] = {}
    for b in ids:
        if b in seen:
            pairs.add((b, b))
        else:
            pairs.update([(a, b) for a in seen])
            seen[b] = None
    return pairs


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
