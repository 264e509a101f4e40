"""Train on the release, test on the original: how well the rest of a running case is foretold.

A regression tree learns from released cases how long a case still takes, given what happened so
far: which activities, the last one, how many events, how long it took and how long the last wait
was. It is then asked about the cases of the original. What a model of one half of the original
knows about the other half is the limit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..extras import optional_module
from .performance import doublings
from .timed import Floats, Ints, Timed

SEED = 0
"""The tree is the same each time."""
PREFIXES = 20_000
"""More beginnings of cases than this are thinned evenly."""
ACTIVITIES = 200
"""The most frequent activities of the original are told apart."""
DEPTH, LEAF = 8, 20


def remaining_time_error(original: Timed, released: Timed) -> float | None:
    """How far off remaining times are foretold, on average in doublings; None without any."""
    if len(original.ids) == original.cases or len(released.ids) == released.cases:
        return None
    frequent = np.argsort(-np.bincount(original.ids), kind="stable")[:ACTIVITIES]
    known, rest = _prefixes(released, frequent)
    asked, true = _prefixes(original, frequent)
    leaf = max(1, min(LEAF, len(rest) // 10))
    tree = optional_module("sklearn.tree").DecisionTreeRegressor(
        criterion="squared_error", max_depth=DEPTH, min_samples_leaf=leaf, random_state=SEED
    )
    foretold = tree.fit(known, rest).predict(asked)
    return float(np.abs(foretold - true).mean())


def _prefixes(log: Timed, activities: Ints) -> tuple[NDArray[np.float32], Floats]:
    """What is known after each event but the last of a case, and how long the case still takes."""
    case = log.case
    place = np.arange(len(case)) - log.offsets[:-1][case]
    going_on = np.flatnonzero(place < np.diff(log.offsets)[case] - 1)
    chosen = going_on[np.linspace(0, len(going_on) - 1, min(PREFIXES, len(going_on))).astype(int)]
    begin, end = log.offsets[:-1][case[chosen]], log.offsets[1:][case[chosen]] - 1
    wait = np.where(chosen > begin, log.seconds[chosen] - log.seconds[np.maximum(chosen - 1, 0)], 0)
    columns = [place[chosen], doublings(log.seconds[chosen] - log.seconds[begin]), doublings(wait)]
    for activity in activities.tolist():
        so_far = np.concatenate([[0], np.cumsum(log.ids == activity)])
        columns.append(so_far[chosen + 1] - so_far[begin])
        columns.append(log.ids[chosen] == activity)
    features = np.stack(columns, axis=1).astype(np.float32)
    return features, doublings(log.seconds[end] - log.seconds[chosen])
