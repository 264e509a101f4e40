"""Courses of time stretched so that cycle times follow their answer all the same.

Weights alone cannot do that: where noise gave the flow too many cases that come back after months,
or lost the activity that does, no choice among drawn courses has the right lengths. So the longest
course becomes as long as the longest case should be, the next one as the next, and so on. What is
missing or too much is the matter of a course's longest gaps: short steps keep their times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics import add_up
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def lengths_of(shares: Floats, edges: Floats, cases: int) -> Floats:
    """How long so many cases take, shortest first, given the edges of bins and their shares."""
    if not cases:
        return np.zeros(0)
    low, high = edges[:-1], edges[1:]
    ends = np.cumsum(shares)
    marks = (np.arange(cases) + 0.5) / cases * ends[-1]
    cell = np.minimum(ends.searchsorted(marks, side="right"), np.flatnonzero(shares)[-1])
    within = (marks - ends[cell] + shares[cell]) / np.maximum(shares[cell], 1e-300)
    below = np.where(low[cell] > 0, low[cell], 1.0)
    return np.where(low[cell] > 0, below * (high[cell] / below) ** np.clip(within, 0.0, 1.0), 0.0)


def stretch(gaps: Floats, offsets: Ints, wanted: Floats) -> Floats:
    """Change the gaps of each course so that they add up to what is wanted of it."""
    courses = len(offsets) - 1
    owner = np.repeat(np.arange(courses), np.diff(offsets))
    totals = add_up(owner, gaps, courses)
    ratio = np.where(totals > 0, wanted / np.maximum(totals, 1e-300), 1.0)
    changed: Floats = gaps * ratio[owner]
    longer = np.flatnonzero((ratio > 1 + TUNING.only_scaled)[owner])
    changed[longer] = _grown(gaps[longer], owner[longer], wanted - totals)
    shorter = np.flatnonzero((ratio < 1 - TUNING.only_scaled)[owner])
    changed[shorter] = _capped(gaps[shorter], owner[shorter], wanted)
    return changed


def _grown(gaps: Floats, owner: Ints, missing: Floats) -> Floats:
    """Lengthen the gaps of each course, in proportion to their squares."""
    squares = gaps * gaps
    rate = missing / np.maximum(add_up(owner, squares, len(missing)), 1e-300)
    return gaps + rate[owner] * squares


def _capped(gaps: Floats, owner: Ints, wanted: Floats) -> Floats:
    """Cut the longest gaps of each course until they add up to what is wanted."""
    if not len(gaps):
        return gaps
    # Often they are few among many courses, and end to end: only they are counted.
    begins = np.concatenate([[0], np.flatnonzero(owner[1:] != owner[:-1]) + 1])
    wanted = wanted[owner[begins]]
    many = np.diff(begins, append=len(owner))
    owner = np.repeat(np.arange(len(begins)), many)
    cap = wanted / many
    rising, of = gaps, owner
    for _ in range(TUNING.max_raises):
        # Gaps below the cap stay; the others share what is left, so that the cap only rises.
        above = rising > cap[of]
        sharing = np.bincount(of[above], minlength=len(wanted))
        left = wanted - add_up(of, np.where(above, 0.0, rising), len(wanted))
        higher = left / np.maximum(sharing, 1)
        rises = (sharing > 0) & (higher > cap)
        cap[rises] = higher[rises]
        still = np.flatnonzero(rises[of])
        if not len(still):
            break
        rising, of = rising[still], of[still]
    cut = np.minimum(gaps, cap[owner])
    # What is left to share is too little to see, but every course is as long as it should be.
    sums = add_up(owner, cut, len(wanted))
    exact = np.divide(wanted, sums, out=np.ones(len(wanted)), where=sums > 0)
    return cut * exact[owner]
