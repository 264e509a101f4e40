"""Noisy tables of attributes next to the released cases: where there are values, and which.

Of all sets of activities that stand out, and of all of them, the one that explains a table best is
taken to have values. Attributes are often recorded together, so a set that explains another one is
tried too, and takes little telling. Rows with few cases fall back on their activity, and then on
all rows, by how well that explains them (module `rows`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, log

import numpy as np

from ...kernel.attributes import Attribute
from ...kernel.cases import CaseBatch
from ...kernel.queries.attributes import CaseAttribute, EventAttribute, families
from ...kernel.queries.flow import VOTE_UNITS
from ..numerics import LITTLE, NEGLIGIBLE, Floats, Ints, weighted_median
from ..rows import TUNING as ROWS
from ..rows import Prior, estimate, estimate_rows
from .tuning import TUNING


@dataclass(frozen=True, eq=False, kw_only=True)
class Slots:
    """The places of a release that an attribute may have a value at."""

    case: Ints
    """The case of each."""
    event: Ints
    """The event of each; the case again, for an attribute of cases."""
    row: Ints
    """The row of the table that says what is there."""


class ReleasedCases:
    """The released cases, as tables of attributes see them."""

    def __init__(self, batch: CaseBatch) -> None:
        self.batch = batch
        self.activities = max(len(batch.activities), 1)
        self.case = np.repeat(np.arange(batch.cases), batch.lengths)
        self.activity = batch.activity_ids.astype(np.int64)

    @cached_property
    def groups(self) -> tuple[Ints, Ints]:
        """The different activities of each case: whose, and which."""
        found = np.unique(self.case * self.activities + self.activity)
        return found // self.activities, found % self.activities

    def slots(self, query: CaseAttribute | EventAttribute) -> Slots:
        """Where an attribute may have a value."""
        family = families(self.batch, query.splits)
        if isinstance(query, CaseAttribute):
            case = np.arange(self.batch.cases)
            return Slots(case=case, event=case, row=family)
        row = (self.activity << len(query.splits)) + family[self.case]
        return Slots(case=self.case, event=np.arange(len(self.case)), row=row)

    def votes(self, query: EventAttribute, rates: Floats) -> tuple[Floats, float]:
        """The votes of each row, and of no value, if activities had values so often."""
        case, activity = self.groups
        rate = rates[activity]
        sums = np.bincount(case, rate, self.batch.cases)
        # A case votes if any of its activities has a value, each by its own chance.
        none = np.exp(np.bincount(case, np.log(np.maximum(1 - rate, LITTLE)), self.batch.cases))
        # Euclidean votes of n activities are 1/√n each, and others 1/n.
        power = 1 / (1 + query.euclidean)
        vote = rate * (((1 - none) / np.maximum(sums, LITTLE)) ** power)[case]
        row = (activity << len(query.splits)) + families(self.batch, query.splits)[case]
        found: Floats = np.bincount(row, vote, query.rows).astype(np.float64)
        return found, float(none.sum())


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
    ordered: tuple[int, int]
    """The first of the cells that have an order, and the end of them."""
    cases: ReleasedCases
    """What was released of the flow."""

    @property
    def families(self) -> int:
        """How many rows an activity has."""
        return 1 << len(self.query.splits)

    @cached_property
    def by_activity(self) -> Floats:
        """The votes of all rows of each activity."""
        shape = self.query.activities, self.families, self.query.size
        found: Floats = self.seen.reshape(shape).sum(axis=1)
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


def read_events(
    query: EventAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> EventTable:
    """Take a noisy table as votes of cases."""
    seen, none = _seen(table[:-1], query.size, attribute), float(table[-1]) / VOTE_UNITS
    ordered = _ordered_cells(attribute)
    return EventTable(query=query, seen=seen, none=none, noise=noise, ordered=ordered, cases=cases)


def fit_cases(
    query: CaseAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> Floats:
    """Read a table of families by values: of each row, the share of each cell."""
    seen = _seen(table, query.size, attribute)
    many = np.bincount(families(cases.batch, query.splits), minlength=query.rows).astype(float)
    return _possible(estimate_rows(seen, many, noise, _ordered_cells(attribute))[0], attribute)


def fit_events(table: EventTable, attribute: Attribute, rates: Floats) -> Floats:
    """Read a table of activities by values, given how often activities have one."""
    expected, _ = table.cases.votes(table.query, rates)
    shares = estimate_rows(
        table.by_activity, table.expected(rates)[0], table.louder, table.ordered, lean=ROWS.lean
    )[0]
    if table.families > 1:
        parents, shares = shares, np.empty_like(table.seen)
        for row, seen in enumerate(table.seen):
            parent = parents[row // table.families]
            prior = Prior(
                parent=parent, ordered=table.ordered, factors=ROWS.rough_factors, lean=ROWS.lean
            )
            shares[row], _ = estimate(seen, expected[row], table.noise, prior)
    return _possible(shares, attribute)


def _seen(values: Ints, size: int, attribute: Attribute) -> Floats:
    """The noisy cases of each row; what is known to be noise is cleared.

    That is `other` where the domain is what the log holds.
    """
    seen: Floats = values.reshape(-1, size) / VOTE_UNITS
    if attribute.taken:
        seen[:, attribute.known.values] = 0.0
    return seen


def _possible(shares: Floats, attribute: Attribute) -> Floats:
    """Leave out `other` where the domain is what the log holds: nothing can be outside of it."""
    if not attribute.taken:
        return shares
    kept = shares + NEGLIGIBLE
    kept[:, attribute.known.values] = 0.0
    found: Floats = kept / kept.sum(axis=1)[:, None]
    return found


def _ordered_cells(attribute: Attribute) -> tuple[int, int]:
    """The first of the cells that have an order, and the end of them."""
    return 0, attribute.known.values if attribute.known.binned else 0


def find_presence(table: EventTable) -> tuple[Floats, float]:
    """The activities that have a value, as rates of 0 and 1, and how badly they explain it."""
    number = table.query.activities
    there = np.bincount(table.cases.activity, minlength=number) > 0
    by_activity = table.by_activity
    stands_out = np.maximum(by_activity - 1.5 * table.louder, 0.0).sum(axis=1)
    order = np.argsort(-np.where(there, stands_out, -1.0), kind="stable")[: int(there.sum())]
    cells = max(by_activity.size, TUNING.large_table)
    best, best_cost = np.zeros(number), np.inf
    for many in _tried(len(order), max(TUNING.max_tried * TUNING.large_table // cells, 4)):
        rates = np.zeros(number)
        rates[order[:many]] = 1.0
        cost = table.cost(rates)
        if many < len(order):
            # The noise of all cells that would be without a value may look like that by chance.
            cost += (
                TUNING.some_over_all
                + float(np.sqrt(by_activity[order[many:]].size))
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
        telling = TUNING.cost_per_activity * sum(rates)
        cost = table.cost(np.array(rates)) + telling + log(len(elsewhere) + 1) - log(times)
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
    parts = TUNING.rate_parts
    for _ in range(TUNING.fitting_rounds):
        expected, _ = table.expected(rates)
        ratio = np.clip(found / np.maximum(expected, NEGLIGIBLE), 1 / parts, parts)
        usual = weighted_median(ratio, expected)
        odd = (rates > 0) & (ratio < TUNING.rare_share * usual) & (usual * expected - found > off)
        if not odd.any():
            break
        rates = np.where(odd, rates * ratio / usual, rates)
    if table.none - table.expected(rates)[1] <= TUNING.rare_votes * table.noise:
        return rates
    tried = (np.arange(parts) + 1) / parts
    far = [abs(table.expected(rates * part)[1] - table.none) for part in tried.tolist()]
    return rates * float(tried[int(np.argmin(far))])


def _tried(most: int, number: int) -> list[int]:
    """Numbers of activities to try, at most about `number` of them: small ones, and all."""
    if most <= number:
        return list(range(most + 1))
    return sorted({round(most ** (i / (number - 1))) for i in range(number)} | {0, most})
