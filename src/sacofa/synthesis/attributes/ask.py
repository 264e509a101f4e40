"""The queries about attributes, given the released flow.

The released variants are public by now. They say which activities split cases best, and how many
cases each part has; so families are as many as noise allows, without looking at the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from ...base.batches import cases_of
from ...base.cells import cells_of
from ...kernel.attributes import Attribute
from ...kernel.cases import CaseBatch
from ...kernel.laws import DiscreteLaplace, Law
from ...kernel.queries.attributes import AttributePair, CaseAttribute, EventAttribute
from ...kernel.variants import VariantCounts
from ..thresholds import SHAPES
from .tuning import TUNING

FINE = 1_000
"""Roots are taken in parts of this."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The queries about attributes, each with what it spends."""

    tables: tuple[CaseAttribute | EventAttribute, ...]
    """One for each attribute."""
    pairs: tuple[AttributePair, ...]
    """One for each declared pair."""
    prices: tuple[Fraction, ...]
    """The amount of each, tables first; together exactly that of all."""
    laws: tuple[Law, ...]
    """The noise of each, on a case."""


def attribute_queries(
    variants: VariantCounts,
    attributes: Sequence[Attribute],
    pairs: Sequence[tuple[int, int]],
    amount: Fraction,
    law: Callable[[Fraction], Law] = DiscreteLaplace,
) -> Asked:
    """The queries about attributes, in the order they are asked.

    `amount` is what all of them spend together, `law` the noise on a case that an amount buys.
    """
    activities = len(variants.activities)
    prices = divide(amount, attributes, pairs, activities)
    laws = tuple(map(law, prices))
    order = best_splits(variants)
    sizes = [cells_of(attribute.known) for attribute in attributes]
    tables: list[CaseAttribute | EventAttribute] = []
    for attribute, size, noise in zip(attributes, sizes, laws, strict=False):
        cells = size if attribute.of_case else size * max(activities, 1)
        families = variants.cases * float(noise.epsilon) / (TUNING.family_cases * cells)
        splits = order[: max(int(np.log2(max(families, 1.0))), 0)]
        if attribute.of_case:
            tables.append(CaseAttribute(key=attribute.key, size=size, splits=splits))
        else:
            tables.append(
                EventAttribute(
                    key=attribute.key,
                    size=size - 1,
                    activities=activities,
                    splits=splits,
                    euclidean=SHAPES[type(noise)].euclidean,
                )
            )
    asked = tuple(
        AttributePair(
            keys=(attributes[one].key, attributes[other].key), sizes=(sizes[one], sizes[other])
        )
        for one, other in pairs
    )
    return Asked(tables=tuple(tables), pairs=asked, prices=prices, laws=laws)


def divide(
    epsilon: Fraction,
    attributes: Sequence[Attribute],
    pairs: Sequence[tuple[int, int]],
    activities: int,
) -> tuple[Fraction, ...]:
    """The ε of each query: by the power 3/5 of its cells, together exactly ε.

    Most cells of a wide table are empty, and what noise leaves there is projected away: so
    activities, and the other attribute of a pair, count by their root. By the root of all that the
    noise of all cells would be least; a little more for wide tables, whose rows are thin.
    """
    sizes = [cells_of(attribute.known) for attribute in attributes]
    times = [1 if attribute.of_case else max(activities, 1) for attribute in attributes]
    times += [min(sizes[one], sizes[other]) for one, other in pairs]
    sizes += [max(sizes[one], sizes[other]) for one, other in pairs]
    cells = [size * isqrt(FINE**2 * many) for size, many in zip(sizes, times, strict=True)]
    weights = [_fifth_root(FINE**2 * number**3) for number in cells]
    return tuple(epsilon * Fraction(weight, sum(weights)) for weight in weights)


def _fifth_root(number: int) -> int:
    """The root of a whole number, rounded down: exact, so that shares are the same everywhere."""
    low, high = 0, 1 << (number.bit_length() // 5 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**5 <= number else (low, middle - 1)
    return low


def best_splits(variants: VariantCounts) -> tuple[int, ...]:
    """The activities whose presence divides the released cases most evenly, one after the other."""
    activities, weights = len(variants.activities), variants.counts.astype(np.float64)
    there = np.zeros((len(variants), activities), dtype=np.bool_)
    there[np.repeat(np.arange(len(variants)), variants.lengths), variants.activity_ids] = True
    family = np.zeros(len(variants), dtype=np.int64)
    chosen: list[int] = []
    for bit in range(min(TUNING.max_splits, activities)):
        with_it = np.zeros((1 << bit, activities))
        np.add.at(with_it, family, there * weights[:, None])
        whole = np.bincount(family, weights, 1 << bit)[:, None]
        gain = (with_it * (whole - with_it) / np.maximum(whole, 1.0)).sum(axis=0)
        gain[chosen] = -1.0
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            break
        chosen.append(best)
        family |= there[:, best].astype(np.int64) << bit
    return tuple(chosen)


def laid_out(variants: VariantCounts) -> CaseBatch:
    """The released cases one by one, in the order of their variants."""
    return cases_of(variants, np.zeros(variants.events, dtype=np.int64))
