"""How fine the durations of a row are asked for, and coarser rungs of the same row."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..kernel.queries.durations import LOWEST, bin_of, edges
from ..kernel.queries.protocol import Ints

ENOUGH = (30, 300, 1_000, 3_000, 5_000, 7_000, 12_000)
"""A rung is used from so many noise scales of votes on; chosen on public and synthetic logs."""


@cache
def within(rung: int, lower: int) -> Ints:
    """The bin of a lower rung, or of the same, that each bin of a rung lies in."""
    return bin_of(np.array(edges(rung)[:-1], dtype=np.int64), lower)


def rung_for(votes: float) -> int:
    """How fine a row can be told, given how many noise scales of votes it will get."""
    return LOWEST + int(np.searchsorted(ENOUGH, votes, side="right"))
