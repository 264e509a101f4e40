"""Rules that all cases of a log keep.

*Never* holds if no case shows the opposite, also for activities that no case has. *Always* holds if
every case with the activity agrees and at least one case has it, so that nothing is demanded on
behalf of activities that were not seen. A truncated case is evidence for what it contains, but not
for what it lacks.

It follows that every prefix of every case is harmless under the rules of its own log.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import VariantCounts
from .kinds import LogFacts
from .provenance import THIS_LOG, Provenance, Stated
from .rules import KINDS, Rules

Ints = NDArray[np.int64]

# This many (variant, activity) cells are processed together: bounds memory, not the result.
CELLS = 1 << 22


def learn_rules(variants: VariantCounts, source: Provenance | str = THIS_LOG) -> Rules:
    """Learn the rules that all cases keep. Reads the confidential log without any noise.

    Args:
        variants: The log.
        source: Origin of the rules. A sentence states that they are public.

    Returns:
        The rules.
    """
    facts = _facts(variants)
    nothing = variants.complete & (variants.lengths == 0)
    return Rules(
        activities=variants.activities,
        **{kind.name: kind.learn(facts) for kind in KINDS},
        empty=bool(nothing.any()) or not len(variants),
        source=Stated(source) if isinstance(source, str) else source,
    )


def _facts(variants: VariantCounts) -> LogFacts:
    size = len(variants.activities)
    having = np.zeros((2, size), dtype=np.int64)
    followed = np.zeros((2, size * size), dtype=np.int64)
    preceded = np.zeros(size * size, dtype=np.int64)
    for finished, activities, first, last in _blocks(variants):
        # One row per variant, one column per activity of it; then one cell per pair of those.
        pairs = activities[:, :, None] * size + activities[:, None, :]
        after = last[:, None, :] > first[:, :, None]
        before = first[:, None, :] < first[:, :, None]
        having[finished] += np.bincount(activities.ravel(), minlength=size)
        followed[finished] += np.bincount(pairs[after], minlength=size * size)
        preceded += np.bincount(pairs[before], minlength=size * size)
    filled = variants.lengths > 0
    ended = filled & variants.complete
    begins, ends = np.zeros((2, size), dtype=np.bool_)
    begins[variants.activity_ids[variants.offsets[:-1][filled]]] = True
    ends[variants.activity_ids[variants.offsets[1:][ended] - 1]] = True
    return LogFacts(
        having=having.sum(axis=0),
        having_finished=having[1],
        followed=followed.sum(axis=0).reshape(size, size),
        followed_finished=followed[1].reshape(size, size),
        preceded=preceded.reshape(size, size),
        first=begins,
        last=ends,
    )


def _blocks(variants: VariantCounts) -> Iterator[tuple[int, Ints, Ints, Ints]]:
    """Yield variants with the same number of distinct activities together.

    For each block: whether its variants are finished; for each variant its activities, and where
    each of them occurs first and last.
    """
    row, activity, first, last = _spans(variants)
    number = np.bincount(row, minlength=len(variants))
    begin = np.cumsum(number) - number
    block = number * 2 + variants.complete
    for value in np.unique(block[number > 0]).tolist():
        width, finished = divmod(value, 2)
        chosen = begin[block == value]
        many = max(1, CELLS // width**2)
        for start in range(0, len(chosen), many):
            cells = chosen[start : start + many, None] + np.arange(width)
            yield finished, activity[cells], first[cells], last[cells]


def _spans(variants: VariantCounts) -> tuple[Ints, Ints, Ints, Ints]:
    """Find where each activity of each variant occurs first and last, variant by variant."""
    size, lengths = len(variants.activities), variants.lengths
    many = max(1, CELLS // max(size, 1))
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    for start in range(0, len(variants), many):
        count = len(lengths[start : start + many])
        ids = variants.activity_ids[variants.offsets[start] : variants.offsets[start + count]]
        place = np.arange(len(ids))
        cell = np.repeat(np.arange(count), lengths[start : start + many]) * size + ids
        first = np.full(count * size, len(ids))
        last = np.full(count * size, -1)
        np.minimum.at(first, cell, place)
        np.maximum.at(last, cell, place)
        there = np.flatnonzero(last >= 0)
        row, activity = np.divmod(there, size)
        parts.append((row + start, activity, first[there], last[there]))
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none, none
    row, activity, first, last = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, activity, first, last
