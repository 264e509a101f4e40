"""Queries about control flow: how many cases, how long, which steps, nearest to what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..language import Ids
from ..statements import Statement
from .protocol import Ints, Part, add_votes

VOTE_UNITS = 1_000
"""How many votes a case has for its steps; more would make the remainders smaller."""
VOTES_FOR_REPEATS = 850
"""How many of them are for the activities that a case repeats, if it does others once."""
FEW_FOR_REPEATS = 100
"""The same where there are so many activities that these votes are to tell which happen at all."""
FULL_WEIGHT = 16
"""What a step counts when a case divides its votes, unless its activities are known to be common.
"""
END_WEIGHT = 8
"""What the beginning and the end of a case count beside activities that are known to be common."""


@dataclass(frozen=True, kw_only=True)
class VoteQuery:
    """A query of cases one by one, in which each case has one vote."""

    sensitivity = VOTE_UNITS
    by_case = True


@dataclass(frozen=True)
class CaseCount:
    """The number of cases. A case adds 1."""

    name: str = "size"
    """Which of several such queries it is."""

    what = Statement("query.cases")
    sensitivity = 1
    by_case = False
    cells = range(1)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        return np.array([part.counts.sum()], dtype=np.int64)


@dataclass(frozen=True)
class CaseLengths:
    """How long cases are: each votes for the two of some lengths that it lies between.

    It has VOTE_UNITS votes, and the nearer of the two gets more of them: half-way between them,
    both get the same. So what these lengths say of the mean is what the cases say. Longer
    cases vote for the last.
    """

    edges: tuple[int, ...]
    """The lengths that are voted for, in order: public."""

    name = "lengths"
    what = Statement("query.lengths")
    sensitivity = VOTE_UNITS
    by_case = False

    @property
    def cells(self) -> range:
        """A cell for each of the lengths."""
        return range(len(self.edges))

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        places, votes = length_votes(self.edges, part.lengths)
        table = add_votes(len(self.edges), places, votes * part.counts)
        # Who is no longer than the first has no votes left for one below.
        np.add.at(table, np.maximum(places - 1, 0), (VOTE_UNITS - votes) * part.counts)
        return table


def length_votes(edges: Sequence[int], lengths: Ints) -> tuple[Ints, Ints]:
    """The upper of the two lengths that each lies between, and the votes that this one gets.

    The one below it gets the rest.
    """
    ends = np.array(edges, dtype=np.int64)
    shown = np.clip(lengths, ends[0], ends[-1])
    upper = np.searchsorted(ends, shown)
    below = np.where(upper > 0, ends[upper - 1], 0)
    return upper, np.where(
        upper > 0, VOTE_UNITS * (shown - below) // (ends[upper] - below), VOTE_UNITS
    )


@dataclass(frozen=True)
class ActivityVotes:
    """In which cases an activity happens, once or repeatedly: one case, one vote, spread over them.

    Cell [a, 0] is for cases in which a happens once, [a, 1] for those that repeat it; the last cell
    is for cases without events. A case has VOTE_UNITS votes: `for_repeats` of them for the
    activities that it repeats and the rest for the others, or all where it has only one kind; it
    spreads them evenly over each kind (a remainder is lost). So it adds at most VOTE_UNITS in sum.
    Divided evenly, the few repeats of a case would drown among its other activities.
    """

    activities: int
    """How many activities there are."""
    for_repeats: int = VOTES_FOR_REPEATS
    """How many votes are for what a case repeats, if it does others once."""

    name = "activities"
    what = Statement("query.activities")
    sensitivity = VOTE_UNITS
    by_case = False

    @property
    def cells(self) -> range:
        """Two cells for each activity, and one for none."""
        return range(2 * self.activities + 1)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        size = max(self.activities, 1)
        table = np.zeros(2 * self.activities + 1, dtype=np.int64)
        owner = np.repeat(np.arange(len(part)), part.lengths)
        # Each different activity of each variant, with how often it happens there.
        places, times = np.unique(owner * size + part.activity_ids, return_counts=True)
        variants, activities = np.divmod(places, size)
        kinds = (times > 1).astype(np.int64)
        number = np.zeros((len(part), 2), dtype=np.int64)
        np.add.at(number, (variants, kinds), 1)
        votes = np.where(kinds == 1, self.for_repeats, VOTE_UNITS - self.for_repeats)
        others = number[variants, 1 - kinds]
        each = np.where(others > 0, votes, VOTE_UNITS) // number[variants, kinds]
        np.add.at(table, 2 * activities + kinds, part.counts[variants] * each)
        table[-1] = VOTE_UNITS * part.counts[part.lengths == 0].sum()
        return table


@dataclass(frozen=True)
class StepVotes:
    """Contribution-bounded directly-follows counts: one case, one vote, spread over its steps.

    Cell [a, b] is b directly after a; the last row is the beginning and the last column the end. A
    case has VOTE_UNITS votes and spreads them over its steps in proportion to their weights (a
    remainder is lost), so that it adds at most VOTE_UNITS in sum, however long it is. A truncated
    case has no last step; one without events goes from the beginning straight to the end.
    """

    activities: int
    """How many activities there are."""
    weights: tuple[int, ...] = ()
    """What each activity counts, up to FULL_WEIGHT, made of earlier answers only; a step counts as
    the rarer of its two ends does, and the beginning and the end of a case count END_WEIGHT. Left
    out, all steps count the same."""
    once: bool = False
    """Whether a case votes as if each of its activities had happened the first time only: fewer
    steps get more votes each, and none leads back."""

    name = "steps"
    what = Statement("query.steps")
    sensitivity = VOTE_UNITS
    by_case = False

    @property
    def cells(self) -> range:
        """A cell for every step between two activities, the beginning and the end."""
        return range((self.activities + 1) ** 2)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        size = self.activities + 1
        ids, ends = part.activity_ids, part.offsets
        owner = np.repeat(np.arange(len(part)), part.lengths)
        if self.once:
            _, first = np.unique(owner * size + ids, return_index=True)
            first.sort()
            ids, owner = ids[first], owner[first]
            ends = np.searchsorted(owner, np.arange(len(part) + 1))
        # What comes before each event, and before each end: another event, or the beginning.
        # The array is shifted by one, so that an event's predecessor stands at the event's place.
        before = np.full(len(ids) + 1, size - 1, dtype=np.int64)
        before[1:] = ids
        # The end of a case comes after its last event; of one without events, after the beginning.
        last = np.where(part.lengths > 0, before[ends[1:]], size - 1)
        # Where a case begins, the last event of the case before it must not count.
        before[ends[:-1]] = size - 1
        weights = self.step_weights()
        to_event = weights[before[:-1], ids]
        to_end = weights[last, -1] * part.complete
        whole = to_end.copy()
        np.add.at(whole, owner, to_event)
        table = np.zeros(size * size, dtype=np.int64)
        votes = VOTE_UNITS * to_event // whole[owner] * part.counts[owner]
        np.add.at(table, before[:-1] * size + ids, votes)
        # A truncated case without events has no step at all.
        votes = VOTE_UNITS * to_end // np.maximum(whole, 1) * part.counts
        np.add.at(table, last * size + size - 1, votes)
        return table

    def step_weights(self) -> Ints:
        """[a, b]: what the step from a to b counts when a case divides its votes."""
        weights = np.full(self.activities + 1, FULL_WEIGHT, dtype=np.int64)
        if self.weights:
            weights[:-1] = self.weights
            weights[-1] = END_WEIGHT
        return np.maximum(weights[:, None], weights[None, :])


@dataclass(frozen=True)
class TrigramVotes:
    """Contribution-bounded 3-grams: one case, one vote, spread over its events.

    The 3-gram of an event is that event between those directly before and after it; the number of
    activities stands for the beginning before the first and the end after the last. A case has
    VOTE_UNITS votes and spreads them evenly over its events (a remainder is lost), so that it adds
    at most VOTE_UNITS in sum. A truncated case has no 3-gram for its last event, and votes for
    3-grams that are not listed are lost.
    """

    activities: int
    """How many activities there are."""
    listed: tuple[Ids, ...]
    """The 3-grams that are asked for, all different; made of earlier answers only."""

    name = "trigrams"
    what = Statement("query.trigrams")
    sensitivity = VOTE_UNITS
    by_case = False

    @property
    def cells(self) -> tuple[Ids, ...]:
        """A cell for each 3-gram, under its own activities: lists differ from run to run."""
        return self.listed

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        size = self.activities + 1
        # Of a thousand activities there are more 3-grams than 32 bits can number.
        ids, some = part.activity_ids.astype(np.int64), part.lengths > 0
        first, last = part.offsets[:-1][some], part.offsets[1:][some] - 1
        # What stands beside an event in the array does so in the case, but at its first and last.
        before, after = np.roll(ids, 1), np.roll(ids, -1)
        before[first] = after[last] = self.activities
        owner = np.repeat(np.arange(len(part)), part.lengths)
        votes = VOTE_UNITS // part.lengths[owner] * part.counts[owner]
        votes[last] *= part.complete[some]
        listed = np.array(self.listed, dtype=np.int64).reshape(-1, 3) @ [size * size, size, 1]
        order = np.argsort(listed)
        codes = (before * size + ids) * size + after
        places = np.searchsorted(listed, codes, sorter=order)
        table = np.zeros(len(listed) + 1, dtype=np.int64)
        # What lies behind all listed ones, or is none of them, gets a cell that is left out.
        places = np.append(order, len(listed))[places]
        found = np.append(listed, -1)[places] == codes
        np.add.at(table, places[found], votes[found])
        return table[:-1]


@dataclass(frozen=True)
class NearestCandidate:
    """How many cases are nearest to each candidate sequence. A case adds 1 to one of them."""

    name: str
    """Which of several such votes it is."""
    candidates: tuple[Ids, ...]
    """The sequences, all different; made of earlier answers only."""
    nearest: Callable[[Sequence[Ids], Sequence[Ids], int], Ints]
    """Returns the candidate of each sequence: `sacofa.base.distance.nearest`. The sensitivity holds
    for any function that looks at each sequence alone."""

    sensitivity = 1
    by_case = False

    @property
    def what(self) -> Statement:
        """Which vote it is."""
        return Statement(f"query.nearest.{self.name}")

    @property
    def cells(self) -> tuple[Ids, ...]:
        """A cell for each candidate, under its own sequence: lists differ from run to run."""
        return self.candidates

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        places = self.nearest(list(part.sequences()), self.candidates, len(part.activities))
        return add_votes(len(self.candidates), places, part.counts)
