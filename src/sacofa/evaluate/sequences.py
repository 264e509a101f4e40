"""Releases and logs as plain sequences of activity names, the form in which they are compared.

A case that was cut is compared as the sequence it is: no measure looks at whether it went on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import Variant, VariantCounts


def name_sequences(counts: VariantCounts) -> dict[Variant, int]:
    """Map each sequence of activity names to its number of cases."""
    names = counts.activities
    total: dict[Variant, int] = {}
    for ids, count in zip(counts.sequences(), counts.counts.tolist(), strict=True):
        sequence = tuple(names[i] for i in ids)
        total[sequence] = total.get(sequence, 0) + count
    return total


def share_activities(
    original: VariantCounts, released: VariantCounts
) -> tuple[VariantCounts, VariantCounts]:
    """Express both over the same activities, and cut cases as the sequences they are."""
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
    """Give the share of the cases that took each variant."""
    weights: NDArray[np.float64] = counts.counts / counts.counts.sum()
    return weights
