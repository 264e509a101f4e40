"""Measures of time: waits, cycle times, bottlenecks, arrivals.

Durations span nine orders of magnitude. Their differences are therefore given in doublings, as log2
of 1 + seconds: 1 is a factor of two.
"""

from __future__ import annotations

import numpy as np

from .timed import Floats, Ints, Timed, transport

LOST_PAIR = 10.0
"""Error, in doublings, of a directly-follows pair that the release does not have."""
MIN_SHARE = 0.01
"""Least share of all directly-follows pairs that a pair needs to be compared."""
BOTTLENECKS = 10
"""Number of bottlenecks that are compared."""
HOUR = 3_600
"""Seconds."""


def wait_error(original: Timed, released: Timed) -> float:
    """Return the error of the median waits of frequent pairs in doublings; see `waits`."""
    return waits(original, released)[0]


def cycle_time_error(original: Timed, released: Timed) -> float:
    """Return the distance between the distributions of cycle times, in doublings."""
    return transport(doublings(original.cycle_times), doublings(released.cycle_times))


def mean_cycle_error(original: Timed, released: Timed) -> float:
    """Return the error of the mean cycle time in doublings; infinite if one mean is zero."""
    ratio = mean_cycle_ratio(original, released)
    return abs(float(np.log2(ratio))) if ratio > 0 else float("inf")


def mean_cycle_ratio(original: Timed, released: Timed) -> float:
    """Return the mean cycle time of the release, divided by that of the original."""
    before, after = original.cycle_times, released.cycle_times
    if not len(before) or not len(after):
        return 1.0 if len(before) == len(after) else float("inf")
    below, above = float(np.mean(before)), float(np.mean(after))
    if below == 0:
        return 1.0 if above == 0 else float("inf")
    return above / below


def doublings(seconds: Floats) -> Floats:
    """Return durations as log2 of 1 + seconds; negative ones are zero."""
    return np.log2(1.0 + np.maximum(seconds, 0.0))


def cycle_time_distance(original: Timed, released: Timed) -> float:
    """Return the Wasserstein distance of cycle times in hours (CTD).

    Defined by Chapela-Campa et al., "Can I trust my simulation model?" (BPM 2023): cycle times are
    cut to bins of one hour above the shortest of both logs. Tests compare with the package
    `log-distance-measures` of its authors.
    """
    left, right = original.cycle_times, released.cycle_times
    least = min([*left.tolist(), *right.tolist()], default=0.0)
    return transport(np.floor((left - least) / HOUR), np.floor((right - least) / HOUR))


def waits(original: Timed, released: Timed) -> tuple[float, float]:
    """Return the error of the median waits of frequent pairs, and the share of pairs that is lost.

    Args:
        original: The original.
        released: The release, over the same activities.

    Returns:
        The error in doublings, and a share; both are weighted by frequency.
    """
    pairs, gaps = original.gaps()
    medians, sizes = _medians(pairs, gaps)
    found, _ = _medians(*released.gaps())
    frequent = {pair: n for pair, n in sizes.items() if n >= MIN_SHARE * len(pairs)}
    total = sum(frequent.values())
    if not total:
        return 0.0, 0.0
    off = sum(
        n * (abs(medians[pair] - found[pair]) if pair in found else LOST_PAIR)
        for pair, n in frequent.items()
    )
    gone = sum(n for pair, n in frequent.items() if pair not in found)
    return off / total, gone / total


def bottlenecks(log: Timed) -> list[int]:
    """Return the directly-follows pairs with the largest total time, largest first."""
    pairs, gaps = log.gaps()
    names, places = np.unique(pairs, return_inverse=True)
    total = np.bincount(places, gaps, minlength=len(names))
    order = np.lexsort((names, -total))[:BOTTLENECKS]
    return [int(names[i]) for i in order if total[i] > 0]


def bottlenecks_kept(original: Timed, released: Timed) -> float:
    """Return the share of the original's bottlenecks that the release has; 1 if there are none."""
    true = bottlenecks(original)
    return len({*true} & {*bottlenecks(released)}) / len(true) if true else 1.0


def arrivals_distance(original: Timed, released: Timed) -> float:
    """Return the total variation of the months in which cases begin."""
    months = [(log.begins * 1e6).astype("M8[us]").astype("M8[M]") for log in (original, released)]
    if not len(months[0]) or not len(months[1]):
        return float(len(months[0]) != len(months[1]))
    names = np.unique(np.concatenate(months))
    shares = [
        np.bincount(names.searchsorted(month), minlength=len(names)) / len(month)
        for month in months
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _medians(pairs: Ints, gaps: Floats) -> tuple[dict[int, float], dict[int, int]]:
    """The median wait of each pair in doublings, and its frequency."""
    order = np.lexsort((gaps, pairs))
    names, first, sizes = np.unique(pairs[order], return_index=True, return_counts=True)
    ordered = gaps[order]
    low, high = ordered[first + (sizes - 1) // 2], ordered[first + sizes // 2]
    medians = doublings((low + high) / 2) if len(names) else ordered
    keys = names.tolist()
    return (
        dict(zip(keys, medians.tolist(), strict=True)),
        dict(zip(keys, sizes.tolist(), strict=True)),
    )
