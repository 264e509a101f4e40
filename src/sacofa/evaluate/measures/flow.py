"""Measures of control flow: directly-follows pairs, activities, lengths, overlap of variants.

Each case is described by parts, such as its directly-follows pairs. Frequencies of parts are
compared by total variation: the share that would have to move to turn one distribution into the
other. Shares of cases that have a part are compared by the mean absolute error over the parts that
at least 1 % of the original cases have.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from statistics import fmean
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...base.distance import texts
from ...kernel.variants import Variant, VariantCounts
from ..extras import optional_module

Part = tuple[int, ...]
"""Activities that are counted together; −1 is the beginning or the end of the case."""
Parts = Callable[[Part], Iterable[Part]]
"""The parts of a case, given the ids of its activities."""
Key = TypeVar("Key")
LogMeasure = Callable[[VariantCounts, VariantCounts], float]

MIN_SHARE = 0.01
"""Least share of the original cases that activities and pairs need to be compared."""
TOP_PAIRS = 20
"""Number of the most frequent directly-follows pairs that are compared by rank."""
PIVOTS = 50_000_000
"""More steps than the network simplex ever needs here; it must not stop short of the optimum."""


def name_sequences(counts: VariantCounts) -> Counter[Variant]:
    """Return the number of cases of each sequence of activity names, truncated or not."""
    total: Counter[Variant] = Counter()
    for sequence, count in counts:
        total[sequence] += count
    return total


def share_activities(
    original: VariantCounts, released: VariantCounts
) -> tuple[VariantCounts, VariantCounts]:
    """Express two logs over the same activities, with truncated cases as plain sequences."""
    activities = tuple(dict.fromkeys((*original.activities, *released.activities)))
    return _as_sequences(original.project_onto(activities)), _as_sequences(
        released.project_onto(activities)
    )


def _as_sequences(counts: VariantCounts) -> VariantCounts:
    """A truncated case counts as the sequence that it has: no measure asks if it continued."""
    if counts.complete.all():
        return counts
    return VariantCounts.from_arrays(
        counts.activities, counts.activity_ids, counts.lengths, counts.counts
    )


def _count(log: VariantCounts, parts: Parts) -> Counter[Part]:
    found: Counter[Part] = Counter()
    for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
        for part in parts(ids):
            found[part] += count
    return found


def _share_moved(parts: Parts) -> LogMeasure:
    """Total variation of the frequencies of parts; 1 for an empty release."""

    def measure(original: VariantCounts, released: VariantCounts) -> float:
        left, right = (_count(log, parts) for log in share_activities(original, released))
        return total_variation(left, right)

    return measure


def total_variation(left: Mapping[Key, int], right: Mapping[Key, int]) -> float:
    """Return the share that would have to move to turn one distribution into the other.

    It is 1 if only one of them is empty, and 0 if both are.
    """
    before, after = sum(left.values()), sum(right.values())
    if not before or not after:
        return float(before != after)
    return (
        sum(abs(left.get(p, 0) / before - right.get(p, 0) / after) for p in {**left, **right}) / 2
    )


def _mean_error(parts: Parts) -> LogMeasure:
    """Mean error of the shares of cases that have a part; 0 if no part is frequent."""

    def measure(original: VariantCounts, released: VariantCounts) -> float:
        left, right = (_count(log, parts) for log in share_activities(original, released))
        before, after = original.cases, max(released.cases, 1)
        shares = {part: number / before for part, number in left.items()}
        errors = [abs(s - right[part] / after) for part, s in shares.items() if s >= MIN_SHARE]
        return fmean(errors) if errors else 0.0

    return measure


def _grams(size: int) -> Parts:
    def parts(ids: Part) -> Iterable[Part]:
        path = (-1, *ids, -1)
        # A case that is shorter than `size` counts as a whole.
        return (path[i : i + size] for i in range(max(len(path) - size + 1, 1)))

    return parts


def _occurring(times: int) -> Parts:
    return lambda ids: ((a,) for a, number in Counter(ids).items() if number >= times)


steps_distance = _share_moved(_grams(2))
"""Total variation of directly-follows pairs, start and end included."""
trigrams_distance = _share_moved(_grams(3))
"""Total variation of triples of activities that follow each other directly."""
starts_distance = _share_moved(lambda ids: [ids[:1]])
"""Total variation of the first activities of cases."""
ends_distance = _share_moved(lambda ids: [ids[-1:]])
"""Total variation of the last activities of cases."""
activity_error = _mean_error(_occurring(1))
"""Mean error of the share of cases that have an activity."""
repetition_error = _mean_error(_occurring(2))
"""Mean error of the share of cases that have an activity twice or more often."""
eventually_error = _mean_error(lambda ids: {*combinations(ids, 2)})
"""Mean error of the share of cases in which a is eventually followed by b."""


def top_steps_kept(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the most frequent directly-follows pairs that are among those of the release."""
    left, right = (
        set(sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:TOP_PAIRS])
        for pairs in (_count(log, _grams(2)) for log in share_activities(original, released))
    )
    return len(left & right) / len(left) if left else 1.0


def length_error(original: VariantCounts, released: VariantCounts) -> float:
    """Error of the mean length of cases, relative to the original."""
    if not released.cases or not original.events:
        return 1.0 if original.events else 0.0
    before, after = original.events / original.cases, released.events / released.cases
    return abs(after - before) / before


def mass_kept(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the original cases whose variant is in the release."""
    known = name_sequences(released)
    return sum(n for sequence, n in original if sequence in known) / original.cases


def invented(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the released cases whose variant is not in the original; 0 for an empty release."""
    return 1.0 - mass_kept(released, original) if released.cases else 0.0


def size_error(original: VariantCounts, released: VariantCounts) -> float:
    """Error of the number of cases, relative to the original."""
    return abs(released.cases - original.cases) / original.cases


def similarity(original: VariantCounts, released: VariantCounts) -> float:
    """Return 1 − the earth mover's distance between two distributions of variants.

    The distance between two variants is their Levenshtein distance divided by the longer length, as
    the literature on private event logs does. It breaks the triangle inequality (ab and ba are 1
    apart, but 1/3 + 1/3 by way of aba), so that leaving mass in place where both distributions have
    it need not be the cheapest: the whole problem is solved, not only what differs.

    Returns:
        1 for equal distributions, 0 for no common activity in any position or an empty release.
    """
    if not original.cases or not released.cases:
        return 0.0
    left, right = share_activities(original, released)
    process = optional_module("rapidfuzz.process")
    levenshtein = optional_module("rapidfuzz.distance").Levenshtein
    pair = [texts(log.sequences(), len(log.activities)) for log in (left, right)]
    edits = process.cdist(*pair, scorer=levenshtein.distance, dtype=np.int32)
    longer: NDArray[np.int64] = np.maximum(np.maximum.outer(left.lengths, right.lengths), 1)
    shares = [log.counts / log.counts.sum() for log in (left, right)]
    transport = optional_module("ot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distance = transport.emd2(*shares, edits / longer, numItermax=PIVOTS)
    return min(1.0, max(0.0, 1.0 - float(distance)))
