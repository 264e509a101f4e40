"""Prefixes of a log and noisy prefixes, level by level: level n holds prefixes of length n.

A candidate of a level is one number, `row * width + step`: `row` is the place of its prefix on the
level above, `step` the activity that follows, or `width - 1` if the case ends there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernel.language import Word
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts

Ints = NDArray[np.int64]


class Prefixes:
    """The variants of a log, by which prefix of the present level they begin with. Secret."""

    def __init__(self, variants: VariantCounts) -> None:
        """Begin with the empty prefix, which every case has."""
        self._variants, self._width = variants, len(variants.activities) + 1
        self._length = 0
        self._members = np.arange(len(variants))
        self._rows = np.zeros(len(variants), dtype=np.int64)

    def count(self) -> tuple[Ints, Ints]:
        """The candidates of the next level that some case has, ascending, and their counts.

        One case adds 1 to at most one candidate of a level, so the counts have sensitivity 1.
        """
        variants, members = self._variants, self._members
        goes_on = variants.lengths[members] > self._length
        steps = np.full(len(members), self._width - 1)
        steps[goes_on] = variants.activity_ids[variants.offsets[members[goes_on]] + self._length]
        # A truncated variant neither goes on nor ends: how it went on is unknown.
        known = goes_on | variants.complete[members]
        self._members = members[known]
        self._taken = self._rows[known] * self._width + steps[known]
        # One number for prefix and step, so that one sort groups them.
        candidates, place = np.unique(self._taken, return_inverse=True)
        # bincount with weights would add floats, which lose counts above 2^53.
        counts = np.zeros(len(candidates), dtype=np.int64)
        np.add.at(counts, place, variants.counts[self._members])
        return candidates, counts

    def keep(self, candidates: Ints) -> None:
        """Go on with some candidates: they are the rows of the next level, in this order."""
        kept, order = np.isin(self._taken, candidates), np.argsort(candidates)
        self._members = self._members[kept]
        self._rows = order[np.searchsorted(candidates, self._taken[kept], sorter=order)]
        self._length += 1


class NoisyPrefixes(Mapping[Word, int]):
    """The noisy count of every prefix and every end that was kept; spelled out when asked for."""

    def __init__(self, activities: tuple[str, ...]) -> None:
        self._activities, self.width = activities, len(activities) + 1
        # The empty prefix stands above the first level; it has no parent and no activity.
        root = np.zeros(1, dtype=np.int64)
        self._growing, self._ended = [(root, root)], list[tuple[Ints, Ints]]()

    @property
    def length(self) -> int:
        """The length of the longest prefixes."""
        return len(self._growing) - 1

    def add(self, candidates: Ints, counts: Ints) -> Ints:
        """Add a level: what ended is released and never grows; return the others."""
        ends = candidates % self.width == self.width - 1
        self._ended.append((candidates[ends], counts[ends]))
        longer: Ints = candidates[~ends]
        self._growing.append((longer, counts[~ends]))
        return longer

    def spell(self, rows: Ints, length: int | None = None) -> Ints:
        """Spell out prefixes of one length, by default the greatest: a row of ids each."""
        # A prefix is known by its last activity and its parent: walk up, all prefixes at once.
        length = self.length if length is None else length
        spelled = np.empty((len(rows), length), dtype=np.int64)
        for place in range(length, 0, -1):
            rows, spelled[:, place - 1] = np.divmod(self._growing[place][0][rows], self.width)
        return spelled

    def variants(self, unit: Unit) -> VariantCounts:
        """The finished prefixes and those of full length together as variants."""
        full = self._growing[-1][1]
        blocks = [*self._finished(), (self.spell(np.arange(len(full))), full, False)]
        # Sorted there into the public order, so that the order of noise does not show.
        return VariantCounts.from_arrays(
            self._activities,
            np.concatenate([spelled.ravel() for spelled, _, _ in blocks]),
            np.concatenate([np.full(len(s), s.shape[1]) for s, _, _ in blocks]),
            np.concatenate([counts for _, counts, _ in blocks]),
            np.concatenate([np.full(len(s), done) for s, _, done in blocks]),
            unit,
        )

    def _finished(self) -> Iterator[tuple[Ints, Ints, bool]]:
        # What ended on level n + 1 has n activities.
        for length, (candidates, counts) in enumerate(self._ended):
            yield self.spell(candidates // self.width, length), counts, True

    # A tree can have millions of prefixes, and only an audit asks for them one by one.
    @cached_property
    def _counts(self) -> dict[Word, int]:
        blocks = [
            (self.spell(np.arange(len(counts)), length), counts, False)
            for length, (_, counts) in enumerate(self._growing)
            if length
        ]
        return {
            (tuple(ids), done): count
            for spelled, noisy, done in (*blocks, *self._finished())
            for ids, count in zip(spelled.tolist(), noisy.tolist(), strict=True)
        }

    def __getitem__(self, word: Word) -> int:
        return self._counts[word]

    def __iter__(self) -> Iterator[Word]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)
