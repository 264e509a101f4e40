"""The queries about time, given the released flow.

The released variants are public by now. They say which directly-follows pairs there are and about
how many votes each will get, so each pair's row and bins are chosen without looking at the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ...errors import SettingError, Statement
from ...kernel.laws import DiscreteLaplace, Law
from ...kernel.queries.durations import DAY, LOWEST, MINUTE, SECOND
from ...kernel.queries.protocol import Query
from ...kernel.queries.times import (
    Arrivals,
    CycleTime,
    Elapsed,
    Gaps,
    ServiceTime,
    WeekHours,
    first_occurrences,
)  # fmt: skip
from ...kernel.variants import VariantCounts
from ..numerics import Bools, Floats, Ints, add_up
from ..thresholds import SHAPES
from .tuning import TUNING

MAX_MONTHS = 1_200
"""A longer calendar would hold more noise than cases."""
GRANULARITIES = {"second": SECOND, "minute": MINUTE, "day": DAY}
_MONTHS = re.compile(r"(\d{4})-(0[1-9]|1[0-2])/(\d{4})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, kw_only=True)
class TimeShares:
    """How the budget of times is divided; parts of it, in any unit."""

    cycle_time: Fraction = Fraction(9, 45)
    """How long cases take."""
    gaps: Fraction = Fraction(21, 45)
    """Waits of directly-follows pairs; with start times, a third of it goes to the work itself."""
    elapsed: Fraction = Fraction(7, 45)
    """How long after the beginning each activity first happens."""
    arrivals: Fraction = Fraction(6, 45)
    """In which months cases begin."""
    week: Fraction = Fraction(2, 45)
    """At which hours of the week events happen."""

    def __post_init__(self) -> None:
        for name, part in vars(self).items():
            if part <= 0:
                raise SettingError(name, part, Statement("must.domain.above", low="0"))

    def divide(self, epsilon: Fraction, *, service: bool = False) -> dict[str, Fraction]:
        """Divide ε among the queries, exactly."""
        parts = {name: Fraction(part) for name, part in vars(self).items()}
        if service:
            parts["service"] = parts["gaps"] / 3
            parts["gaps"] -= parts["service"]
        whole = sum(parts.values(), Fraction(0))
        return {name: epsilon * part / whole for name, part in parts.items()}


@dataclass(frozen=True, kw_only=True)
class TimeSettings:
    """What is public about the times of a release."""

    granularity: str = "second"
    """Times are written as whole seconds, minutes or days."""
    calendar: str | None = None
    """The months in which cases begin, such as 2019-01/2023-12; None: universal."""
    shares: TimeShares = TimeShares()
    """How ε is divided."""
    first_month: int = field(init=False)
    """The first month of the calendar, counted from January 1970."""
    months: int = field(init=False)
    """Number of months of the calendar."""

    def __post_init__(self) -> None:
        if self.granularity not in GRANULARITIES:
            must = Statement("must.one_of", choices=list(GRANULARITIES))
            raise SettingError("granularity", self.granularity, must)
        written = "1970-01/2069-12" if self.calendar is None else self.calendar
        found = _MONTHS.fullmatch(written)
        year, month, last_year, last_month = map(int, found.groups()) if found else (0, 1, 0, 1)
        months = (last_year - year) * 12 + last_month - month + 1 if year else 0
        object.__setattr__(self, "first_month", (year - 1970) * 12 + month - 1)
        object.__setattr__(self, "months", months)
        if self.months < 1:
            raise SettingError("calendar", self.calendar, Statement("must.two_months"))
        if self.months > MAX_MONTHS:
            must = Statement("must.at_most_months", limit=MAX_MONTHS)
            raise SettingError("calendar", self.calendar, must)

    @property
    def unit(self) -> int:
        """The microseconds of the granularity."""
        return GRANULARITIES[self.granularity]


class ReleasedFlow:
    """Released variants, and the votes that their cases would give."""

    def __init__(self, variants: VariantCounts, *, euclidean: bool = False) -> None:
        """Take variants; Euclidean votes are 1/√n each where others are 1/n."""
        self._power = 1 / (1 + euclidean)
        self.activities = len(variants.activities)
        self.ids = variants.activity_ids.astype(np.int64)
        self.offsets, self.lengths = variants.offsets, variants.lengths
        self.counts = variants.counts
        self.cases = variants.cases
        self.variant = np.repeat(np.arange(len(self.counts)), self.lengths)
        self.ends: Ints = np.flatnonzero(self.variant[1:] == self.variant[:-1]) + 1
        """The places of the events that a gap ends with."""
        self.owner = self.variant[self.ends]
        """The variant of each gap."""
        self.gap_votes: Floats = np.float64(1.0) / (self.lengths[self.owner] - 1.0) ** self._power
        """The part of a vote that each gap of a variant is."""
        first = np.zeros(len(self.ids), dtype=np.bool_)
        first[first_occurrences(self.ids, self.variant)] = True  # type: ignore[arg-type]
        self.firsts: Bools = first[self.ends]
        """Whether the event that a gap ends with is the first of its activity."""
        many = np.bincount(self.owner[self.firsts], minlength=len(self.counts))
        self.first_votes: Floats = 1.0 / np.maximum(many, 1)[self.owner] ** self._power
        """The part of a vote that each of those is."""

    def elapsed_votes(self) -> Floats:
        """The votes of each activity after the beginning."""
        here = self.firsts
        votes = (self.first_votes * self.counts[self.owner])[here]
        return add_up(self.ids[self.ends[here]], votes, self.activities)

    def event_votes(self) -> Floats:
        """The votes of each activity, where all events of a case share one."""
        votes = (self.counts / np.maximum(self.lengths, 1) ** self._power)[self.variant]
        return add_up(self.ids, votes, self.activities)


def rung_for(votes: float) -> int:
    """How fine a row can be asked, given how many noise scales of votes it will get."""
    return LOWEST + int(np.searchsorted(TUNING.rung_votes, votes, side="right"))


def time_queries(
    variants: VariantCounts,
    settings: TimeSettings,
    amount: Fraction,
    law: Callable[[Fraction], Law] = DiscreteLaplace,
    *,
    service: bool = False,
) -> dict[str, tuple[Query, Fraction]]:
    """The queries about time, in the order they are asked, each with its amount.

    `amount` is what all of them spend together, `law` the noise on a case that an amount buys, and
    `service` whether the log has start times.
    """
    euclidean = SHAPES[type(law(amount))].euclidean
    flow = ReleasedFlow(variants, euclidean=euclidean)
    prices = settings.shares.divide(amount, service=service)
    scales = {name: float(law(price).epsilon) for name, price in prices.items()}

    def rungs(name: str, votes: Floats, least: int = LOWEST) -> tuple[int, ...]:
        return tuple(max(rung_for(each * scales[name]), least) for each in votes.tolist())

    # Pairs with enough votes have their own row; all others into an activity share one.
    pairs = flow.ids[flow.ends - 1] * flow.activities + flow.ids[flow.ends]
    votes = add_up(pairs, flow.gap_votes * flow.counts[flow.owner], flow.activities**2)
    own = np.flatnonzero(votes * scales["gaps"] >= TUNING.own_row_votes)
    rest = votes.copy()
    rest[own] = 0.0
    rows = [votes[own], rest.reshape(flow.activities, flow.activities).sum(axis=0)]
    cycle_votes = TUNING.cycle_time_votes * flow.cases
    queries: dict[str, Query] = {
        "cycle_time": CycleTime(rung=rungs("cycle_time", np.array([cycle_votes]), 0)[0]),
        "gaps": Gaps(
            activities=flow.activities,
            steps=tuple(divmod(pair, flow.activities) for pair in own.tolist()),
            rungs=rungs("gaps", np.concatenate(rows)),
            euclidean=euclidean,
        ),
        "elapsed": Elapsed(rungs=rungs("elapsed", flow.elapsed_votes()), euclidean=euclidean),
        "arrivals": Arrivals(first=settings.first_month, months=settings.months),
        "week": WeekHours(),
    }
    if service:
        queries["service"] = ServiceTime(
            rungs=rungs("service", flow.event_votes(), 0), euclidean=euclidean
        )
    return {name: (query, prices[name]) for name, query in queries.items()}
