"""Queries about attributes: each case has one vote and gives it to its values.

An attribute of cases is a table of families by values: a family is which of a few public activities
happen in a case. An attribute of events is a table of activities (and families) by values: a case
divides its vote evenly over its activities that have a value, and inside each over its events. Two
attributes together are a table of the first value of each in a case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cases import CaseBatch, Values
from ..statements import Statement
from .flow import VOTE_UNITS, VoteQuery
from .protocol import Ints, add_votes


@dataclass(frozen=True, kw_only=True)
class OneAttribute(VoteQuery):
    """Common fields of queries about one attribute."""

    key: str
    """The attribute."""
    size: int
    """Number of cells per row: one per value, plus `other` and missing."""
    splits: tuple[int, ...] = ()
    """The ids of the activities that define families."""

    @property
    def name(self) -> str:
        return f"attribute {self.key}"


@dataclass(frozen=True, kw_only=True)
class CaseAttribute(OneAttribute):
    """Values of an attribute of cases, by family; the last cell counts missing ones."""

    @property
    def what(self) -> Statement:
        return Statement("query.case_attribute", attribute=self.key)

    @property
    def rows(self) -> int:
        """Number of families."""
        return 1 << len(self.splits)

    @property
    def cells(self) -> range:
        return range(self.rows * self.size)

    def table(self, batch: CaseBatch) -> Ints:
        cells = batch.values(self.key).cells
        family = families(batch, self.splits)
        return add_votes(len(self.cells), family * self.size + cells, VOTE_UNITS)


@dataclass(frozen=True, kw_only=True)
class EventAttribute(OneAttribute):
    """Values of an attribute of events, by activity and family; last, cases without any."""

    activities: int
    """Number of activities."""

    @property
    def what(self) -> Statement:
        return Statement("query.event_attribute", attribute=self.key)

    @property
    def rows(self) -> int:
        """Activities times families."""
        return self.activities << len(self.splits)

    @property
    def cells(self) -> range:
        return range(self.rows * self.size + 1)

    def table(self, batch: CaseBatch) -> Ints:
        cells = batch.values(self.key).cells
        there = np.flatnonzero(cells < self.size)
        case = np.repeat(np.arange(batch.cases), batch.lengths)[there]
        activity = batch.activity_ids[there].astype(np.int64)
        group, inside = np.unique(case * self.activities + activity, return_inverse=True)
        groups = np.bincount(group // max(self.activities, 1), minlength=batch.cases)
        events = np.bincount(inside, minlength=len(group))
        row = (activity << len(self.splits)) + families(batch, self.splits)[case]
        place = row * self.size + cells[there]
        if self.euclidean:
            table = self.divide(case, place, VOTE_UNITS // events[inside], batch.counts)
        else:
            votes = VOTE_UNITS // (groups[case] * events[inside])
            table = add_votes(len(self.cells), place, votes)
        table[-1] = VOTE_UNITS * int((groups == 0).sum())
        return table


@dataclass(frozen=True, kw_only=True)
class AttributePair(VoteQuery):
    """Joint counts of the first values of two attributes."""

    keys: tuple[str, str]
    """The attributes."""
    sizes: tuple[int, int]
    """Numbers of cells of their domains; the last cell counts missing values."""

    @property
    def name(self) -> str:
        return f"attributes {self.keys[0]!r} and {self.keys[1]!r}"

    @property
    def what(self) -> Statement:
        return Statement("query.attribute_pair", first=self.keys[0], second=self.keys[1])

    @property
    def cells(self) -> range:
        return range(self.sizes[0] * self.sizes[1])

    def table(self, batch: CaseBatch) -> Ints:
        one, other = (
            first_cells(batch, batch.values(key), size - 1)
            for key, size in zip(self.keys, self.sizes, strict=True)
        )
        return add_votes(len(self.cells), one * self.sizes[1] + other, VOTE_UNITS)


def families(batch: CaseBatch, splits: tuple[int, ...]) -> Ints:
    """The family of each case: which of the activities happen in it, as the bits of a number."""
    found = np.zeros(batch.cases, dtype=np.int64)
    case = np.repeat(np.arange(batch.cases), batch.lengths)
    for bit, activity in enumerate(splits):
        found[np.unique(case[batch.activity_ids == activity])] |= 1 << bit
    return found


def first_cells(batch: CaseBatch, values: Values, missing: int) -> Ints:
    """The first value of each case that is not missing."""
    if values.of_case:
        return values.cells.astype(np.int64)
    found = np.full(batch.cases, missing, dtype=np.int64)
    there = np.flatnonzero(values.cells != missing)
    case = np.repeat(np.arange(batch.cases), batch.lengths)[there]
    first = np.flatnonzero(np.diff(case, prepend=-1))
    found[case[first]] = values.cells[there[first]]
    return found
