"""What a value says for one log against the other.

Every value falls into one of a few bins. A bin weighs the logarithm of a ratio of frequencies.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .sample import Ints, Sample, Sides
from .views import Feature

BINS = 48
"""A value is told apart in about so many steps."""
FEWEST = 40
"""A bin of fewer runs says nothing."""
UNIT = 2**16
"""Weights are whole numbers, in parts of this size, so that sums are exact everywhere."""
MOST = 400
"""So many values, those that tell most, are weighed at all."""
BY_CHANCE = 10.0
"""So many values may be kept by chance, expected. Fewer would lose what shows rarely, in many."""
MOST_DOUBT = 1e-3
"""A value is never taken for telling where chance does that more often."""
NOWHERE = np.zeros(0, dtype=np.int64)
ALIKE = 6.0
"""Neighbouring bins whose chi-square is lower are taken together: they differ by chance."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What one value says for the larger log, bin by bin."""

    edges: tuple[float, ...]
    """A bin begins at each."""
    bins: tuple[int, ...]
    """The weight of each bin; the first lies below all edges."""
    absent: int
    """The weight of the value not being there."""

    def of(self, value: float | None) -> int:
        """The weight of one value."""
        return self.absent if value is None else self.bins[bisect_right(self.edges, value)]


class Plain:
    """A value that is its own weight."""

    def of(self, value: float | None) -> int:
        """The value itself, and nothing where there is none."""
        return 0 if value is None else int(value)


PLAIN = Plain()
Weigh = Weights | Plain


def find_telling(sample: Sample) -> dict[Feature, Weights]:
    """Weigh every value, and keep those that differ between the logs by more than chance does.

    Each family, the values whose names begin alike, may be wrong equally often: so those of a small
    family are not drowned by those of a large one.
    """
    found: list[tuple[float, Feature, Weights]] = []
    families = Counter(feature[0] for feature in sample.columns)
    for family, size in families.items():
        doubt = min(MOST_DOUBT, BY_CHANCE / (len(families) * size))
        fewest = _fewest_telling(sample.sides, doubt)
        for feature, (runs, values) in sample.columns.items():
            if feature[0] == family and len(runs) >= fewest:
                weights, telling = weigh(sample.sides, runs, values, doubt)
                if telling > 0:
                    found.append((telling, feature, weights))
    found.sort(key=lambda one: -one[0])
    return {feature: weights for _, feature, weights in found[:MOST]}


def weigh(sides: Sides, runs: Ints, values: Ints, doubt: float) -> tuple[Weights, float]:
    """Weigh one value; also how far it differs beyond chance (below 0: not at all)."""
    edges = _edges(values, max(FEWEST, len(sides) // BINS))
    bins = np.searchsorted(edges, values, side="right")
    here = sides[runs]
    larger = np.bincount(bins[here], minlength=len(edges) + 1).tolist()
    smaller = np.bincount(bins[~here], minlength=len(edges) + 1).tolist()
    total = int(sides.sum()), int((~sides).sum())
    absent = total[0] - sum(larger), total[1] - sum(smaller)
    table = np.array([[*larger, absent[0]], [*smaller, absent[1]]], dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    telling = max(
        _chi_square(table) - _by_chance(table.shape[1] - 1, doubt / 2),
        # Values that only tend to be higher on one log tell nothing else, but sooner.
        _trend(np.array(larger), np.array(smaller)) - _by_chance(1, doubt / 2),
    )
    kept = edges.tolist()
    if telling > 0:
        _merge(larger, smaller, kept)

    def weight(more: int, less: int) -> int:
        # Half a run more on each side: a bin seen on one log only weighs much, not everything.
        ratio = math.log((more + 0.5) / (less + 0.5) * (total[1] + 1) / (total[0] + 1))
        return round(ratio * UNIT)

    weights = Weights(
        edges=tuple(kept), bins=tuple(map(weight, larger, smaller)), absent=weight(*absent)
    )
    return weights, telling


def _by_chance(freedom: int, doubt: float) -> float:
    """The chi-square that is reached by chance with this probability (Wilson and Hilferty)."""
    if not freedom:
        return math.inf
    part = 2 / (9 * freedom)
    return freedom * (1 - part + NormalDist().inv_cdf(1 - doubt) * math.sqrt(part)) ** 3


def _fewest_telling(sides: Sides, doubt: float) -> int:
    """In how many runs a value must be there to tell anything, even if all are on one log.

    Of a few thousand values that are rarely there, nearly all need not be weighed at all.
    """
    larger = int(sides.sum())
    fewer, more = sorted((larger, len(sides) - larger))
    for runs in range(1, min(FEWEST, fewer)):
        # So few fall into one bin: a table of two columns, as uneven as can be.
        table = np.array([[runs, fewer - runs], [0, more]], dtype=np.float64)
        if _chi_square(table) > _by_chance(1, doubt / 2):
            return runs
    return min(FEWEST, fewer)


def _chi_square(table: NDArray[np.float64]) -> float:
    """How far the two rows of a table differ."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    return float(((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())


def _trend(larger: Ints, smaller: Ints) -> float:
    """How far the bins of one row are higher than those of the other (Cochran and Armitage)."""
    both = larger + smaller
    place = np.arange(len(both))
    total, here = int(both.sum()), int(larger.sum())
    spread = float(both @ place**2) - float(both @ place) ** 2 / max(total, 1)
    if spread <= 0 or here in (0, total):
        return 0.0
    higher = float(larger @ place) - here / total * float(both @ place)
    return higher**2 / (spread * here / total * (1 - here / total))


def _merge(larger: list[int], smaller: list[int], edges: list[float]) -> None:
    """Take neighbouring bins together while two are alike, the most alike first."""

    def differ(i: int) -> float:
        return _chi_square(np.array([larger[i : i + 2], smaller[i : i + 2]], dtype=np.float64))

    apart = [differ(i) for i in range(len(edges))]
    while apart and min(apart) < ALIKE:
        i = apart.index(min(apart))
        for counts in (larger, smaller):
            counts[i : i + 2] = [counts[i] + counts[i + 1]]
        del edges[i], apart[i]
        for place in (i - 1, i):
            if 0 <= place < len(apart):
                apart[place] = differ(place)


def _edges(values: Ints, fewest: int) -> NDArray[np.float64]:
    """Where bins begin, so that each holds enough; a value that is frequent has its own."""
    distinct, counts = np.unique(values, return_counts=True)
    edges: list[float] = []
    held = 0
    for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        # A frequent value begins a bin even where the one before is not full.
        if held >= fewest or (held and count >= fewest):
            edges.append(value)
            held = 0
        held += count
    return np.array(edges, dtype=np.float64)


def score(sample: Sample, name: Feature, weights: Weigh) -> Ints:
    """The weight of one value in every run."""
    runs, values = sample.columns.get(name, (NOWHERE, NOWHERE))
    if isinstance(weights, Plain):
        result = np.zeros(len(sample.sides), dtype=np.int64)
        result[runs] = values
        return result
    result = np.full(len(sample.sides), weights.absent, dtype=np.int64)
    bins = np.searchsorted(np.array(weights.edges), values, side="right")
    result[runs] = np.array(weights.bins, dtype=np.int64)[bins]
    return result
