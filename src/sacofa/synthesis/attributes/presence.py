"""Which activities have a value of an attribute at all, and how often.

Of all sets of activities that stand out, and of all of them, the one is taken that explains the
table best. Attributes are often recorded together, so a set that explains another one is tried too,
and takes little telling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from ...kernel.attributes import Attribute
from ...kernel.queries.attributes import EventAttribute
from ...kernel.queries.flow import VOTE_UNITS
from ..numerics import weighted_median
from .places import ReleasedCases
from .rows import estimate_rows
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class EventTable:
    """A noisy table of an attribute of events, beside the released cases."""

    query: EventAttribute
    """What was asked."""
    seen: Floats
    """The noisy votes of each row, in cases."""
    none: float
    """The noisy number of cases without any value."""
    noise: float
    """The scale of the noise on a cell, in cases."""
    ordered: int
    """How many cells have an order, from the first on."""
    cases: ReleasedCases
    """What was released of the flow."""

    @property
    def families(self) -> int:
        """How many rows an activity has."""
        return 1 << len(self.query.splits)

    @property
    def by_activity(self) -> Floats:
        """The votes of all rows of each activity."""
        found: Floats = self.seen.reshape(
            self.query.activities, self.families, self.query.size
        ).sum(axis=1)
        return found

    @property
    def louder(self) -> float:
        """The scale of about the noise on those."""
        return self.noise * float(np.sqrt(self.families))

    def expected(self, rates: Floats) -> tuple[Floats, float]:
        """The votes of each activity, and of no value, if activities had values so often."""
        votes, none = self.cases.votes(self.query, rates)
        return votes.reshape(self.query.activities, self.families).sum(axis=1), none

    def cost(self, rates: Floats) -> float:
        """How badly the table is explained by activities that have a value so often."""
        expected, nothing = self.expected(rates)
        _, cost = estimate_rows(self.by_activity, expected, self.louder, self.ordered, decides=True)
        # What is missing now and then adds to those without any, so only too few of them are odd.
        return cost + max(nothing - self.none, 0.0) / self.louder


def read_table(
    query: EventAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> EventTable:
    """Take a noisy table as votes of cases."""
    return EventTable(
        query=query,
        seen=readable(table[:-1].reshape(query.rows, query.size) / VOTE_UNITS, attribute),
        none=float(table[-1]) / VOTE_UNITS,
        noise=noise,
        ordered=ordered_cells(attribute),
        cases=cases,
    )


def readable(seen: Floats, attribute: Attribute) -> Floats:
    """Clear what is known to be noise: `other`, where the domain is what the log holds."""
    if not attribute.taken:
        return seen
    found = seen.copy()
    found[:, attribute.known.values] = 0.0
    return found


def ordered_cells(attribute: Attribute) -> int:
    """How many cells have an order, from the first on."""
    domain = attribute.known
    return domain.values if domain.binned else 0


def find_presence(table: EventTable) -> tuple[Floats, float]:
    """The activities that have a value, as rates of 0 and 1, and how badly they explain it."""
    number = table.query.activities
    there = np.bincount(table.cases.activity, minlength=number) > 0
    by_activity = table.by_activity
    stands_out = np.maximum(by_activity - 1.5 * table.louder, 0.0).sum(axis=1)
    order = np.argsort(-np.where(there, stands_out, -1.0), kind="stable")[: int(there.sum())]
    best, best_cost = np.zeros(number), np.inf
    for many in _tried(
        len(order),
        max(TUNING.max_tried * TUNING.large_table // max(by_activity.size, TUNING.large_table), 4),
    ):
        rates = np.zeros(number)
        rates[order[:many]] = 1.0
        cost = table.cost(rates)
        if many < len(order):
            # The noise of all cells that would be without a value may look like that by chance.
            chance = float(np.sqrt(by_activity[order[many:]].size))
            cost += (
                TUNING.some_over_all
                + chance
                + TUNING.cost_per_activity * many
                + log(comb(len(order), many))
            )
        if cost < best_cost:
            best, best_cost = rates, cost
    return best, best_cost


def settle_presence(
    table: EventTable, own: tuple[Floats, float], elsewhere: Sequence[Floats]
) -> Floats:
    """How often activities have a value, given which ones other attributes are there at."""
    best, best_cost = own
    shared = Counter(tuple(rates.tolist()) for rates in elsewhere)
    for rates, times in shared.items():
        # The more attributes are there, the less it takes to say that this one is there, too.
        cost = (
            table.cost(np.array(rates))
            + TUNING.cost_per_activity * sum(rates)
            + log(len(elsewhere) + 1)
            - log(times)
        )
        if cost < best_cost:
            best, best_cost = np.array(rates), cost
    return _now_and_then(table, best)


def _now_and_then(table: EventTable, rates: Floats) -> Floats:
    """Lower the rate of activities that clearly have fewer votes than all their events would.

    Votes say how activities compare; how often there is a value at all, cases without any say. The
    released flow is not exact either, so what is a little off stays as it is.
    """
    if not rates.any():
        return rates
    off = TUNING.rare_votes * table.louder * np.sqrt(2.0 * table.query.size)
    found = table.by_activity.sum(axis=1)
    for _ in range(20):
        expected, _ = table.expected(rates)
        ratio = np.clip(found / np.maximum(expected, 1e-9), 0.02, 50.0)
        usual = weighted_median(ratio, expected)
        odd = (rates > 0) & (ratio < TUNING.rare_share * usual) & (usual * expected - found > off)
        if not odd.any():
            break
        rates = np.where(odd, rates * ratio / usual, rates)
    if table.none - table.expected(rates)[1] <= TUNING.rare_votes * table.noise:
        return rates
    parts = np.linspace(0.02, 1.0, 50)
    far = [abs(table.expected(rates * part)[1] - table.none) for part in parts.tolist()]
    return rates * float(parts[int(np.argmin(far))])


def _tried(most: int, number: int) -> list[int]:
    """Numbers of activities to try, at most about so many of them: small ones, and all."""
    if most <= number:
        return list(range(most + 1))
    return sorted({round(most ** (i / (number - 1))) for i in range(number)} | {0, most})
