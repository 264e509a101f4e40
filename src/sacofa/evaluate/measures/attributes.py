"""How well attributes are kept: by themselves, by activity, in pairs, and for decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import CaseBatch, Values
from ...kernel.queries.attributes import first_cells
from ..extras import optional_module

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = Sequence[tuple[int, int]]
"""Declared pairs of attributes, by their places."""

MAX_DEPTH, MIN_LEAF = 5, 20
"""Depth of the decision tree, and least number of cases in a leaf."""


def value_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute, the share of its values that would have to move (total variation).

    For attributes of cases, a missing value counts as a value. For attributes of events, the
    values that are present are compared.
    """
    return {
        values.name: _distance(*(_histogram(batch, values) for batch in (original, released)))
        for values in original.attributes
    }


def _histogram(batch: CaseBatch, values: Values) -> Floats:
    counts = np.bincount(batch.values(values.name).cells, minlength=values.size).astype(np.float64)
    return counts if values.of_case else counts[:-1]


def activity_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute of events the same within each activity, weighted by its frequency.

    An activity without values in the release counts 1.
    """
    found = {}
    for values in original.attributes:
        if values.of_case:
            continue
        before, after = (
            _by_activity(batch, batch.values(values.name).cells, original.activities, values.size)
            for batch in (original, released)
        )
        weights = before.sum(axis=1)
        each = [_distance(a, b) if b.sum() else 1.0 for a, b in zip(before, after, strict=True)]
        if weights.sum():
            found[values.name] = float(np.average(each, weights=weights))
    return found


def _by_activity(
    batch: CaseBatch, cells: NDArray[np.int32], activities: Sequence[str], size: int
) -> Floats:
    """[a, v]: the number of events of activity a with value v; missing values are left out."""
    places = {name: i for i, name in enumerate(activities)}
    # Other activities, and an empty log without any, take the last row.
    rows = np.array([*(places.get(name, len(places)) for name in batch.activities), 0])
    table = np.zeros((len(places) + 1, size))
    np.add.at(table, (rows[batch.activity_ids], cells), 1.0)
    return table[:-1, :-1]


def pair_distances(original: CaseBatch, released: CaseBatch, pairs: Pairs) -> dict[str, float]:
    """For each pair of attributes, the share of cases whose two values would have to move."""
    found = {}
    for one, other in pairs:
        first, second = original.attributes[one], original.attributes[other]
        before, after = (
            np.bincount(
                _first(batch, first) * second.size + _first(batch, second),
                minlength=first.size * second.size,
            ).astype(np.float64)
            for batch in (original, released)
        )
        found[f"{first.name}, {second.name}"] = _distance(before, after)
    return found


def _first(batch: CaseBatch, values: Values) -> Ints:
    """The first value of each case for an attribute of the original."""
    return first_cells(batch, batch.values(values.name), values.size - 1)


def _distance(one: Floats, other: Floats) -> float:
    """Total variation; 1 if one of them is empty."""
    if not one.sum() or not other.sum():
        return float(bool(one.sum()) != bool(other.sum()))
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def decision_accuracy(original: CaseBatch, released: CaseBatch, pairs: Pairs) -> float | None:
    """Accuracy, on the original, of a decision tree that learned from the release.

    It predicts the second attribute of the first pair from all others; without pairs, whether the
    activity occurs that splits the original most evenly.
    """
    outcome = original.attributes[pairs[0][1]] if pairs else None
    features = [values for values in original.attributes if values is not outcome]
    shares = [float(_occurs(original, name).mean()) for name in original.activities]
    if not features or not original.cases or not released.cases or not (pairs or shares):
        return None

    def tables() -> Iterator[tuple[Ints, Ints]]:
        for batch in (released, original):
            # One column for each cell, so that values have no artificial order.
            columns = [_first(batch, one)[:, None] == np.arange(one.size) for one in features]
            if outcome is not None:
                expected = _first(batch, outcome)
            else:
                place = int(np.argmin(np.abs(np.array(shares) - 0.5)))
                expected = _occurs(batch, original.activities[place])
            yield np.concatenate(columns, axis=1).astype(np.int64), expected

    learned, (tested, true) = tables()
    classifier = optional_module("sklearn.tree").DecisionTreeClassifier
    tree = classifier(max_depth=MAX_DEPTH, min_samples_leaf=MIN_LEAF, random_state=0)
    return float((tree.fit(*learned).predict(tested) == true).mean())


def _occurs(batch: CaseBatch, name: str) -> Ints:
    """Whether an activity occurs in each case."""
    found = np.zeros(batch.cases, dtype=np.int64)
    if name in batch.activities:
        case = np.repeat(np.arange(batch.cases), batch.lengths)
        found[case[batch.activity_ids == batch.activities.index(name)]] = 1
    return found
