"""Logs as sequences of activity names, the form in which they are compared.

A truncated case counts as the sequence that it has: no measure asks whether it continued.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import Variant, VariantCounts


def name_sequences(counts: VariantCounts) -> dict[Variant, int]:
    """Return the number of cases of each sequence of activity names."""
    names = counts.activities
    total: dict[Variant, int] = {}
    for ids, count in zip(counts.sequences(), counts.counts.tolist(), strict=True):
        sequence = tuple(names[i] for i in ids)
        total[sequence] = total.get(sequence, 0) + count
    return total


def share_activities(
    original: VariantCounts, released: VariantCounts
) -> tuple[VariantCounts, VariantCounts]:
    """Express two logs over the same activities, with truncated cases as plain sequences."""
    known = set(original.activities)
    new = (name for name in released.activities if name not in known)
    activities = (*original.activities, *new)
    return _as_sequences(original.project_onto(activities)), _as_sequences(
        released.project_onto(activities)
    )


def _as_sequences(counts: VariantCounts) -> VariantCounts:
    if counts.complete.all():
        return counts
    return VariantCounts.from_arrays(
        counts.activities, counts.activity_ids, counts.lengths, counts.counts
    )


def shares(counts: VariantCounts) -> NDArray[np.float64]:
    """Return the share of the cases of each variant."""
    weights: NDArray[np.float64] = counts.counts / counts.counts.sum()
    return weights
