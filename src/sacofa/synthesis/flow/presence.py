"""Activities that the released cases lack although the answers do not rule them out.

Where noise hides every directly-follows pair of an activity, sampling and fitting can lose it, even
one that a quarter of the cases have. So each such activity is inserted into one released case,
where the noisy votes for directly-follows pairs support it best. Everything here reads noisy
answers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids

Floats = NDArray[np.float64]

CASES_EACH_INSERTION = 20
"""At most one of as many cases is changed: of small logs with many activities, insertions would
otherwise be most of what is released."""


def insert_missing(released: Mapping[Ids, int], votes: Floats, max_length: int) -> dict[Ids, int]:
    """Insert each activity that no case has into one case, those with the most votes first.

    Args:
        released: The released sequences with their numbers of cases.
        votes: [a, b]: noisy votes for b directly after a; the last row begins and the last column
            ends a case.
        max_length: Cases of that length are truncated, so none is made as long.

    Returns:
        The same number of cases.
    """
    result = dict(released)
    end = len(votes) - 1
    there = {a for ids in released for a in ids}
    missing = [a for a in range(end) if a not in there]
    missing.sort(key=lambda a: -float(votes[:, a].max()))
    for a in missing[: sum(released.values()) // CASES_EACH_INSERTION]:
        place = _best_place(result, votes, a, max_length)
        if place is None:
            break
        ids, i = place
        result[ids] -= 1
        if not result[ids]:
            del result[ids]
        new = (*ids[:i], a, *ids[i:])
        result[new] = result.get(new, 0) + 1
    return result


def _best_place(
    released: Mapping[Ids, int], votes: Floats, activity: int, max_length: int
) -> tuple[Ids, int] | None:
    """The sequence and the place in it where most votes support an activity.

    Of several, the sequence of most cases; None where none may become longer.
    """
    end = len(votes) - 1
    gains = votes[:, activity][:, None] + votes[activity][None, :]
    best: tuple[float, int, Ids, int] | None = None
    for ids, cases in released.items():
        if len(ids) + 1 >= max_length:
            continue
        for i, (before, after) in enumerate(pairwise((end, *ids, end))):
            found = (float(gains[before, after]), cases, ids, i)
            if best is None or found[:2] > best[:2]:
                best = found
    return None if best is None else (best[2], best[3])
