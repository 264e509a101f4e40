"""Measures of attributes: alone, by activity, in pairs, and for decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

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
    found = {}
    for values in original.attributes:
        both = [Counter(log.values(values.name).cells.tolist()) for log in (original, released)]
        if not values.of_case:
            for counts in both:
                counts.pop(values.size - 1, None)
        found[values.name] = total_variation(*both)
    return found


def activity_distances(original: CaseBatch, released: CaseBatch) -> dict[str, float]:
    """For each attribute of events the same within each activity, weighted by its frequency.

    An activity without values in the release counts 1.
    """
    found = {}
    for values in original.attributes:
        if not values.of_case:
            before, after = (_by_activity(log, values) for log in (original, released))
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
    names = (batch.activities[activity] for activity in batch.activity_ids[present].tolist())
    for name, cell in zip(names, cells[present].tolist(), strict=True):
        found[name][cell] += 1
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
    names = sorted(original.activities, key=lambda a: abs(_occurs(original, a).mean() - 0.5))[:1]
    if not features or not original.cases or not released.cases or not (pairs or names):
        return None

    def table(batch: CaseBatch) -> tuple[Ints, Ints]:
        # One column for each cell, so that values have no artificial order.
        columns = [_first(batch, one)[:, None] == np.arange(one.size) for one in features]
        expected = _occurs(batch, names[0]) if outcome is None else _first(batch, outcome)
        return np.concatenate(columns, axis=1).astype(np.int64), expected

    tested, true = table(original)
    classifier = optional_module("sklearn.tree").DecisionTreeClassifier
    tree = classifier(max_depth=MAX_DEPTH, min_samples_leaf=MIN_LEAF, random_state=0)
    return float((tree.fit(*table(released)).predict(tested) == true).mean())


def _occurs(batch: CaseBatch, name: str) -> Ints:
    """Whether an activity occurs in each case."""
    found = np.zeros(batch.cases, dtype=np.int64)
    if name in batch.activities:
        case = np.repeat(np.arange(batch.cases), batch.lengths)
        found[case[batch.activity_ids == batch.activities.index(name)]] = 1
    return found
