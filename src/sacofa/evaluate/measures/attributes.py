"""How well attributes are kept: by themselves, by activity, in pairs, and for decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import CaseBatch, Values
from ...kernel.queries.attributes import first_cells

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

GONE = 1.0
"""How far off an activity is that has no value in the release."""
DEEPEST = 5
"""How deep a decision tree grows."""
FEWEST = 20
"""How many cases a leaf of it has, at least."""


def value_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute, the share of its values that would have to move (total variation).

    What is missing counts as a value of cases; of events, those with a value are compared.
    """
    return {
        values.name: _distance(_histogram(values), _histogram(released.values(values.name)))
        for values in original.attributes
    }


def activity_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute of events the same within each activity, weighed by how often it is."""
    names = {name: i for i, name in enumerate(original.activities)}
    place = np.array([names.get(name, -1) for name in released.activities], dtype=np.int64)
    ids = place[released.activity_ids] if len(place) else released.activity_ids.astype(np.int64)
    found = {}
    for values in original.attributes:
        if values.of_case:
            continue
        before = _by_activity(original.activity_ids.astype(np.int64), values, len(names))
        after = _by_activity(ids, released.values(values.name), len(names))
        weights = before.sum(axis=1)
        each = [_distance(a, b) if b.sum() else GONE for a, b in zip(before, after, strict=True)]
        if weights.sum():
            found[values.name] = float(np.average(each, weights=weights))
    return found


def pair_distances(
    original: CaseBatch, released: CaseBatch, pairs: Sequence[tuple[int, int]]
) -> dict[str, float]:
    """For each pair of attributes, the share of cases whose two values would have to move."""
    found = {}
    for one, other in pairs:
        first, second = original.attributes[one], original.attributes[other]
        before, after = (
            _together(batch, batch.values(first.name), batch.values(second.name))
            for batch in (original, released)
        )
        found[f"{first.name}, {second.name}"] = _distance(before, after)
    return found


def decision_accuracy(
    original: CaseBatch, released: CaseBatch, pairs: Sequence[tuple[int, int]]
) -> float | None:
    """How often a decision tree of the release is right about cases of the original.

    It tells the second attribute of the first pair from all others; without pairs, whether the
    activity happens that splits the original most evenly.
    """
    from sklearn.tree import DecisionTreeClassifier

    learnt, tried = _task(released, original, pairs), _task(original, original, pairs)
    if learnt is None or tried is None or not len(learnt[1]) or not len(tried[1]):
        return None
    tree = DecisionTreeClassifier(max_depth=DEEPEST, min_samples_leaf=FEWEST, random_state=0)
    tree.fit(*learnt)
    return float((tree.predict(tried[0]) == tried[1]).mean())


def _task(
    batch: CaseBatch, original: CaseBatch, pairs: Sequence[tuple[int, int]]
) -> tuple[Ints, Ints] | None:
    """What a tree sees of each case, and what it is to tell."""
    cells = [
        first_cells(batch, batch.values(values.name), values.size - 1)
        for values in original.attributes
    ]
    if pairs:
        outcome = cells.pop(pairs[0][1])
    else:
        name = _splitting(original)
        if name is None:
            return None
        outcome = _happens(batch, name)
    # One column for each cell, so that no order of values is made up.
    columns = [
        each[:, None] == np.arange(values.size)
        for each, values in zip(cells, _seen(original, pairs), strict=True)
    ]
    return (np.concatenate(columns, axis=1).astype(np.int64), outcome) if columns else None


def _seen(original: CaseBatch, pairs: Sequence[tuple[int, int]]) -> list[Values]:
    told = pairs[0][1] if pairs else -1
    return [values for place, values in enumerate(original.attributes) if place != told]


def _splitting(original: CaseBatch) -> str | None:
    shares = [float(_happens(original, name).mean()) for name in original.activities]
    if not shares or not original.cases:
        return None
    return original.activities[int(np.argmin(np.abs(np.array(shares) - 0.5)))]


def _happens(batch: CaseBatch, name: str) -> Ints:
    found = np.zeros(batch.cases, dtype=np.int64)
    if name in batch.activities:
        case = np.repeat(np.arange(batch.cases), batch.lengths)
        found[case[batch.activity_ids == batch.activities.index(name)]] = 1
    return found


def _histogram(values: Values) -> Floats:
    many = np.bincount(values.cells, minlength=values.size).astype(np.float64)
    return many if values.of_case else many[:-1]


def _by_activity(ids: Ints, values: Values, activities: int) -> Floats:
    table = np.zeros((activities, values.size))
    known = ids >= 0
    np.add.at(table, (ids[known], values.cells[known]), 1.0)
    return table[:, :-1]


def _together(batch: CaseBatch, one: Values, other: Values) -> Floats:
    first = first_cells(batch, one, one.size - 1)
    second = first_cells(batch, other, other.size - 1)
    return np.bincount(first * other.size + second, minlength=one.size * other.size).astype(float)


def _distance(one: Floats, other: Floats) -> float:
    """Total variation; whatever there is, is far from nothing."""
    if not one.sum() or not other.sum():
        return float(bool(one.sum()) != bool(other.sum()))
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)
