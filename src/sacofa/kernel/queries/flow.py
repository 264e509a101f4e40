"""Queries about control flow: case count, lengths, directly-follows pairs, nearest candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import ClassVar

import numpy as np

from ..language import Ids
from ..statements import Statement
from .protocol import Ints, Part, add_votes

VOTE_UNITS = 1_000
"""Number of votes of a case for its directly-follows pairs; more would reduce rounding."""
VOTES_FOR_REPEATS = 850
"""Number of them for repeated activities, if the case also has others that occur once."""
FEW_FOR_REPEATS = 100
"""The same for many activities, where the votes must also show which ones occur."""
FULL_WEIGHT = 16
"""Weight of a directly-follows pair in the division of votes, unless its activities are common."""
END_WEIGHT = FULL_WEIGHT // 2
"""Weight of the beginning and the end of a case, if common activities have other weights."""


SQUARES = np.arange(VOTE_UNITS + 1, dtype=np.int64) ** 2
"""The squares of all numbers of votes that a cell may get from a case."""
MOST_WEIGHT = 1 << 20
"""Maximum weight of a cell for a case, so that squares fit a machine word."""


@dataclass(frozen=True)
class BoundedVotes:
    """A query in which each case has VOTE_UNITS votes, in sum or in the Euclidean norm."""

    euclidean: bool = field(default=False, kw_only=True)
    """Whether votes are bounded in the L2 norm: a case with n cells gives each 1/√n and not 1/n."""

    l2_sensitivity: ClassVar[int] = VOTE_UNITS
    by_case: ClassVar[bool] = False

    @property
    def cells(self) -> Sequence[Hashable]:
        raise NotImplementedError

    @property
    def sensitivity(self) -> int:
        """In sum: of Euclidean votes more than a session accepts, by Cauchy and Schwarz."""
        root = isqrt(max(len(self.cells) - 1, 0)) + 1
        return VOTE_UNITS * root if self.euclidean else VOTE_UNITS

    def divide(self, owner: Ints, cells: Ints, weights: Ints | int, counts: Ints) -> Ints:
        """Make a table to which each case contributes its votes in proportion to weights.

        Each weight has an owner and a cell; owner i represents counts[i] cases.
        """
        size = len(self.cells)
        weights = np.broadcast_to(weights, owner.shape)
        if self.euclidean:
            keys, place = np.unique(owner * size + cells, return_inverse=True)
            owner, cells = np.divmod(keys, max(size, 1))
            added = np.zeros(len(keys), dtype=np.int64)
            np.add.at(added, place, weights)
            weights = np.minimum(added, MOST_WEIGHT) ** 2
        whole = np.zeros(len(counts), dtype=np.int64)
        np.add.at(whole, owner, weights)
        units = VOTE_UNITS**2 if self.euclidean else VOTE_UNITS
        votes = units * weights // np.maximum(whole[owner], 1)
        return add_votes(size, cells, (_root(votes) if self.euclidean else votes) * counts[owner])


@dataclass(frozen=True, kw_only=True)
class VoteQuery(BoundedVotes):
    """A query of cases one by one, in which each case has one vote."""

    by_case: ClassVar[bool] = True


def _root(squares: Ints) -> Ints:
    """⌊√x⌋ in whole numbers, for squares of numbers of votes."""
    return SQUARES.searchsorted(squares, side="right") - 1


@dataclass(frozen=True)
class CaseCount:
    """The number of cases. A case adds 1."""

    name: str = "size"
    """Which of several such queries it is."""

    what = Statement("query.cases")
    sensitivity = l2_sensitivity = 1
    by_case = False
    cells = range(1)

    def table(self, part: Part) -> Ints:
        return np.array([part.counts.sum()], dtype=np.int64)


@dataclass(frozen=True)
class CaseLengths(BoundedVotes):
    """Lengths of cases: each case votes for the two given lengths that enclose its own.

    The nearer of the two gets more votes, so that the mean is kept. Longer cases vote for the last.
    """

    edges: tuple[int, ...]
    """The lengths that are voted for, in order: public."""

    name = "lengths"
    what = Statement("query.lengths")

    @property
    def cells(self) -> range:
        return range(len(self.edges))

    def table(self, part: Part) -> Ints:
        places, votes = length_votes(self.edges, part.lengths)
        table = add_votes(len(self.edges), places, votes * part.counts)
        # The shortest cases have no votes for an edge below the first.
        np.add.at(table, np.maximum(places - 1, 0), (VOTE_UNITS - votes) * part.counts)
        return table


def length_votes(edges: Sequence[int], lengths: Ints) -> tuple[Ints, Ints]:
    """The upper of the two lengths that each lies between, and its votes; the rest is below."""
    ends = np.array(edges, dtype=np.int64)
    shown = np.clip(lengths, ends[0], ends[-1])
    upper = np.searchsorted(ends, shown)
    below = np.where(upper > 0, ends[upper - 1], 0)
    return upper, np.where(
        upper > 0, VOTE_UNITS * (shown - below) // (ends[upper] - below), VOTE_UNITS
    )


@dataclass(frozen=True)
class ActivityVotes(BoundedVotes):
    """In which cases an activity happens, once or repeatedly: one case, one vote, spread over them.

    Cell [a, 0] is for cases in which a happens once, [a, 1] for those that repeat it; the last cell
    is for cases without events. A case has VOTE_UNITS votes: `for_repeats` of them for the
    activities that it repeats and the rest for the others, or all where it has only one kind; it
    spreads them evenly over each kind (a remainder is lost). So it adds at most VOTE_UNITS in sum.
    Divided evenly, the few repeats of a case would drown among its other activities.
    """

    activities: int
    """Number of activities."""
    for_repeats: int = VOTES_FOR_REPEATS
    """Number of votes for repeated activities, if others occur once."""

    name = "activities"
    what = Statement("query.activities")

    @property
    def cells(self) -> range:
        return range(2 * self.activities + 1)

    def table(self, part: Part) -> Ints:
        size = max(self.activities, 1)
        table = np.zeros(2 * self.activities + 1, dtype=np.int64)
        owner = np.repeat(np.arange(len(part)), part.lengths)
        # Each different activity of each variant, with how often it happens there.
        places, times = np.unique(owner * size + part.activity_ids, return_counts=True)
        variants, activities = np.divmod(places, size)
        kinds = (times > 1).astype(np.int64)
        number = np.zeros((len(part), 2), dtype=np.int64)
        np.add.at(number, (variants, kinds), 1)
        others = number[variants, 1 - kinds]
        power = 2 if self.euclidean else 1
        whole, repeats = VOTE_UNITS**power, self.for_repeats**power
        votes = np.where(kinds == 1, repeats, whole - repeats)
        each = np.where(others > 0, votes, whole) // number[variants, kinds]
        each = _root(each) if self.euclidean else each
        np.add.at(table, 2 * activities + kinds, part.counts[variants] * each)
        table[-1] = VOTE_UNITS * part.counts[part.lengths == 0].sum()
        return table


@dataclass(frozen=True)
class StepVotes(BoundedVotes):
    """Contribution-bounded directly-follows counts: one case, one vote, spread over its steps.

    Cell [a, b] is b directly after a; the last row is the beginning and the last column the end. A
    case has VOTE_UNITS votes and spreads them over its steps in proportion to their weights (a
    remainder is lost), so that it adds at most VOTE_UNITS in sum, however long it is. A truncated
    case has no last step; one without events goes from the beginning straight to the end.
    """

    activities: int
    """Number of activities."""
    weights: tuple[int, ...] = ()
    """Weight of each activity, up to FULL_WEIGHT, from earlier answers only. A pair has the weight
    of its rarer activity; the beginning and the end of a case have END_WEIGHT. If empty, all pairs
    have the same weight."""
    once: bool = False
    """Whether only first occurrences of activities count: fewer pairs, with more votes each."""

    name = "steps"
    what = Statement("query.steps")

    @property
    def cells(self) -> range:
        return range((self.activities + 1) ** 2)

    def table(self, part: Part) -> Ints:
        size = self.activities + 1
        ids, ends = part.activity_ids, part.offsets
        owner = np.repeat(np.arange(len(part)), part.lengths)
        if self.once:
            _, first = np.unique(owner * size + ids, return_index=True)
            first.sort()
            ids, owner = ids[first], owner[first]
            ends = np.searchsorted(owner, np.arange(len(part) + 1))
        # The predecessor of each event and of each end: another event, or the beginning.
        before = np.full(len(ids) + 1, size - 1, dtype=np.int64)
        before[1:] = ids
        # The end of a case comes after its last event; of one without events, after the beginning.
        last = np.where(part.lengths > 0, before[ends[1:]], size - 1)
        # Where a case begins, the last event of the case before it must not count.
        before[ends[:-1]] = size - 1
        weights = self.step_weights()
        cells = np.append(before[:-1] * size + ids, last * size + size - 1)
        owner = np.append(owner, np.arange(len(part)))
        shares = np.append(weights[before[:-1], ids], weights[last, -1] * part.complete)
        return self.divide(owner, cells, shares, part.counts)

    def step_weights(self) -> Ints:
        """[a, b]: weight of the directly-follows pair in the division of votes."""
        weights = np.full(self.activities + 1, FULL_WEIGHT, dtype=np.int64)
        if self.weights:
            weights[:-1] = self.weights
            weights[-1] = END_WEIGHT
        return np.maximum(weights[:, None], weights[None, :])


@dataclass(frozen=True)
class TrigramVotes(BoundedVotes):
    """Contribution-bounded 3-grams: one case, one vote, spread over its events.

    The 3-gram of an event is that event between those directly before and after it; the number of
    activities stands for the beginning before the first and the end after the last. A case has
    VOTE_UNITS votes and spreads them evenly over its events (a remainder is lost), so that it adds
    at most VOTE_UNITS in sum. A truncated case has no 3-gram for its last event, and votes for
    3-grams that are not listed are lost; Euclidean votes are divided over the listed ones.
    """

    activities: int
    """Number of activities."""
    listed: tuple[Ids, ...]
    """The requested 3-grams, all distinct; from earlier answers only."""

    name = "trigrams"
    what = Statement("query.trigrams")

    @property
    def cells(self) -> tuple[Ids, ...]:
        return self.listed

    def table(self, part: Part) -> Ints:
        size = self.activities + 1
        # Of a thousand activities there are more 3-grams than 32 bits can number.
        ids, some = part.activity_ids.astype(np.int64), part.lengths > 0
        first, last = part.offsets[:-1][some], part.offsets[1:][some] - 1
        # Neighbours in the array are neighbours in the case, except at its first and last event.
        before, after = np.roll(ids, 1), np.roll(ids, -1)
        before[first] = after[last] = self.activities
        owner = np.repeat(np.arange(len(part)), part.lengths)
        listed = np.array(self.listed, dtype=np.int64).reshape(-1, 3) @ [size * size, size, 1]
        order = np.argsort(listed)
        codes = (before * size + ids) * size + after
        places = np.searchsorted(listed, codes, sorter=order)
        places = np.append(order, len(listed))[places]
        found = np.append(listed, -1)[places] == codes
        # A truncated case has no 3-gram for its last event.
        found[last] &= part.complete[some]
        owner, places = owner[found], places[found]
        if self.euclidean:
            return self.divide(owner, places, 1, part.counts)
        votes = VOTE_UNITS // part.lengths[owner] * part.counts[owner]
        return add_votes(len(listed), places, votes)


@dataclass(frozen=True)
class NearestCandidate:
    """Number of cases that are nearest to each candidate sequence. A case adds 1 to one of them."""

    name: str
    """Which of several such votes it is."""
    candidates: tuple[Ids, ...]
    """The sequences, all distinct; from earlier answers only."""
    nearest: Callable[[Sequence[Ids], Sequence[Ids], int], Ints]
    """Returns the candidate of each sequence: `sacofa.base.distance.nearest`. The sensitivity holds
    for any function that looks at each sequence alone."""

    sensitivity = l2_sensitivity = 1
    by_case = False

    @property
    def what(self) -> Statement:
        return Statement(f"query.nearest.{self.name}")

    @property
    def cells(self) -> tuple[Ids, ...]:
        return self.candidates

    def table(self, part: Part) -> Ints:
        places = self.nearest(list(part.sequences()), self.candidates, len(part.activities))
        return add_votes(len(self.candidates), places, part.counts)
