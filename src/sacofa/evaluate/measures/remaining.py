"""Prediction of remaining times: a model trained on the release, tested on the original.

A regression tree learns from released cases how long a case will still take, given what is known
after an event: which activities occurred, the last one, the number of events, the time so far and
the last wait. It then predicts the cases of the original. The reference is a model of one half of
the original, tested on the other half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..extras import optional_module
from .performance import doublings
from .timed import Floats, Ints, Timed

TREE_SEED = 0
"""The tree is the same each time."""
MAX_PREFIXES = 20_000
"""Upper bound on the prefixes that are used; more are thinned evenly."""
MAX_ACTIVITIES = 200
"""Number of the most frequent activities of the original that the features distinguish."""
MAX_DEPTH, MIN_LEAF = 8, 20
"""Depth of the tree, and least number of prefixes in a leaf."""


def remaining_time_error(original: Timed, released: Timed) -> float | None:
    """Return the mean error of predicted remaining times in doublings.

    Args:
        original: The original.
        released: The release, over the same activities.

    Returns:
        The error; None if no case of one of the logs has two events.
    """
    if len(original.ids) == original.cases or len(released.ids) == released.cases:
        return None
    frequent = np.argsort(-np.bincount(original.ids), kind="stable")[:MAX_ACTIVITIES]
    features, remaining = _prefixes(released, frequent)
    tested, true = _prefixes(original, frequent)
    leaf = max(1, min(MIN_LEAF, len(remaining) // 10))
    tree = optional_module("sklearn.tree").DecisionTreeRegressor(
        criterion="squared_error",
        max_depth=MAX_DEPTH,
        min_samples_leaf=leaf,
        random_state=TREE_SEED,
    )
    predicted = tree.fit(features, remaining).predict(tested)
    return float(np.abs(predicted - true).mean())


def _prefixes(log: Timed, activities: Ints) -> tuple[NDArray[np.float32], Floats]:
    """Features after each event but the last of a case, and the remaining time in doublings."""
    case = log.case
    place = np.arange(len(case)) - log.offsets[:-1][case]
    running = np.flatnonzero(place < np.diff(log.offsets)[case] - 1)
    chosen = running[np.linspace(0, len(running) - 1, min(MAX_PREFIXES, len(running))).astype(int)]
    begin, end = log.offsets[:-1][case[chosen]], log.offsets[1:][case[chosen]] - 1
    wait = np.where(chosen > begin, log.seconds[chosen] - log.seconds[np.maximum(chosen - 1, 0)], 0)
    columns = [place[chosen], doublings(log.seconds[chosen] - log.seconds[begin]), doublings(wait)]
    for activity in activities.tolist():
        so_far = np.concatenate([[0], np.cumsum(log.ids == activity)])
        columns.append(so_far[chosen + 1] - so_far[begin])
        columns.append(log.ids[chosen] == activity)
    features = np.stack(columns, axis=1).astype(np.float32)
    return features, doublings(log.seconds[end] - log.seconds[chosen])
