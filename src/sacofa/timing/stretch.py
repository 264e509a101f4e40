"""Courses of time stretched so that cycle times follow their answer all the same.

Weights alone cannot do that: where noise gave the flow too many cases that come back after months,
or lost the activity that does, no choice among drawn courses has the right lengths. So the longest
course becomes as long as the longest case should be, the next one as the next, and so on. What is
missing or too much is the matter of a course's longest gaps: short steps keep their times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .histogram import add_up

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HALVINGS = 20
"""How often the search for the longest gap of a course is narrowed down."""
NEAR = 0.02
"""Courses that are this close to their length are only scaled."""


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
    longer = np.flatnonzero((ratio > 1 + NEAR)[owner])
    changed[longer] = _grown(gaps[longer], owner[longer], wanted - totals)
    shorter = np.flatnonzero((ratio < 1 - NEAR)[owner])
    changed[shorter] = _capped(gaps[shorter], owner[shorter], wanted)
    return changed


def _grown(gaps: Floats, owner: Ints, missing: Floats) -> Floats:
    """Lengthen the gaps of each course, in proportion to their squares."""
    squares = gaps * gaps
    rate = missing / np.maximum(add_up(owner, squares, len(missing)), 1e-300)
    return gaps + rate[owner] * squares


def _capped(gaps: Floats, owner: Ints, wanted: Floats) -> Floats:
    """Cut the longest gaps of each course until they add up to what is wanted."""
    low, high = np.zeros(len(wanted)), wanted.copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        much = add_up(owner, np.minimum(gaps, middle[owner]), len(wanted)) > wanted
        low, high = np.where(much, low, middle), np.where(much, middle, high)
    cut = np.minimum(gaps, high[owner])
    # What is left to halve is too little to see, but every course is as long as it should be.
    sums = add_up(owner, cut, len(wanted))
    exact = np.divide(wanted, sums, out=np.ones(len(wanted)), where=sums > 0)
    return cut * exact[owner]
