"""How well attributes are kept: by themselves, by activity, in pairs, and for decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import CaseBatch, Values
from ...kernel.queries.attributes import first_cells
from ..extras import optional_module
from .flow import total_variation

Ints = NDArray[np.int64]
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
        values.name: total_variation(*(_histogram(batch, values) for batch in (original, released)))
        for values in original.attributes
    }


def _histogram(batch: CaseBatch, values: Values) -> Counter[int]:
    counts = Counter(batch.values(values.name).cells.tolist())
    if not values.of_case:
        counts.pop(values.size - 1, None)
    return counts


def activity_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute of events the same within each activity, weighted by its frequency.

    An activity without values in the release counts 1.
    """
    found = {}
    for values in original.attributes:
        if not values.of_case:
            before, after = (_by_activity(batch, values) for batch in (original, released))
            weights = [each.total() for each in before.values()]
            each = [total_variation(cells, after[name]) for name, cells in before.items()]
            if weights:
                found[values.name] = float(np.average(each, weights=weights))
    return found


def _by_activity(batch: CaseBatch, values: Values) -> defaultdict[str, Counter[int]]:
    """The values of each activity, without missing ones."""
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    cells = batch.values(values.name).cells
    present = cells != values.size - 1
    pairs = zip(batch.activity_ids[present].tolist(), cells[present].tolist(), strict=True)
    for (activity, cell), number in Counter(pairs).items():
        found[batch.activities[activity]][cell] = number
    return found


def pair_distances(original: CaseBatch, released: CaseBatch, pairs: Pairs) -> dict[str, float]:
    """For each pair of attributes, the share of cases whose two values would have to move."""
    found = {}
    for one, other in pairs:
        first, second = original.attributes[one], original.attributes[other]
        before, after = (
            Counter((_first(batch, first) * second.size + _first(batch, second)).tolist())
            for batch in (original, released)
        )
        found[f"{first.name}, {second.name}"] = total_variation(before, after)
    return found


def _first(batch: CaseBatch, values: Values) -> Ints:
    """The first value of each case for an attribute of the original."""
    return first_cells(batch, batch.values(values.name), values.size - 1)


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
