"""The released cases, as tables of attributes see them: where values may be, and who votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import CaseBatch
from ...kernel.queries.attributes import CaseAttribute, EventAttribute, families

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
        none = np.exp(np.bincount(case, np.log(np.maximum(1 - rate, 1e-12)), self.batch.cases))
        vote = rate * ((1 - none) / np.maximum(sums, 1e-9))[case]
        row = (activity << len(query.splits)) + families(self.batch, query.splits)[case]
        found: Floats = np.bincount(row, vote, query.rows).astype(np.float64)
        return found, float(self.batch.cases - found.sum())
