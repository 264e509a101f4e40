"""What noisy tables of attributes say: which activities have a value, and which values they have.

The released flow says how many votes each row of a table gets, given which activities have a value
at all. That is not known beforehand: of all sets of activities that stand out, and of all of them,
the one is taken that explains the table best. Rows that are thin fall back on their activity, and
then on all rows, by how well that explains them (module `shape`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from ..cases import CaseBatch
from ..domains import Attribute, Dates, Numbers
from ..queries.attributes import AttributePair, CaseAttribute, EventAttribute, families
from ..queries.flow import VOTE_UNITS
from .shape import ROUGHLY, estimate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PASSES = 2
"""How often what rows say one by one is what thin rows fall back on."""
UNLIKELY = 6.0
"""How much better, in noise scales, a table must be explained by some activities than by all."""
MORE = 2.0
"""And how much better for each more of them."""
TRIED = 30
"""At most so many sets of activities are tried; fewer, where tables are large."""
LARGE = 20_000
"""Cells of a table that is large."""
ODD = 3.0
"""An activity has a value only now and then if its votes are so many noise scales off."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Slots:
    """The places of a release that an attribute may have a value at."""

    case: Ints
    """The case of each."""
    event: Ints
    """The event of each; the case again, for an attribute of cases."""
    row: Ints
    """The row of the table that says what is there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What a table says."""

    shares: Floats
    """Of each row, the share of each cell."""
    rates: Floats
    """Of each row, how often there is a value at all."""
    within: float
    """The scale of the noise on a cell, in cases."""


def ordered_cells(attribute: Attribute) -> int:
    """How many cells have an order, from the first on."""
    domain = attribute.known
    return domain.values if isinstance(domain, Numbers | Dates) else 0


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
        vote = rate / np.maximum(sums, 1.0)[case]
        row = (activity << len(query.splits)) + families(self.batch, query.splits)[case]
        found: Floats = np.bincount(row, vote, query.rows).astype(np.float64)
        return found, float(self.batch.cases - found.sum())


def fit_case_attribute(
    query: CaseAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> Fitted:
    """Read a table of families by values."""
    seen = table.reshape(query.rows, query.size) / VOTE_UNITS
    many = np.bincount(families(cases.batch, query.splits), minlength=query.rows).astype(float)
    shares = _rows(seen, many, noise, ordered_cells(attribute))[0]
    shares = _possible(shares, attribute)
    return Fitted(shares=shares, rates=np.ones(query.rows), within=noise)


def fit_event_attribute(
    query: EventAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> Fitted:
    """Read a table of activities by values."""
    votes = table / VOTE_UNITS
    families_of_one = 1 << len(query.splits)
    seen = votes[:-1].reshape(query.rows, query.size)
    ordered = ordered_cells(attribute)
    by_activity = seen.reshape(query.activities, families_of_one, query.size).sum(axis=1)
    louder = noise * np.sqrt(families_of_one)
    rates = _presence(query, by_activity, float(votes[-1]), louder, cases, ordered)
    expected, _ = cases.votes(query, rates)
    parents = _rows(
        by_activity,
        expected.reshape(query.activities, families_of_one).sum(axis=1),
        louder,
        ordered,
    )[0]
    shares = parents
    if families_of_one > 1:
        shares = np.empty_like(seen)
        for row in range(query.rows):
            parent = parents[row // families_of_one]
            shares[row], _ = estimate(
                seen[row], expected[row], noise, parent=parent, ordered=ordered, parts=ROUGHLY
            )
    shares = _possible(shares, attribute)
    return Fitted(shares=shares, rates=np.repeat(rates, families_of_one), within=noise)


def _possible(shares: Floats, attribute: Attribute) -> Floats:
    """Leave out `other` where the domain is what the log holds: nothing can be outside of it."""
    if not attribute.taken:
        return shares
    kept = shares + 1e-12
    kept[:, attribute.known.values] = 0.0
    found: Floats = kept / kept.sum(axis=1)[:, None]
    return found


def fit_pair(query: AttributePair, table: Ints, noise: float, parent: Floats, cases: int) -> Floats:
    """Read a table of two attributes: shares of all cases; thin ones go together as by chance."""
    seen = table / VOTE_UNITS
    shares, _ = estimate(seen, float(cases), noise, parent=parent.ravel() / parent.sum())
    return shares.reshape(query.sizes)


def _rows(seen: Floats, many: Floats, noise: float, ordered: int) -> tuple[Floats, float]:
    """The shares of every row, with all rows together to fall back on; and the cost of it."""
    whole, cost_of_all = estimate(
        seen[many > 0].sum(axis=0),
        float(many.sum()),
        noise * np.sqrt(max(int((many > 0).sum()), 1)),
        ordered=ordered,
    )
    shares = np.tile(whole, (len(seen), 1))
    if (many > 0).sum() <= 1:
        # All cases are in it, and how many that are is known.
        own = np.flatnonzero(many > 0)
        rest = float(np.abs(np.delete(seen, own, axis=0)).sum()) / noise
        return shares, rest + cost_of_all
    cost = 0.0
    for again in range(PASSES):
        cost = 0.0
        for row in range(len(seen)):
            if many[row] > 0:
                shares[row], one = estimate(
                    seen[row], float(many[row]), noise, parent=whole, ordered=ordered, parts=ROUGHLY
                )
            else:
                one = float(np.abs(seen[row]).sum()) / noise
            cost += one
        if again < PASSES - 1 and many.sum() > 0:
            # What rows say one by one is less noisy than their sum.
            whole = many @ shares / many.sum()
    shares[many <= 0] = whole
    return shares, cost


def _presence(
    query: EventAttribute,
    seen: Floats,
    none: float,
    noise: float,
    cases: ReleasedCases,
    ordered: int,
) -> Floats:
    """How often the events of each activity have a value: never, always, or a share of them."""
    there = np.bincount(cases.activity, minlength=query.activities) > 0
    loud = np.where(there, np.maximum(seen - 1.5 * noise, 0.0).sum(axis=1), -1.0)
    order = np.argsort(-loud, kind="stable")[: int(there.sum())]
    best, best_cost = np.zeros(query.activities), np.inf
    for many in _tried(len(order), max(TRIED * LARGE // max(seen.size, LARGE), 4)):
        rates = np.zeros(query.activities)
        rates[order[:many]] = 1.0
        expected, nothing = cases.votes(query, rates)
        expected = expected.reshape(query.activities, 1 << len(query.splits)).sum(axis=1)
        _, cost = _rows(seen, expected, noise, ordered)
        # What is missing now and then adds to those without any, so only too few of them are odd.
        cost += max(nothing - none, 0.0) / noise
        if many < len(order):
            cost += UNLIKELY + MORE * many + log(comb(len(order), many))
        if cost < best_cost:
            best, best_cost = rates, cost
    return _now_and_then(query, seen, noise, cases, best)


def _now_and_then(
    query: EventAttribute, seen: Floats, noise: float, cases: ReleasedCases, rates: Floats
) -> Floats:
    """Lower the rate of activities that clearly have fewer votes than all their events would."""
    off = ODD * noise * np.sqrt(2.0 * query.size)
    for _ in range(20):
        expected, _ = cases.votes(query, rates)
        expected = expected.reshape(query.activities, 1 << len(query.splits)).sum(axis=1)
        found = seen.sum(axis=1)
        ratio = np.clip(found / np.maximum(expected, 1e-9), 0.02, 1.5)
        odd = (np.abs(found - expected) > off) & (rates > 0)
        if not odd.any():
            break
        rates = np.where(odd, np.minimum(rates * ratio, 1.0), rates)
    return rates


def _tried(most: int, number: int) -> list[int]:
    """Numbers of activities to try, at most about so many of them: small ones, and all."""
    if most <= number:
        return list(range(most + 1))
    return sorted({round(most ** (i / (number - 1))) for i in range(number)} | {0, most})
