"""Queries about control flow: how many cases, how long, which steps, nearest to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .distance import Ids, nearest
from .protocol import Ints, Part

VOTE_UNITS = 1_000
"""How many votes a case has for its steps; more would make the remainders smaller."""


@dataclass(frozen=True)
class CaseCount:
    """The number of cases. A case adds 1."""

    name: str = field(default="size", init=False)
    what: str = field(default="the number of cases", init=False)
    sensitivity: int = field(default=1, init=False)
    cells: int = field(default=1, init=False)
    by_case: bool = field(default=False, init=False)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        return np.array([part.counts.sum()], dtype=np.int64)

    def describe(self, values: Ints) -> object:
        """The number itself."""
        return values


@dataclass(frozen=True)
class CaseLengths:
    """How many cases end in each bin of lengths; longer ones in the last. A case adds 1."""

    edges: tuple[int, ...]
    """The upper ends of the bins: public."""
    name: str = field(default="lengths", init=False)
    what: str = field(default="the lengths of cases", init=False)
    sensitivity: int = field(default=1, init=False)
    by_case: bool = field(default=False, init=False)

    @property
    def cells(self) -> int:
        """A cell for each bin."""
        return len(self.edges)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        table = np.zeros(len(self.edges), dtype=np.int64)
        bins = np.minimum(np.searchsorted(self.edges, part.lengths), len(self.edges) - 1)
        np.add.at(table, bins, part.counts)
        return table

    def describe(self, values: Ints) -> object:
        """The noisy bins."""
        return values


@dataclass(frozen=True)
class StepVotes:
    """Contribution-bounded directly-follows counts: one case, one vote, spread over its steps.

    Cell [a, b] is b directly after a; the last row is the beginning and the last column the end. A
    case has VOTE_UNITS votes and spreads them evenly over its steps (a remainder is lost), so that
    it adds at most VOTE_UNITS in sum, however long it is. A truncated case has no last step; one
    without events goes from the beginning straight to the end.
    """

    activities: int
    """How many activities there are."""
    name: str = field(default="steps", init=False)
    what: str = field(default="votes for directly-follows steps", init=False)
    sensitivity: int = field(default=VOTE_UNITS, init=False)
    by_case: bool = field(default=False, init=False)

    @property
    def cells(self) -> int:
        """A cell for every step between two activities, the beginning and the end."""
        return (self.activities + 1) ** 2

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        size = self.activities + 1
        table = np.zeros(size * size, dtype=np.int64)
        ends = part.complete
        votes = part.counts * (VOTE_UNITS // np.maximum(part.lengths + ends, 1))
        # What comes before each event, and before each end: another event, or the beginning.
        # The array is shifted by one, so that an event's predecessor stands at the event's place.
        before = np.full(len(part.activity_ids) + 1, size - 1, dtype=np.int64)
        before[1:] = part.activity_ids
        # The end of a case comes after its last event; of one without events, after the beginning.
        last = np.where(part.lengths > 0, before[part.offsets[1:]], size - 1)
        # Where a case begins, the last event of the case before it must not count.
        before[part.offsets[:-1]] = size - 1
        np.add.at(table, before[:-1] * size + part.activity_ids, np.repeat(votes, part.lengths))
        np.add.at(table, last[ends] * size + size - 1, votes[ends])
        return table

    def describe(self, values: Ints) -> object:
        """The noisy votes."""
        return values


@dataclass(frozen=True)
class NearestCandidate:
    """How many cases are nearest to each candidate sequence. A case adds 1 to one of them."""

    name: str
    """Which of several such votes it is."""
    candidates: tuple[Ids, ...]
    """The sequences, all different; made of earlier answers only."""
    sensitivity: int = field(default=1, init=False)
    by_case: bool = field(default=False, init=False)

    @classmethod
    def of(cls, name: str, candidates: Sequence[Ids]) -> NearestCandidate:
        """Take any sequence of candidates."""
        return cls(name, tuple(candidates))

    @property
    def what(self) -> str:
        """Which vote it is, in words."""
        return f"votes for the nearest candidate ({self.name})"

    @property
    def cells(self) -> int:
        """A cell for each candidate."""
        return len(self.candidates)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        table = np.zeros(len(self.candidates), dtype=np.int64)
        places = nearest(list(part.sequences()), self.candidates, len(part.activities))
        np.add.at(table, places, part.counts)
        return table

    def describe(self, values: Ints) -> object:
        """The votes by candidate: which ones were asked is part of the answer."""
        return dict(zip(self.candidates, values.tolist(), strict=True))
