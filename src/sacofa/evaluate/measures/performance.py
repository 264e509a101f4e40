"""Performance: what analysts read off times, compared in doublings.

Durations span nine orders of magnitude, so differences are told as log2 of 1 + seconds: 1 is a
factor of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .timed import Floats, Ints, Timed, transport

GONE = 10.0
"""What a step counts that the release does not have."""
FREQUENT = 0.01
"""Steps with at least this share of all are compared."""
TOP = 10
"""How many bottlenecks there are."""


@dataclass(frozen=True, kw_only=True)
class Performance:
    """How well a release keeps times."""

    waits: float
    """Difference of the median gaps of frequent steps, in doublings, weighted by frequency."""
    gone: float
    """The share of frequent steps, by frequency, that the release does not have at all."""
    cycle_time: float
    """Distance between the distributions of cycle times, in doublings."""
    mean_ratio: float
    """Mean cycle time, released to original."""
    median_ratio: float
    """Median cycle time, released to original."""
    bottlenecks: float
    """Of the ten steps with the largest total time, the share that is among the release's ten."""
    arrivals: float
    """Total variation between the months in which cases begin."""


def performance(original: Timed, released: Timed) -> Performance:
    """Compare the times of a release with the original's; both over the same names."""
    wait, gone = waits(original, released)
    took, takes = original.cycle_times, released.cycle_times
    return Performance(
        waits=wait,
        gone=gone,
        cycle_time=transport(doublings(took), doublings(takes)),
        mean_ratio=_ratio(takes, took, np.mean),
        median_ratio=_ratio(takes, took, np.median),
        bottlenecks=bottlenecks_kept(original, released),
        arrivals=arrivals_distance(original, released),
    )


def doublings(seconds: Floats) -> Floats:
    """Durations as log2 of 1 + seconds; negative ones are zero."""
    return np.log2(1.0 + np.maximum(seconds, 0.0))


def waits(original: Timed, released: Timed) -> tuple[float, float]:
    """Compare the median gaps of frequent steps; also the share of them that is gone."""
    steps, gaps = original.gaps()
    medians, sizes = _medians(steps, gaps)
    found, _ = _medians(*released.gaps())
    frequent = {step: n for step, n in sizes.items() if n >= FREQUENT * len(steps)}
    total = sum(frequent.values())
    if not total:
        return 0.0, 0.0
    off = sum(
        n * (abs(medians[step] - found[step]) if step in found else GONE)
        for step, n in frequent.items()
    )
    gone = sum(n for step, n in frequent.items() if step not in found)
    return off / total, gone / total


def bottlenecks(log: Timed) -> list[int]:
    """The steps with the largest total time, at most ten, largest first."""
    steps, gaps = log.gaps()
    names, places = np.unique(steps, return_inverse=True)
    total = np.bincount(places, gaps, minlength=len(names))
    order = np.lexsort((names, -total))[:TOP]
    return [int(names[i]) for i in order if total[i] > 0]


def bottlenecks_kept(original: Timed, released: Timed) -> float:
    """The share of the original's bottlenecks that are the release's too; 1 if there are none."""
    true = bottlenecks(original)
    return len({*true} & {*bottlenecks(released)}) / len(true) if true else 1.0


def arrivals_distance(original: Timed, released: Timed) -> float:
    """Total variation between the months in which cases begin."""
    months = [(log.begins * 1e6).astype("M8[us]").astype("M8[M]") for log in (original, released)]
    if not len(months[0]) or not len(months[1]):
        return float(len(months[0]) != len(months[1]))
    names = np.unique(np.concatenate(months))
    shares = [
        np.bincount(names.searchsorted(month), minlength=len(names)) / len(month)
        for month in months
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _medians(steps: Ints, gaps: Floats) -> tuple[dict[int, float], dict[int, int]]:
    """The median gap of each step in doublings, and how often it is taken."""
    order = np.lexsort((gaps, steps))
    names, first, sizes = np.unique(steps[order], return_index=True, return_counts=True)
    ordered = gaps[order]
    low, high = ordered[first + (sizes - 1) // 2], ordered[first + sizes // 2]
    medians = doublings((low + high) / 2) if len(names) else ordered
    keys = names.tolist()
    return (
        dict(zip(keys, medians.tolist(), strict=True)),
        dict(zip(keys, sizes.tolist(), strict=True)),
    )


def _ratio(
    released: Floats, original: Floats, middle: Callable[[Floats], np.floating[Any]]
) -> float:
    if not len(released) or not len(original):
        return 1.0 if len(released) == len(original) else float("inf")
    above, below = float(middle(released)), float(middle(original))
    if below == 0:
        return 1.0 if above == 0 else float("inf")
    return above / below
