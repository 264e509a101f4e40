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
    """How noisy tables of attributes are chosen and compared with the released cases."""

    max_splits: int = 3
    """Upper bound on the activities that tell families of variants apart."""
    family_cases: int = 3
    """Cases that each family has for each value at least, in noise scales."""
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
    rate_parts: int = 50
    """Parts of 1 in which it is found how often events have a value at all."""
    fitting_rounds: int = 30
    """How often tables are fitted in turn (iterative proportional fitting)."""


TUNING = AttributeTuning()
"""The values of this version: releases with a seed depend on them."""
