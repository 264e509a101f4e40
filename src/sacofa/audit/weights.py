"""Weights of features: the evidence of a value for one of two neighbouring logs.

Every value falls into one of a few bins. The weight of a bin is the logarithm of a ratio of
frequencies.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .views import Feature

Ints = NDArray[np.int64]
Sides = NDArray[np.bool_]

BINS = 48
"""Number of bins of a feature, about."""
MIN_RUNS = 40
"""A bin of fewer runs is not evidence."""
WEIGHT_UNIT = 2**16
"""Weights are whole multiples of 1/65536, so that sums are exact on every machine."""
MAX_FEATURES = 400
"""Number of the most significant features that get weights."""
EXPECTED_FALSE = 10.0
"""Expected number of features that are kept by chance. With fewer, evidence that is rare but
spread over many features would be lost."""
MAX_DOUBT = 1e-3
"""Upper bound on the probability that a feature without any evidence is kept."""
SIMILAR_CHI_SQUARE = 6.0
"""Neighbouring bins whose chi-square is lower are merged: they differ by chance."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The features of many runs.

    Attributes:
        sides: Whether each run was on the larger log.
        columns: For each feature, the runs that had it, and its values there.
    """

    sides: Sides
    columns: Mapping[Feature, tuple[Ints, Ints]]

    @classmethod
    def join(cls, parts: Iterable[Sample]) -> Sample:
        """Concatenate samples."""
        parts = list(parts)
        starts = list(accumulate((len(part.sides) for part in parts), initial=0))
        found: dict[Feature, list[tuple[Ints, Ints]]] = {}
        for start, part in zip(starts, parts, strict=False):
            for feature, (runs, values) in part.columns.items():
                found.setdefault(feature, []).append((runs + start, values))
        return cls(
            sides=np.concatenate([part.sides for part in parts]),
            columns={
                feature: (
                    np.concatenate([r for r, _ in some]),
                    np.concatenate([v for _, v in some]),
                )
                for feature, some in found.items()
            },
        )

    def values_of(self, feature: Feature) -> tuple[Ints, Ints]:
        """Return the runs that had a feature, and its values there."""
        none = np.zeros(0, dtype=np.int64)
        return self.columns.get(feature, (none, none))


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The evidence of one feature for the larger log.

    Attributes:
        edges: Where each bin but the first begins.
        bins: Weight of each bin.
        absent: Weight if the feature is absent.
    """

    edges: tuple[float, ...]
    bins: tuple[int, ...]
    absent: int

    def of(self, value: float | None) -> int:
        """Return the weight of one value; None is an absent one."""
        return self.absent if value is None else self.bins[bisect_right(self.edges, value)]

    def score(self, sample: Sample, feature: Feature) -> Ints:
        """Return the weight of a feature in every run."""
        runs, values = sample.values_of(feature)
        scores = np.full(len(sample.sides), self.absent, dtype=np.int64)
        bins = np.searchsorted(np.array(self.edges), values, side="right")
        scores[runs] = np.array(self.bins, dtype=np.int64)[bins]
        return scores


class ValueAsWeight:
    """A value that is its own weight, such as a likelihood ratio."""

    def of(self, value: float | None) -> int:
        """Return the value itself; 0 if it is absent."""
        return 0 if value is None else int(value)

    def score(self, sample: Sample, feature: Feature) -> Ints:
        """Return the weight of a feature in every run."""
        runs, values = sample.values_of(feature)
        scores = np.zeros(len(sample.sides), dtype=np.int64)
        scores[runs] = values
        return scores


VALUE_AS_WEIGHT = ValueAsWeight()
Weigh = Weights | ValueAsWeight


def weigh_features(sample: Sample) -> dict[Feature, Weights]:
    """Return the weights of all features that differ between the logs by more than chance.

    Each family, the features whose names begin alike, has the same expected number of false ones,
    so that a small family is not lost in a large one.
    """
    found: list[tuple[float, Feature, Weights]] = []
    families = Counter(feature[0] for feature in sample.columns)
    for family, size in families.items():
        doubt = min(MAX_DOUBT, EXPECTED_FALSE / (len(families) * size))
        fewest = _min_runs(sample.sides, doubt)
        for feature, (runs, values) in sample.columns.items():
            if feature[0] == family and len(runs) >= fewest:
                weights, significance = weigh_feature(sample.sides, runs, values, doubt)
                if significance > 0:
                    found.append((significance, feature, weights))
    found.sort(key=lambda one: -one[0])
    return {feature: weights for _, feature, weights in found[:MAX_FEATURES]}


def weigh_feature(sides: Sides, runs: Ints, values: Ints, doubt: float) -> tuple[Weights, float]:
    """Return the weights of one feature, and how far it differs beyond chance (not if below 0)."""
    edges = _edges(values, max(MIN_RUNS, len(sides) // BINS))
    bins = np.searchsorted(edges, values, side="right")
    here = sides[runs]
    larger = np.bincount(bins[here], minlength=len(edges) + 1).tolist()
    smaller = np.bincount(bins[~here], minlength=len(edges) + 1).tolist()
    total = int(sides.sum()), int((~sides).sum())
    absent = total[0] - sum(larger), total[1] - sum(smaller)
    table = np.array([[*larger, absent[0]], [*smaller, absent[1]]], dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    significance = max(
        _chi_square(table) - _chi_square_quantile(table.shape[1] - 1, doubt / 2),
        # A trend, values that tend to be higher on one log, needs fewer runs to be significant.
        _trend(np.array(larger), np.array(smaller)) - _chi_square_quantile(1, doubt / 2),
    )
    kept = edges.tolist()
    if significance > 0:
        _merge(larger, smaller, kept)

    def weight(more: int, less: int) -> int:
        # Half a run is added on each side, so that a bin of one log only has a finite weight.
        ratio = math.log((more + 0.5) / (less + 0.5) * (total[1] + 1) / (total[0] + 1))
        return round(ratio * WEIGHT_UNIT)

    weights = Weights(
        edges=tuple(kept), bins=tuple(map(weight, larger, smaller)), absent=weight(*absent)
    )
    return weights, significance


def _chi_square_quantile(freedom: int, doubt: float) -> float:
    """The chi-square that chance exceeds with this probability."""
    from scipy.special import chdtri

    return float(chdtri(freedom, doubt)) if freedom else math.inf


def _min_runs(sides: Sides, doubt: float) -> int:
    """The least number of runs that a feature needs to be significant, even if all are on one log.

    Most of the thousands of features are rarer and need no weights.
    """
    larger = int(sides.sum())
    fewer, more = sorted((larger, len(sides) - larger))
    for runs in range(1, min(MIN_RUNS, fewer)):
        # They would fall into one bin: a table of two columns, as uneven as possible.
        table = np.array([[runs, fewer - runs], [0, more]], dtype=np.float64)
        if _chi_square(table) > _chi_square_quantile(1, doubt / 2):
            return runs
    return min(MIN_RUNS, fewer)


def _chi_square(table: NDArray[np.float64]) -> float:
    """Pearson's chi-square of a table with two rows."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    return float(((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())


def _trend(larger: Ints, smaller: Ints) -> float:
    """Chi-square of a trend: whether one row has higher bins than the other (Cochran, Armitage)."""
    both = larger + smaller
    place = np.arange(len(both))
    total, here = int(both.sum()), int(larger.sum())
    spread = float(both @ place**2) - float(both @ place) ** 2 / max(total, 1)
    if spread <= 0 or here in (0, total):
        return 0.0
    higher = float(larger @ place) - here / total * float(both @ place)
    return higher**2 / (spread * here / total * (1 - here / total))


def _merge(larger: list[int], smaller: list[int], edges: list[float]) -> None:
    """Merge neighbouring bins as long as two are similar, the most similar first."""

    def differ(i: int) -> float:
        return _chi_square(np.array([larger[i : i + 2], smaller[i : i + 2]], dtype=np.float64))

    apart = [differ(i) for i in range(len(edges))]
    while apart and min(apart) < SIMILAR_CHI_SQUARE:
        i = apart.index(min(apart))
        for counts in (larger, smaller):
            counts[i : i + 2] = [counts[i] + counts[i + 1]]
        del edges[i], apart[i]
        for place in (i - 1, i):
            if 0 <= place < len(apart):
                apart[place] = differ(place)


def _edges(values: Ints, min_runs: int) -> NDArray[np.float64]:
    """Where bins begin, so that each has enough runs; a frequent value has a bin of its own."""
    distinct, counts = np.unique(values, return_counts=True)
    edges: list[float] = []
    held = 0
    for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        # A frequent value begins a bin even where the one before is not full.
        if held >= min_runs or (held and count >= min_runs):
            edges.append(value)
            held = 0
        held += count
    return np.array(edges, dtype=np.float64)
