"""Public bins for durations: the same for every log, nested, from coarse to fine.

The usual bins (1 s, 10 s, 1 min, … 1 year, 12 years) are rung 0 of a ladder. Each rung above splits
every bin into two of equal ratio; the rung below merges them. Finer rows sum exactly to coarser
ones.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import isqrt

import numpy as np

from ..cases import MICROSECONDS
from .protocol import Ints

SECOND = MICROSECONDS
"""Times are whole microseconds."""
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND
YEAR = 365 * DAY

HUMAN = (
    0, SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY, 3 * DAY,
    7 * DAY, 30 * DAY, 91 * DAY, YEAR, 12 * YEAR,
)  # fmt: skip
"""The edges on rung 0; the first bin, below one second, is for simultaneous events."""
COARSE = (0, SECOND, MINUTE, HOUR, DAY, 7 * DAY, 91 * DAY, 12 * YEAR)
"""The edges on rung −1: where few cases vote, the noise of many bins would add up to more."""
LOWEST, RUNGS = -1, 7
"""Rungs are −1 (7 bins), 0 (14), 1 (27), 2 (53), 3 (105), 4 (209), 5 (417), 6 (833)."""


@cache
def edges(rung: int) -> tuple[int, ...]:
    """The edges of the bins on a rung; the first is 0, the last the longest distinct duration."""
    if rung < 0:
        return COARSE
    rough: tuple[int, ...] = HUMAN
    for _ in range(rung):
        # A bin from 0 has no middle of equal ratio; it stays whole.
        middles = [isqrt(low * high) for low, high in pairwise(rough[1:])]
        pairs = zip(rough[1:-1], middles, strict=True)
        rough = (0, *(edge for pair in pairs for edge in pair), rough[-1])
    return rough


def bins(rung: int) -> int:
    """Number of bins of a rung."""
    return len(edges(rung)) - 1


def bin_of(durations: Ints, rung: int) -> Ints:
    """The bin of each duration; negative ones are in the first, endless ones in the last."""
    inner = np.array(edges(rung)[1:-1], dtype=np.int64)
    return inner.searchsorted(durations, side="right")
