"""The noisy prefix tree of the papers' mechanisms: its levels, and how prefixes are spelled out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernel.language import Word
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from .prefixes import NONE

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """The prefixes of one level that may grow."""

    states: Ints
    """What the semantics know of each prefix."""
    parents: Ints
    """The place of each prefix's parent in the frontier above."""
    activities: Ints
    """The last activity of each prefix."""
    counts: Ints
    """The noisy count of each prefix."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """Candidates that were taken: an activity equal to the number of activities is the end."""

    rows: Ints
    """The place of each candidate's parent in the frontier."""
    activities: Ints
    """The step that makes the candidate of its parent."""
    places: Ints
    """The place of each candidate among the steps that some case takes; -1 where no case does."""
    counts: Ints
    """The noisy counts."""

    @classmethod
    def join(cls, parts: list[Found]) -> Found:
        """Put parts end to end."""
        # Levels with one kind of candidates are common: what is there is not copied.
        parts = [part for part in parts if len(part.rows)]
        if len(parts) < 2:
            return parts[0] if parts else NOTHING
        return cls(
            rows=np.concatenate([part.rows for part in parts]),
            activities=np.concatenate([part.activities for part in parts]),
            places=np.concatenate([part.places for part in parts]),
            counts=np.concatenate([part.counts for part in parts]),
        )

    def where(self, kept: NDArray[np.bool_]) -> Found:
        """Keep some."""
        return Found(
            rows=self.rows[kept],
            activities=self.activities[kept],
            places=self.places[kept],
            counts=self.counts[kept],
        )


NOTHING = Found(rows=NONE, activities=NONE, places=NONE, counts=NONE)


def backtrack(frontiers: list[Frontier], length: int, rows: Ints) -> Ints:
    """Spell out prefixes of one length: a row of activity ids each."""
    # A prefix is known by its last activity and its parent: walk up, all prefixes at once.
    spelled = np.empty((len(rows), length), dtype=np.int64)
    for place in range(length, 0, -1):
        spelled[:, place - 1] = frontiers[place].activities[rows]
        rows = frontiers[place].parents[rows]
    return spelled


class NoisyPrefixes(Mapping[Word, int]):
    """The noisy count of every prefix and every end that was kept; spelled out when asked for."""

    def __init__(self, frontiers: list[Frontier], finished: list[Found]) -> None:
        self._frontiers, self._finished = frontiers, finished

    # A tree can have millions of prefixes, and only an audit asks for them one by one.
    @cached_property
    def _counts(self) -> dict[Word, int]:
        blocks = [
            (length, np.arange(len(level.counts)), level.counts, False)
            for length, level in enumerate(self._frontiers)
            if length
        ]
        # Entry n of `finished` was found on level n + 1: its prefixes have n activities.
        blocks += [(n, found.rows, found.counts, True) for n, found in enumerate(self._finished)]
        counts: dict[Word, int] = {}
        for length, rows, noisy, done in blocks:
            spelled = backtrack(self._frontiers, length, rows).tolist()
            for ids, count in zip(spelled, noisy.tolist(), strict=True):
                counts[tuple(ids), done] = count
        return counts

    def __getitem__(self, word: Word) -> int:
        return self._counts[word]

    def __iter__(self) -> Iterator[Word]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)


def spell(
    activities: tuple[str, ...],
    frontiers: list[Frontier],
    finished: list[Found],
    full: Ints,
    unit: Unit,
) -> VariantCounts:
    """Put the finished prefixes and those of full length together as variants."""
    # What ended on each level, then what was still growing at full length.
    blocks = [
        (backtrack(frontiers, length, found.rows), found.counts, True)
        for length, found in enumerate(finished)
        if len(found.rows)
    ]
    blocks.append((backtrack(frontiers, len(frontiers) - 1, np.arange(len(full))), full, False))
    # Sorted there into the public order, so that the order of noise does not show.
    return VariantCounts.from_arrays(
        activities,
        np.concatenate([spelled.ravel() for spelled, _, _ in blocks]),
        np.concatenate([np.full(len(s), s.shape[1]) for s, _, _ in blocks]),
        np.concatenate([counts for _, counts, _ in blocks]),
        np.concatenate([np.full(len(s), done) for s, _, done in blocks]),
        unit,
    )
