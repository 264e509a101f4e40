"""Which questions about time are asked, given what was already released of the flow.

The released variants are public by now. They say which steps there are and about how many votes
each will get; so a row of its own, and how fine its bins are, is chosen for each step without
looking at the log.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.durations import LOWEST
from ...kernel.queries.protocol import Query
from ...kernel.queries.times import (
    Arrivals,
    CycleTime,
    Elapsed,
    Gaps,
    ServiceTime,
    WeekHours,
    first_occurrences,
)
from ...kernel.variants import VariantCounts
from ..numerics import add_up
from ..rungs import rung_for
from .settings import TimeSettings
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ReleasedFlow:
    """Released variants, and the votes that their cases would give."""

    def __init__(self, variants: VariantCounts) -> None:
        self.activities = len(variants.activities)
        self.names = variants.activities
        self.ids = variants.activity_ids.astype(np.int64)
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
        return add_up(pairs, votes, self.activities**2)

    def elapsed_votes(self) -> Floats:
        """The votes of each activity after the beginning."""
        here = self.firsts
        votes = (self.first_votes * self.counts[self.variant[self.ends]])[here]
        return add_up(self.ids[self.ends[here]], votes, self.activities)

    def event_votes(self) -> Floats:
        """The votes of each activity, where all events of a case share one."""
        votes = (self.counts / np.maximum(self.lengths, 1))[self.variant]
        return add_up(self.ids, votes, self.activities)


def time_queries(
    variants: VariantCounts, settings: TimeSettings, epsilon: Fraction, *, service: bool = False
) -> dict[str, tuple[Query, Fraction]]:
    """The questions about time, in the order they are asked, each with its price.

    `epsilon` is what all of them cost together, `service` whether the log has start times.
    """
    flow = ReleasedFlow(variants)
    prices = settings.shares.divide(epsilon, service=service)
    scales = {name: float(price) for name, price in prices.items()}
    window = {} if settings.months is None else {"months": settings.months}
    if settings.first_month is not None:
        window["first"] = settings.first_month
    queries: dict[str, Query] = {
        "cycle_time": CycleTime(
            rung=max(rung_for(TUNING.cycle_time_votes * flow.cases * scales["cycle_time"]), 0)
        ),
        "gaps": _gaps(flow, scales["gaps"]),
        "elapsed": Elapsed(rungs=_rungs(flow.elapsed_votes(), scales["elapsed"])),
        "arrivals": Arrivals(**window),
        "week": WeekHours(),
    }
    if service:
        queries["service"] = ServiceTime(rungs=_rungs(flow.event_votes(), scales["service"], 0))
    return {name: (query, prices[name]) for name, query in queries.items()}


def _gaps(flow: ReleasedFlow, epsilon: float) -> Gaps:
    """Choose the steps with a row of their own, and the bins of all rows."""
    votes = flow.step_votes()
    own = np.flatnonzero(votes * epsilon >= TUNING.own_row_votes)
    rest = votes.copy()
    rest[own] = 0.0
    into = rest.reshape(flow.activities, flow.activities).sum(axis=0)
    steps = tuple((int(step) // flow.activities, int(step) % flow.activities) for step in own)
    rungs = _rungs(np.concatenate([votes[own], into]), epsilon)
    return Gaps(activities=flow.activities, steps=steps, rungs=rungs)


def _rungs(votes: Floats, epsilon: float, least: int = LOWEST) -> tuple[int, ...]:
    return tuple(max(rung_for(each * epsilon), least) for each in votes.tolist())
