"""Distributions out of noisy histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def add_up(places: Ints, values: Floats, size: int) -> Floats:
    """The sum of the values at each place from 0 to size − 1."""
    return np.bincount(places, values, minlength=size).astype(np.float64)


def project(noisy: Floats, total: float) -> Floats:
    """The nearest histogram without negative cells and with a given total."""
    ordered = np.sort(noisy)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(noisy) + 1)
    # The cells that stay are those above the shift that they themselves ask for.
    shift = excess[np.flatnonzero(ordered > excess)[-1]]
    projected: Floats = np.maximum(noisy - shift, 0.0)
    return projected


def longest(noisy: Floats, noise: float, total: float, middles: Floats) -> int:
    """How many bins to keep: the longest ones go as long as their sum may well be noise.

    One false case of ten years weighs as much as a thousand of three days: a mean, and the order
    of the bottlenecks, cannot bear it. A sum of so many noise scales is false with a chance of
    exp(−sum), so what it needs grows with the logarithm of how much longer than the mean it is.
    """
    tail = np.cumsum(noisy[::-1])[::-1]
    for kept in range(len(noisy), 1, -1):
        shares = project(noisy[: kept - 1], total)
        mean = float(shares @ middles[: kept - 1]) / total
        harm = max(float(middles[kept - 1]) / max(mean, 1.0), 1.0)
        if tail[kept - 1] >= np.log(harm) * noise:
            return kept
    return 1
