"""Measures of control flow: directly-follows pairs, activities, lengths, overlap of variants.

Frequencies of pairs and of triples of activities are compared by total variation: the share that
would have to move to turn one distribution into the other. Shares of cases are compared by the
mean absolute error over everything that at least 1 % of the original cases have.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from ..sequences import name_sequences, share_activities

Floats = NDArray[np.float64]
Gram = tuple[int, ...]
"""Activities that follow each other directly; −1 is the beginning or the end of the case."""

MIN_SHARE = 0.01
"""Least share of the original cases that activities and pairs need to be compared."""
TOP_PAIRS = 20
"""Number of the most frequent directly-follows pairs that are compared by rank."""


def steps_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation of directly-follows pairs, start and end included."""
    return _total_variation(original, released, 2)


def trigrams_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation of triples of activities that follow each other directly."""
    return _total_variation(original, released, 3)


def top_steps_kept(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the most frequent directly-follows pairs that are among those of the release."""
    left, right = (_most_frequent(_grams(log, 2)) for log in share_activities(original, released))
    return len(left & right) / len(left) if left else 1.0


def activity_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases that have an activity."""
    return _mean_error(original, released, lambda log: _occurring(log, 1))


def repetition_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases that have an activity twice or more often."""
    return _mean_error(original, released, lambda log: _occurring(log, 2))


def eventually_error(original: VariantCounts, released: VariantCounts) -> float:
    """Mean error of the share of cases in which a is eventually followed by b."""
    return _mean_error(original, released, _eventually)


def length_error(original: VariantCounts, released: VariantCounts) -> float:
    """Error of the mean length of cases, relative to the original."""
    if not released.cases or not original.events:
        return 1.0 if original.events else 0.0
    before, after = original.events / original.cases, released.events / released.cases
    return abs(after - before) / before


def starts_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation of the first activities of cases."""
    return _boundary_distance(original, released, first=True)


def ends_distance(original: VariantCounts, released: VariantCounts) -> float:
    """Total variation of the last activities of cases."""
    return _boundary_distance(original, released, first=False)


def mass_kept(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the original cases whose variant is in the release."""
    return _share_known(original, released)


def invented(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the released cases whose variant is not in the original; 0 for an empty release."""
    return 1.0 - _share_known(released, original) if released.cases else 0.0


def size_error(original: VariantCounts, released: VariantCounts) -> float:
    """Error of the number of cases, relative to the original."""
    return abs(released.cases - original.cases) / original.cases


def _share_known(counts: VariantCounts, reference: VariantCounts) -> float:
    known = name_sequences(reference)
    sequences = name_sequences(counts)
    return sum(n for sequence, n in sequences.items() if sequence in known) / counts.cases


def _total_variation(original: VariantCounts, released: VariantCounts, size: int) -> float:
    if not released.cases:
        return 1.0
    left, right = (_grams(log, size) for log in share_activities(original, released))
    total = sum(left.values()), sum(right.values())
    return 0.5 * sum(
        abs(left.get(gram, 0) / total[0] - right.get(gram, 0) / total[1])
        for gram in {*left, *right}
    )


def _grams(log: VariantCounts, size: int) -> dict[Gram, int]:
    found: dict[Gram, int] = {}
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        path = (-1, *ids, -1)
        # A case that is shorter than `size` counts as a whole.
        for place in range(max(len(path) - size + 1, 1)):
            gram = path[place : place + size]
            found[gram] = found.get(gram, 0) + count
    return found


def _most_frequent(grams: dict[Gram, int]) -> set[Gram]:
    ranked = sorted(grams, key=lambda gram: (-grams[gram], gram))
    return set(ranked[:TOP_PAIRS])


def _mean_error(
    original: VariantCounts,
    released: VariantCounts,
    case_shares: Callable[[VariantCounts], Floats],
) -> float:
    left, right = map(case_shares, share_activities(original, released))
    compared = left >= MIN_SHARE
    return float(np.abs(left - right)[compared].mean()) if compared.any() else 0.0


def _occurring(log: VariantCounts, times: int) -> Floats:
    """[a]: the share of cases that have activity a at least this often."""
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
    case_shares = np.zeros(size * size)
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, activity in enumerate(ids):
            first.setdefault(activity, place)
            last[activity] = place
        pairs = [
            a * size + b for a, begin in first.items() for b, end in last.items() if end > begin
        ]
        case_shares[pairs] += count
    return case_shares / max(log.cases, 1)


def _boundary_distance(original: VariantCounts, released: VariantCounts, *, first: bool) -> float:
    if not released.cases:
        return 1.0
    left, right = (_boundaries(log, first=first) for log in share_activities(original, released))
    return float(0.5 * np.abs(left - right).sum())


def _boundaries(log: VariantCounts, *, first: bool) -> Floats:
    """The share of cases that begin (or end) with each activity; the last cell: no events."""
    size = len(log.activities)
    filled = log.lengths > 0
    places = log.offsets[:-1][filled] if first else log.offsets[1:][filled] - 1
    activities = np.full(len(log), size)
    activities[filled] = log.activity_ids[places]
    return np.bincount(activities, log.counts, minlength=size + 1) / log.cases
