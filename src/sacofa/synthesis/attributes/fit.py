"""What noisy tables of attributes say: which values there are, and how often each.

Rows that are thin fall back on their activity, and then on all rows, by how well that explains them
(module `shape`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernel.attributes import Attribute
from ...kernel.queries.attributes import AttributePair, CaseAttribute, families
from ...kernel.queries.flow import VOTE_UNITS
from .places import ReleasedCases
from .presence import EventTable, ordered_cells, readable
from .rows import estimate_rows
from .shape import Prior, estimate
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What a table says."""

    shares: Floats
    """Of each row, the share of each cell."""
    rates: Floats
    """Of each row, how often there is a value at all."""
    within: float
    """The scale of the noise on a cell, in cases."""


def fit_case_attribute(
    query: CaseAttribute, attribute: Attribute, table: Ints, noise: float, cases: ReleasedCases
) -> Fitted:
    """Read a table of families by values."""
    seen = readable(table.reshape(query.rows, query.size) / VOTE_UNITS, attribute)
    many = np.bincount(families(cases.batch, query.splits), minlength=query.rows).astype(float)
    shares = estimate_rows(seen, many, noise, ordered_cells(attribute))[0]
    shares = _possible(shares, attribute)
    return Fitted(shares=shares, rates=np.ones(query.rows), within=noise)


def fit_event_attribute(table: EventTable, attribute: Attribute, rates: Floats) -> Fitted:
    """Read a table of activities by values, given how often activities have one."""
    expected, _ = table.cases.votes(table.query, rates)
    shares = estimate_rows(
        table.by_activity, table.expected(rates)[0], table.louder, table.ordered, lean=TUNING.lean
    )[0]
    if table.families > 1:
        parents, shares = shares, np.empty_like(table.seen)
        for row, seen in enumerate(table.seen):
            parent = parents[row // table.families]
            prior = Prior(
                parent=parent, ordered=table.ordered, factors=TUNING.rough_factors, lean=TUNING.lean
            )
            shares[row], _ = estimate(seen, expected[row], table.noise, prior)
    shares = _possible(shares, attribute)
    return Fitted(shares=shares, rates=np.repeat(rates, table.families), within=table.noise)


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
    shares, _ = estimate(seen, float(cases), noise, Prior(parent=parent.ravel() / parent.sum()))
    return shares.reshape(query.sizes)
