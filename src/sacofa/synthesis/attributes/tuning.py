"""Tuning parameters of released attributes. They concern noisy tables only: no ε depends on them.

The exception are the queries: how many families they distinguish is decided by `max_splits` and
`family_cases` from released variants alone, and the queries are charged whatever they are.
A value without a stated reason is empirical: no derivation of it is known. Noise scales are those
of the table in question, in cases.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AttributeTuning:
    """How noisy tables of attributes are chosen and read."""

    max_splits: int = 3
    """Upper bound on the activities that tell families of variants apart."""
    family_cases: int = 3
    """Cases that each family has for each value at least, in noise scales."""
    row_passes: int = 2
    """How often what rows say one by one becomes what rows of few cases fall back on."""
    max_single_cells: int = 10
    """Up to this many cells stand out one by one; beyond that in steps."""
    near_factors: tuple[float, ...] = (0.9, 1.0, 1.1, 1.2)
    """Cases that a row may have, as factors of those it is expected to have."""
    rough_factors: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0, 1.2)
    """The same for one row of many."""
    rare_factors: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2)
    """The same while it is still to be found how often there is a value."""
    factor_spread: float = 0.8
    """Standard deviation of the logarithm of that factor."""
    min_cases: float = 1e-3
    """Cases, in noise scales, below which a row says nothing."""
    min_even_cells: int = 8
    """A row with no more cells than this is never read as all cells alike."""
    even_cost: float = 2.0
    """Cost of all cells alike, in noise scales."""
    empty_cost: float = 4.0
    """Cost of a row without cases although some are expected, in noise scales."""
    lean: float = 1.5
    """How much more a row of many is taken for its best explanation than for the mean."""
    cell_cost: float = 1.2
    """Cost of each cell, in noise scales, if all are read one by one."""
    stretch_cost: float = 1.3
    """Cost of each stretch of cells, if neighbours are read together."""
    window_widths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12)
    """Numbers of neighbours that are read together."""
    some_over_all: float = 6.0
    """How much better, in noise scales, some activities must explain a table than all do."""
    cost_per_activity: float = 2.0
    """How much better for each further activity."""
    max_tried: int = 30
    """Upper bound on the sets of activities that are tried."""
    large_table: int = 20_000
    """Cells from which fewer sets are tried, to bound the time."""
    rare_votes: float = 5.0
    """Noise scales by which the votes of an activity are off if it has a value only sometimes."""
    rare_share: float = 0.6
    """Share of what is usual that such an activity stays below."""
    fitting_rounds: int = 30
    """How often tables are fitted in turn (iterative proportional fitting)."""


TUNING = AttributeTuning()
"""The values of this version: releases with a seed depend on them."""
