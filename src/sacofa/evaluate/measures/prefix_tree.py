"""The whole prefix tree of a log: how many cases begin with each prefix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Level:
    """All prefixes of one length, in order, so that the children of a prefix lie together."""

    parents: Ints
    """The place of each prefix's parent in the level above."""
    activities: Ints
    """The last activity of each prefix."""
    counts: Ints
    """How many cases begin with each prefix."""


def count_prefixes(variants: VariantCounts, max_length: int) -> list[Level]:
    """Count the cases that begin with each prefix; level 0 is the empty one."""
    lengths, counts = variants.lengths, variants.counts
    rows = np.arange(len(variants))
    node = np.zeros(len(variants), dtype=np.int64)
    levels = [
        Level(
            parents=np.array([-1]),
            activities=np.array([-1]),
            counts=np.array([counts.sum()]),
        )
    ]
    for length in range(1, max_length + 1):
        keep = lengths[rows] >= length
        rows, node = rows[keep], node[keep]
        if not len(rows):
            break
        # Variants are sorted, so those that share a prefix lie together.
        last = variants.activity_ids[variants.offsets[rows] + length - 1]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (last[1:] != last[:-1])
        starts = np.flatnonzero(new)
        levels.append(
            Level(
                parents=node[starts],
                activities=last[starts].astype(np.int64),
                counts=np.add.reduceat(counts[rows], starts),
            )
        )
        node = np.cumsum(new) - 1
    return levels
