"""When cases begin and events happen, told from noisy months and hours of the week."""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.times import SLOTS
from ..numerics import project_to_total
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def estimate_months(noisy: Floats, noise: float, cases: float) -> Floats:
    """Shares of the months: the stretches in which cases begin are found first, then smoothed.

    Noise alone would fill a century with cases. A stretch of months is believed if its sum stands
    out from noise as no stretch of a calendar of only noise would.
    """
    deviation = np.sqrt(2.0) * noise
    left = np.asarray(noisy, dtype=np.float64).copy()
    chance = np.sqrt(2.0 * np.log(max(len(left), 2) ** 2)) + TUNING.stretch_surplus
    inside = np.zeros(len(left), dtype=np.bool_)
    while True:
        first, last, score = _best_stretch(left, deviation)
        if inside.any() and score < chance:
            break
        inside[first:last] = True
        left[first:last] = -np.inf
        if inside.all():
            break
    shares = np.zeros(len(left))
    shares[inside] = project_to_total(_smooth(noisy, inside, deviation)[inside], max(cases, 1.0))
    whole: Floats = shares / shares.sum()
    return whole


def _best_stretch(noisy: Floats, deviation: float) -> tuple[int, int, float]:
    """The stretch of months whose sum stands out most, and by how many standard deviations."""
    months = len(noisy)
    # What was taken already weighs so much that no stretch goes across it.
    taken = -1e3 * float(np.abs(noisy[np.isfinite(noisy)]).sum() + deviation)
    sums = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(noisy), noisy, taken))])
    best = (0, months, -np.inf)
    most = float((sums[1:] - np.minimum.accumulate(sums)[:-1]).max())
    for width in range(1, months + 1):
        if most > 0 and most / (deviation * sqrt(width)) <= best[2]:
            # No stretch of this width, or of a larger one, stands out more.
            break
        stretches = sums[width:] - sums[:-width]
        score = float(stretches.max()) / (deviation * sqrt(width))
        if score > best[2]:
            place = int(stretches.argmax())
            best = (place, place + width, score)
    return best


def _smooth(noisy: Floats, inside: NDArray[np.bool_], deviation: float) -> Floats:
    """Pull months towards those around them, as much as their differences look like noise."""
    values = np.where(inside, noisy, 0.0)
    # Not mode="same": a window of fewer months than five has a calendar too.
    near = np.convolve(values, np.ones(5))[2:-2]
    near /= np.maximum(np.convolve(inside.astype(np.float64), np.ones(5))[2:-2], 1.0)
    off = (values - near)[inside]
    # A month is a fifth of its own surroundings, which hides a fifth of its noise.
    excess = float(np.mean(off**2)) if len(off) else 0.0
    by_noise = 0.8 * deviation**2
    kept = 1.0 - by_noise / excess if excess > by_noise else 0.0
    smooth: Floats = near + kept * (values - near)
    return smooth


@cache
def weeks() -> Floats:
    """Weeks that organisations have: which days, which hours, and how much happens outside."""
    shapes = [np.full(7 * SLOTS, 1.0)]
    for days in (5, 6, 7):
        for first in range(SLOTS):
            for width in (2, 3, 4, SLOTS):
                for outside in (0.0, 0.1, 0.3, 0.6):
                    hours = np.full(SLOTS, outside)
                    hours[(first + np.arange(width)) % SLOTS] = 1.0
                    open_days = np.where(np.arange(7) < days, 1.0, outside)
                    shapes.append(np.outer(open_days, hours).ravel())
    every = np.array(shapes)
    normal: Floats = every / every.sum(axis=1, keepdims=True)
    return normal


def estimate_week(noisy: Floats, noise: float, cases: float) -> Floats:
    """Shares of the cells of the week, Monday first."""
    shapes = weeks()
    off = np.abs(noisy - cases * shapes).sum(axis=1) / noise
    weights = np.exp(off.min() - off)
    shape = weights @ shapes / weights.sum()
    own = project_to_total(np.asarray(noisy, dtype=np.float64), max(cases, 1.0))
    own /= own.sum()
    part = TUNING.week_trust * noise / (TUNING.week_trust * noise + cases / len(noisy))
    week: Floats = (1 - part) * own + part * shape
    return week
