"""Measures of control flow: pairs, activities, lengths, overlap of variants, normal behaviour.

Each case is described by parts, such as its directly-follows pairs. Frequencies of parts are
compared by total variation: the share that would have to move to turn one distribution into the
other. Shares of cases that have a part are compared by the mean absolute error over the parts that
at least 1 % of the original cases have.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, pairwise
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
FOREST_SEED = 0
"""Fixed seed, so that all releases are compared with the same forest."""
LEARNT_CASES = 100_000
"""Larger logs are thinned evenly to this many cases; a tree of the forest uses 256 of them."""
PIVOTS = 50_000_000
"""More iterations than the network simplex needs here; it must not stop before the optimum."""


def name_sequences(counts: VariantCounts) -> Counter[Variant]:
    """Return the number of cases of each sequence of activity names, truncated or not."""
    total: Counter[Variant] = Counter()
    for sequence, count in counts:
        total[sequence] += count
    return total


def as_sequences(counts: VariantCounts) -> VariantCounts:
    """Treat truncated cases as plain sequences: no measure depends on whether they continued."""
    if counts.complete.all():
        return counts
    return VariantCounts.from_arrays(
        counts.activities, counts.activity_ids, counts.lengths, counts.counts
    )


def _share_activities(*logs: VariantCounts) -> list[VariantCounts]:
    """Express logs over the same activities, with truncated cases as plain sequences."""
    activities = tuple(dict.fromkeys(name for log in logs for name in log.activities))
    return [as_sequences(log.project_onto(activities)) for log in logs]


def _count(parts: Parts, *logs: VariantCounts) -> list[Counter[Part]]:
    """Count the parts of the cases of logs."""
    found = []
    for log in _share_activities(*logs):
        counted: Counter[Part] = Counter()
        for ids, count in zip(log.sequences(), log.counts.tolist(), strict=True):
            for part in parts(ids):
                counted[part] += count
        found.append(counted)
    return found


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


def _share_moved(parts: Parts) -> LogMeasure:
    """Total variation of the frequencies of parts; 1 for an empty release."""
    return lambda original, released: total_variation(*_count(parts, original, released))


def _mean_error(parts: Parts) -> LogMeasure:
    """Mean error of the shares of cases that have a part; 0 if no part is frequent."""

    def measure(original: VariantCounts, released: VariantCounts) -> float:
        left, right = _count(parts, original, released)
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


steps_distance = _share_moved(_grams(2))  # start and end included
trigrams_distance = _share_moved(_grams(3))
starts_distance = _share_moved(lambda ids: [ids[:1]])
ends_distance = _share_moved(lambda ids: [ids[-1:]])
activity_error = _mean_error(_occurring(1))
repetition_error = _mean_error(_occurring(2))
eventually_error = _mean_error(lambda ids: {*combinations(ids, 2)})


def top_steps_kept(original: VariantCounts, released: VariantCounts) -> float:
    """Share of the most frequent directly-follows pairs that are among those of the release."""
    left, right = (
        set(sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:TOP_PAIRS])
        for pairs in _count(_grams(2), original, released)
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
    left, right = _share_activities(original, released)
    levenshtein = optional_module("rapidfuzz.distance").Levenshtein
    pair = [texts(log.sequences(), len(log.activities)) for log in (left, right)]
    process = optional_module("rapidfuzz.process")
    edits = process.cdist(*pair, scorer=levenshtein.distance, dtype=np.int32)
    longer: NDArray[np.int64] = np.maximum(np.maximum.outer(left.lengths, right.lengths), 1)
    shares = [log.counts / log.counts.sum() for log in (left, right)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distance = optional_module("ot").emd2(*shares, edits / longer, numItermax=PIVOTS)
    return min(1.0, max(0.0, 1.0 - float(distance)))


class NormalBehaviour:
    """Behaviour that an outlier detector classifies as normal in one original log.

    An isolation forest (Liu et al., 2008) learns from the cases of the original which activities a
    case has, and which activities directly follow which. Behaviour that the original never shows
    cannot be learned, but a case with such behaviour lacks usual features. A case without any event
    is normal only if the original has such cases. If all cases of the original have the same
    features, a forest has nothing to split, and cases with these features are normal.
    """

    def __init__(self, original: VariantCounts) -> None:
        """Learn from the cases of the original."""
        sequences = name_sequences(original)
        self._empty_case_occurs = () in sequences
        shapes = [_facts(sequence) for sequence in sequences]
        self._only_shape = shapes[0] if all(shape == shapes[0] for shape in shapes) else None
        if self._only_shape is None:
            vectorizer = optional_module("sklearn.feature_extraction").DictVectorizer
            self._features = vectorizer(sparse=False, dtype=np.float32).fit(shapes)
            number = min(original.cases, LEARNT_CASES)
            places = np.arange(number, dtype=np.int64) * original.cases // number
            rows = np.cumsum([*sequences.values()]).searchsorted(places, side="right")
            forest = optional_module("sklearn.ensemble").IsolationForest
            self._forest = forest(random_state=FOREST_SEED)
            self._forest.fit(self._features.transform(shapes)[rows])

    def share(self, released: VariantCounts) -> float:
        """The share of the released cases that look normal; 0 for an empty release."""
        sequences = name_sequences(released)
        if not self._empty_case_occurs:
            sequences.pop((), None)
        if not sequences:
            return 0.0
        shapes = [_facts(sequence) for sequence in sequences]
        if self._only_shape is not None:
            normal = np.array([shape == self._only_shape for shape in shapes])
        else:
            normal = self._forest.predict(self._features.transform(shapes)) == 1
        return float(np.array([*sequences.values()])[normal].sum() / released.cases)


def _facts(sequence: Variant) -> dict[tuple[str, ...], int]:
    """The features of a case: its activities, and its directly-follows pairs."""
    return dict.fromkeys((*((activity,) for activity in sequence), *pairwise(sequence)), 1)
