"""What analysts ask of a log: how often b follows a, in how many cases, what repeats, how long.

Frequencies of steps and of three activities in a row are compared by total variation: the share of
them that would have to move to make one distribution of the other. Shares of cases are compared
by the mean absolute error over everything that at least 1 % of the original cases show.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from ..sequences import share_activities

Floats = NDArray[np.float64]
SHOWN = 0.01
"""What fewer of the original cases show is not asked for."""
TOP = 20
"""So many steps are what people look at first."""


def steps_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation between the frequencies of directly-follows steps, start and end included."""
    return _total_variation(original, released, 2)


def trigrams_distance(original: VariantCounts, released: VariantCounts) -> float:
    """The same for three activities in a row."""
    return _total_variation(original, released, 3)


def activity_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases in which an activity happens."""
    return _mean_error(*(_occurring(log, 1) for log in share_activities(original, released)))


def repetition_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases in which an activity is repeated."""
    return _mean_error(*(_occurring(log, 2) for log in share_activities(original, released)))


def eventually_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases in which a is at some time followed by b."""
    return _mean_error(*(_eventually(log) for log in share_activities(original, released)))


def length_error(original: VariantCounts, released: VariantCounts) -> float:
    """How far the mean length of cases is off, relative to the original."""
    if not released.cases or not original.events:
        return 1.0 if original.events else 0.0
    before, after = original.events / original.cases, released.events / released.cases
    return abs(after - before) / before


def top_steps_kept(original: VariantCounts, released: VariantCounts) -> float:
    """How many of the most frequent steps of the original are among those of the release."""
    left, right = (_top(_grams(log, 2)) for log in share_activities(original, released))
    return len(left & right) / len(left) if left else 1.0


def starts_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation between the first activities of cases."""
    return _ends_distance(original, released, first=True)


def ends_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation between the last activities of cases."""
    return _ends_distance(original, released, first=False)


def _total_variation(original: VariantCounts, released: VariantCounts, size: int) -> float:
    if not released.cases:
        return 1.0
    left, right = (_grams(log, size) for log in share_activities(original, released))
    total = sum(left.values()), sum(right.values())
    return 0.5 * sum(
        abs(left.get(gram, 0) / total[0] - right.get(gram, 0) / total[1])
        for gram in {*left, *right}
    )


def _grams(log: VariantCounts, size: int) -> dict[tuple[int, ...], int]:
    """How often activities come directly after one another; -1 is the beginning and the end."""
    found: dict[tuple[int, ...], int] = {}
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        path = (-1, *ids, -1)
        # A case that is shorter than asked for counts as what it is.
        for place in range(max(len(path) - size + 1, 1)):
            gram = path[place : place + size]
            found[gram] = found.get(gram, 0) + count
    return found


def _occurring(log: VariantCounts, times: int) -> Floats:
    """The share of cases in which each activity happens at least so often."""
    size = len(log.activities)
    if not log.cases or not size:
        return np.zeros(size)
    owner = np.repeat(np.arange(len(log)), log.lengths)
    cells, number = np.unique(owner * size + log.activity_ids, return_counts=True)
    variant, activity = np.divmod(cells[number >= times], size)
    weights = log.counts[variant] / log.cases
    return np.asarray(np.bincount(activity, weights, minlength=size), dtype=np.float64)


def _eventually(log: VariantCounts) -> Floats:
    """[a, b]: the share of cases in which some b comes after some a."""
    size = len(log.activities)
    shares = np.zeros(size * size)
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, activity in enumerate(ids):
            first.setdefault(activity, place)
            last[activity] = place
        pairs = [
            a * size + b for a, begin in first.items() for b, end in last.items() if end > begin
        ]
        shares[pairs] += count
    return shares / max(log.cases, 1)


def _mean_error(left: Floats, right: Floats) -> float:
    asked = left >= SHOWN
    return float(np.abs(left - right)[asked].mean()) if asked.any() else 0.0


def _top(grams: dict[tuple[int, ...], int]) -> set[tuple[int, ...]]:
    ranked = sorted(grams, key=lambda gram: (-grams[gram], gram))
    return set(ranked[:TOP])


def _ends_distance(original: VariantCounts, released: VariantCounts, *, first: bool) -> float:
    if not released.cases:
        return 1.0
    left, right = (_ends(log, first=first) for log in share_activities(original, released))
    return float(0.5 * np.abs(left - right).sum())


def _ends(log: VariantCounts, *, first: bool) -> Floats:
    """The share of cases that begin (or end) with each activity; the last cell: no events."""
    size = len(log.activities)
    real = log.lengths > 0
    places = log.offsets[:-1][real] if first else log.offsets[1:][real] - 1
    ends = np.full(len(log), size)
    ends[real] = log.activity_ids[places]
    return np.bincount(ends, log.counts, minlength=size + 1) / log.cases
