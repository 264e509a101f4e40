"""The prefix tree of a log: how many cases begin with each prefix, and how many end there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .variants import VariantCounts

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
    finished: Ints
    """How many cases are finished there."""

    def children(self, parents: Ints) -> tuple[Ints, Ints]:
        """Find the children of parents: for each child the place of its parent there, and its own.

        Parents of -1 have none.
        """
        first = np.searchsorted(self.parents, parents, side="left")
        number = np.searchsorted(self.parents, parents, side="right") - first
        owner = np.repeat(np.arange(len(parents)), number)
        start = np.repeat(first - np.cumsum(number) + number, number)
        return owner, start + np.arange(len(owner))


def count_prefixes(variants: VariantCounts, max_length: int) -> list[Level]:
    """Count the cases that begin with each prefix; longer cases are cut.

    One case adds 1 to at most one prefix of each length, so the counts of one length,
    taken together, have sensitivity 1. The same holds for the finished ones of that length.
    Level 0 is the empty prefix.
    """
    lengths, counts = variants.lengths, variants.counts
    done = np.where(variants.finished, counts, 0)
    rows = np.arange(len(variants))
    node = np.zeros(len(variants), dtype=np.int64)
    levels = [
        Level(
            parents=np.array([-1]),
            activities=np.array([-1]),
            counts=np.array([counts.sum()]),
            finished=np.array([done[lengths == 0].sum()]),
        )
    ]
    for length in range(1, max_length + 1):
        keep = lengths[rows] >= length
        rows, node = rows[keep], node[keep]
        if not len(rows):
            break
        # Variants are sorted, so those that share a prefix lie together.
        last = variants.steps[variants.offsets[rows] + length - 1]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (last[1:] != last[:-1])
        starts = np.flatnonzero(new)
        levels.append(
            Level(
                parents=node[starts],
                activities=last[starts].astype(np.int64),
                counts=np.add.reduceat(counts[rows], starts),
                finished=np.add.reduceat(np.where(lengths[rows] == length, done[rows], 0), starts),
            )
        )
        node = np.cumsum(new) - 1
    return levels
