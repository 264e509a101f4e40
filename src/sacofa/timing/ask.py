"""Which questions about time are asked, given what was already released of the flow.

The released variants are public by now. They say which steps there are and about how many votes
each will get; so a row of its own, and how fine its bins are, is chosen for each step without
looking at the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..queries.durations import rung_for
from ..queries.times import Arrivals, CycleTime, Elapsed, Gaps, ServiceTime, WeekHours
from ..queries.times import first_occurrences
from ..variants import VariantCounts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

OWN_ROW = 4.0
"""A step has a row of its own if it will get so many noise scales of votes."""


class ReleasedFlow:
    """Released variants, and the votes that their cases would give."""

    def __init__(self, variants: VariantCounts) -> None:
        self.activities = len(variants.activities)
        self.names = variants.activities
        self.ids = variants.steps.astype(np.int64)
        self.offsets = variants.offsets
        self.lengths = np.diff(variants.offsets)
        self.counts = variants.counts
        self.variant = np.repeat(np.arange(len(self.counts)), self.lengths)

    @cached_property
    def cases(self) -> int:
        """How many cases there are."""
        return int(self.counts.sum())

    @cached_property
    def ends(self) -> Ints:
        """The places of the events that a gap ends with."""
        return np.flatnonzero(self.variant[1:] == self.variant[:-1]) + 1

    @cached_property
    def gap_votes(self) -> Floats:
        """What part of a vote each gap of a variant is."""
        return 1.0 / (self.lengths[self.variant[self.ends]] - 1)

    @cached_property
    def firsts(self) -> NDArray[np.bool_]:
        """Whether the event that a gap ends with is the first of its activity."""
        first = np.zeros(len(self.ids), dtype=np.bool_)
        first[first_occurrences(self.ids, self.variant)] = True  # type: ignore[arg-type]
        return first[self.ends]

    @cached_property
    def first_votes(self) -> Floats:
        """What part of a vote each of those is."""
        owner = self.variant[self.ends]
        many = np.bincount(owner[self.firsts], minlength=len(self.counts))
        return 1.0 / np.maximum(many, 1)[owner]

    def step_votes(self) -> Floats:
        """The votes of each pair of activities."""
        pairs = self.ids[self.ends - 1] * self.activities + self.ids[self.ends]
        votes = self.gap_votes * self.counts[self.variant[self.ends]]
        return np.bincount(pairs, votes, minlength=self.activities**2)

    def elapsed_votes(self) -> Floats:
        """The votes of each activity after the beginning."""
        here = self.firsts
        votes = (self.first_votes * self.counts[self.variant[self.ends]])[here]
        return np.bincount(self.ids[self.ends[here]], votes, minlength=self.activities)

    def event_votes(self) -> Floats:
        """The votes of each activity, where all events of a case share one."""
        votes = (self.counts / np.maximum(self.lengths, 1))[self.variant]
        return np.bincount(self.ids, votes, minlength=self.activities)


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What each question about time costs: ε of one case, and 0 for what is not asked."""

    cycle_time: Fraction
    gaps: Fraction
    elapsed: Fraction
    arrivals: Fraction
    week: Fraction
    service: Fraction = Fraction(0)


def ask_cycle_time(flow: ReleasedFlow, epsilon: float) -> CycleTime:
    """Choose the bins of cycle times."""
    return CycleTime(rung=rung_for(flow.cases * epsilon))


def ask_gaps(flow: ReleasedFlow, epsilon: float) -> Gaps:
    """Choose the steps with a row of their own, and the bins of all rows."""
    votes = flow.step_votes()
    own = np.flatnonzero(votes * epsilon >= OWN_ROW)
    rest = votes.copy()
    rest[own] = 0.0
    into = rest.reshape(flow.activities, flow.activities).sum(axis=0)
    rungs = [rung_for(v * epsilon) for v in (*votes[own].tolist(), *into.tolist())]
    steps = tuple((int(s) // flow.activities, int(s) % flow.activities) for s in own)
    return Gaps(activities=flow.activities, steps=steps, rungs=tuple(rungs))


def ask_elapsed(flow: ReleasedFlow, epsilon: float) -> Elapsed:
    """Choose the bins of each activity."""
    return Elapsed(rungs=tuple(rung_for(v * epsilon) for v in flow.elapsed_votes().tolist()))


def ask_service(flow: ReleasedFlow, epsilon: float) -> ServiceTime:
    """Choose the bins of each activity."""
    return ServiceTime(rungs=tuple(rung_for(v * epsilon) for v in flow.event_votes().tolist()))


def ask_arrivals(first: int | None, months: int | None) -> Arrivals:
    """Ask on the declared window, or on the universal calendar."""
    return Arrivals() if first is None or months is None else Arrivals(first=first, months=months)


def ask_week() -> WeekHours:
    """Ask for the hours of the week."""
    return WeekHours()
