"""Courses of time put on the calendar: months, days of the week and hours as the answers say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.durations import DAY
from ...kernel.queries.times import SLOTS, week_slot
from .pool import Uniform
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOGETHER = 20_000
"""So many cases are placed at a time."""


def choose_months(shares: Floats, first: int, cases: int, uniform: Uniform) -> Ints:
    """A month for each case, counted from January 1970, in random order."""
    if not cases:
        return np.zeros(0, dtype=np.int64)
    marks = (np.arange(cases) + uniform(1)[0]) / cases
    months = np.cumsum(shares).searchsorted(marks * shares.sum(), side="right")
    last = int(np.flatnonzero(shares > 0)[-1])
    dealt: Ints = first + np.minimum(months, last)[np.argsort(uniform(cases), kind="stable")]
    return dealt


def place_events(
    months: Ints,
    lengths: Ints,
    gaps: Ints,
    week: Floats,
    unit: int,
    uniform: Uniform,
) -> Ints:
    """Times of all events, end to end, given the gaps of each case; in order, in whole units."""
    # Dates have no hours: only the days of the week are left to choose by.
    if unit >= DAY:
        week = np.repeat(week.reshape(7, SLOTS).sum(axis=1), SLOTS)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    gap_offsets = np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))])
    times = np.empty(int(offsets[-1]), dtype=np.int64)
    for first in range(0, len(lengths), TOGETHER):
        last = min(first + TOGETHER, len(lengths))
        waits = gaps[gap_offsets[first] : gap_offsets[last]]
        times[offsets[first] : offsets[last]] = _place(
            months[first:last], lengths[first:last], waits, week, unit, uniform
        )
    return times


def _place(
    months: Ints, lengths: Ints, gaps: Ints, week: Floats, unit: int, uniform: Uniform
) -> Ints:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    times = np.zeros(int(offsets[-1]), dtype=np.int64)
    gap_offsets = np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))])
    there = np.flatnonzero(lengths > 0)
    begin, end = (month_begins(months[there] + add) for add in (0, 1))
    offers = uniform(TUNING.moments * len(there)).reshape(-1, TUNING.moments)
    moments = begin[:, None] + (offers * (end - begin)[:, None]).astype(np.int64)
    times[offsets[there]] = _likely(moments, week, uniform) // unit * unit
    for place in range(1, int(lengths.max(initial=0))):
        there = there[lengths[there] > place]
        at = offsets[there] + place
        wait = gaps[gap_offsets[there] + place - 1]
        times[at] = times[at - 1] + wait
        far = np.flatnonzero(wait >= TUNING.min_bent_gap)
        shifts = 2.0 * uniform(TUNING.moments * len(far)).reshape(-1, TUNING.moments) - 1.0
        bends = np.minimum(wait[far] // TUNING.bend, TUNING.max_bend)[:, None] * shifts
        moments = times[at[far]][:, None] + bends.astype(np.int64)
        times[at[far]] = _likely(moments, week, uniform)
    begins = np.repeat(times[offsets[:-1][lengths > 0]], lengths[lengths > 0])
    # To the nearest unit, counted from the beginning: order stays, and gaps are not shortened.
    whole: Ints = begins + (times - begins + unit // 2) // unit * unit
    return whole


def month_begins(months: Ints) -> Ints:
    """The first moment of months counted from January 1970."""
    return months.astype("M8[M]").astype("M8[us]").astype(np.int64)


def _likely(moments: Ints, week: Floats, uniform: Uniform) -> Ints:
    """Choose one moment of each row, by how much happens at its time of the week."""
    if not len(moments):
        return np.zeros(0, dtype=np.int64)
    chances = np.cumsum(week[week_slot(moments)] + 1e-9, axis=1)
    marks = uniform(len(moments)) * chances[:, -1]
    chosen = np.minimum((chances <= marks[:, None]).sum(axis=1), moments.shape[1] - 1)
    likely: Ints = moments[np.arange(len(moments)), chosen]
    return likely
