"""How long cases take, told from a noisy ladder of bins.

The coarse bins that people use are told first: few cells, little noise. Both ends of them are cut
where they may well be noise. Then every bin is split in two as its halves say, rung by rung, so
that noise in many fine empty bins never adds up to cases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.durations import bins
from ..numerics import project_to_total
from .pool import Table
from .tuning import TUNING

Floats = NDArray[np.float64]


def tell_totals(noisy: Floats, noise: float, cases: float, single: float) -> tuple[Floats, int]:
    """Shares of the bins, and how many of the coarse ones are kept; `single` cases have one event.

    The released flow says how many cases have one event: those take no time at all.
    """
    coarse, fine = bins(0), len(noisy)
    halvings = ((fine - 1) // (coarse - 1)).bit_length() - 1
    seen = np.concatenate([noisy[:1], noisy[1:].reshape(coarse - 1, -1).sum(axis=1)])
    seen[0] -= single
    rest = max(cases - single, 1.0)
    noise = noise * 2.0 ** (halvings / 2)
    table = Table.of((0,))
    middles = np.sqrt(np.maximum(table.low, 0.25) * table.high)
    kept = longest(seen, noise, rest, middles)
    if kept < coarse:
        # Cases that take a little longer than the longest bin are cut to it, not dropped.
        seen[kept - 1] += TUNING.beyond_longest * max(float(seen[kept]), 0.0)
    first = shortest(seen[:kept], noise, rest, middles)
    told = np.zeros(coarse)
    told[first:kept] = project_to_total(seen[first:kept], rest)
    told[0] += single
    for rung in range(1, halvings + 1):
        told = _split(told, noisy[1:].reshape(-1, 1 << (halvings - rung)).sum(axis=1))
    return told / told.sum(), kept


def longest(noisy: Floats, noise: float, total: float, middles: Floats) -> int:
    """How many bins to keep: the longest ones go as long as their sum may well be noise.

    One false case of ten years weighs as much as a thousand of three days: a mean, and the order
    of the bottlenecks, cannot bear it. A sum of so many noise scales is false with a chance of
    exp(−sum), so what it needs grows with the logarithm of how much longer than the mean it is.
    """
    tail = np.cumsum(noisy[::-1])[::-1]
    for kept in range(len(noisy), 1, -1):
        shares = project_to_total(noisy[: kept - 1], total)
        mean = float(shares @ middles[: kept - 1]) / total
        harm = max(float(middles[kept - 1]) / max(mean, 1.0), 1.0)
        if tail[kept - 1] >= np.log(harm) * noise:
            return kept
    return 1


def shortest(noisy: Floats, noise: float, total: float, middles: Floats) -> int:
    """How many bins to drop: the shortest ones go as long as their sum may well be noise.

    People read durations in doublings, and a false case of a second among cases of days is
    seventeen of them off.
    """
    shares = project_to_total(noisy, total)
    half = int(np.cumsum(shares).searchsorted(total / 2))
    off = np.log2((1 + middles[half]) / (1 + middles[: len(noisy)]))
    small = np.cumsum(noisy) < TUNING.short_cases * noise * np.log1p(np.maximum(off, 0.0))
    small[half:] = False
    return int(np.argmin(small))


def _split(told: Floats, halves: Floats) -> Floats:
    """Divide each bin but the first in two, by the noisy votes of its halves."""
    whole, lean = told[1:], halves[0::2] - halves[1::2]
    first = np.clip((whole + lean) / 2, 0.0, whole)
    return np.concatenate([told[:1], np.stack([first, whole - first], axis=1).ravel()])
