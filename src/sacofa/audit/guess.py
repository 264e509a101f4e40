"""Learn from one half of the runs how to guess on the other.

Every value of an outcome falls into one of a few bins. A bin weighs what it says for one log
against the other: the logarithm of a ratio of frequencies. Where noise is independent, such weights
add up. The sum is compared with two cuts: at or above the higher the guess is the larger log, at or
below the lower the smaller one, in between nothing is guessed.

Whatever is learnt here, good or bad, is fixed before it is tested: it decides how much an audit
finds, never whether what it finds is true.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .views import Feature, Features

Ints = NDArray[np.int64]
Sides = NDArray[np.bool_]

BINS = 48
"""A value is told apart in about so many steps."""
FEWEST = 40
"""A bin of fewer runs says nothing."""
UNIT = 2**16
"""Weights are whole numbers, in parts of this size, so that sums are exact everywhere."""
MOST = 400
"""So many values, those that tell most, are weighed at all."""
CUTS = 160
"""So many cuts are tried on each side."""
CAUTION = 5.0
"""Cuts are chosen for what they prove if wrong guesses are so many standard deviations more."""
ALIKE = 6.0
"""Neighbouring bins whose chi-square is lower are taken together: they differ by chance."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What was seen in many runs."""

    sides: Sides
    """Which runs were on the larger log."""
    columns: Mapping[Feature, tuple[Ints, Ints]]
    """Of each feature, the runs that had it and its value there."""

    @classmethod
    def join(cls, parts: Iterable[Sample]) -> Sample:
        """Put samples end to end."""
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


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Guesses from the values of an outcome which of two logs it came from."""

    weights: Mapping[Feature, Weights]
    """The values that count."""
    low: float
    """At or below this sum of weights the guess is the smaller log."""
    high: float
    """At or above this sum of weights the guess is the larger log."""

    def guess(self, features: Features) -> bool | None:
        """Whether it was the larger log; None for no guess."""
        total = sum(weights.of(features.get(name)) for name, weights in self.weights.items())
        if total >= self.high:
            return True
        return False if total <= self.low else None


def learn_guesser(sample: Sample) -> Guesser:
    """Find the values, weights and cuts that prove most on these runs."""
    telling = _find_telling(sample)
    scores = {name: _score(sample, name, weights) for name, weights in telling.items()}
    tried: list[tuple[list[Feature], _Cuts]] = [
        ([name], _choose_cuts(score, sample.sides)) for name, score in list(scores.items())[:20]
    ]
    tried.append((list(scores), _choose_cuts(_total(scores.values(), sample), sample.sides)))
    tried.append(_add_up(scores, sample))
    names, cuts = max(tried, key=lambda one: one[1].proves)
    return Guesser(weights={name: telling[name] for name in names}, low=cuts.low, high=cuts.high)


def _find_telling(sample: Sample) -> dict[Feature, Weights]:
    """Weigh every value, and keep those that differ between the logs by more than chance does."""
    found: list[tuple[float, Feature, Weights]] = []
    fewest = _fewest_telling(sample.sides)
    for feature, (runs, values) in sample.columns.items():
        if len(runs) < fewest:
            continue
        weights, telling = _weigh(sample.sides, runs, values)
        if telling > 0:
            found.append((telling, feature, weights))
    found.sort(key=lambda one: -one[0])
    return {feature: weights for _, feature, weights in found[:MOST]}


def _weigh(sides: Sides, runs: Ints, values: Ints) -> tuple[Weights, float]:
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
    freedom = table.shape[1] - 1
    telling = _chi_square(table) - _by_chance(freedom)
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


def _by_chance(freedom: int) -> float:
    """The chi-square that hardly any value reaches by chance."""
    return freedom + 4 * math.sqrt(2 * freedom) + 4


def _fewest_telling(sides: Sides) -> int:
    """In how many runs a value must be there to tell anything, even if all are on one log.

    Of a few thousand values that are rarely there, nearly all need not be weighed at all.
    """
    larger = int(sides.sum())
    fewer, more = sorted((larger, len(sides) - larger))
    for runs in range(1, min(FEWEST, fewer)):
        # So few fall into one bin: a table of two columns, as uneven as can be.
        table = np.array([[runs, fewer - runs], [0, more]], dtype=np.float64)
        if _chi_square(table) > _by_chance(1):
            return runs
    return min(FEWEST, fewer)


def _chi_square(table: NDArray[np.float64]) -> float:
    """How far the two rows of a table differ."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    return float(((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())


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


def _score(sample: Sample, name: Feature, weights: Weights) -> Ints:
    """The weight of one value in every run."""
    runs, values = sample.columns[name]
    score = np.full(len(sample.sides), weights.absent, dtype=np.int64)
    bins = np.searchsorted(np.array(weights.edges), values, side="right")
    score[runs] = np.array(weights.bins, dtype=np.int64)[bins]
    return score


def _total(scores: Iterable[Ints], sample: Sample) -> Ints:
    total = np.zeros(len(sample.sides), dtype=np.int64)
    for score in scores:
        total += score
    return total


def _add_up(scores: Mapping[Feature, Ints], sample: Sample) -> tuple[list[Feature], _Cuts]:
    """Add value after value, and keep those that prove more: some say the same thing twice."""
    names: list[Feature] = []
    total = _total((), sample)
    best = _choose_cuts(total, sample.sides)
    for name, score in scores.items():
        cuts = _choose_cuts(total + score, sample.sides)
        if cuts.proves > best.proves:
            names.append(name)
            total += score
            best = cuts
    return names, best


@dataclass(frozen=True, kw_only=True)
class _Cuts:
    low: float
    high: float
    proves: float


def _choose_cuts(score: Ints, sides: Sides) -> _Cuts:
    """Choose the two cuts that prove most; each may lie outside all scores."""
    distinct, places = np.unique(score, return_inverse=True)
    larger = np.bincount(places[sides], minlength=len(distinct))
    smaller = np.bincount(places[~sides], minlength=len(distinct))
    # Entry i: the guesses that a cut at the i-th score makes, right and wrong.
    above = np.cumsum(larger[::-1])[::-1], np.cumsum(smaller[::-1])[::-1]
    below = np.cumsum(smaller), np.cumsum(larger)
    tried = _spaced(above[0] + above[1]), _spaced(below[0] + below[1])
    high_right, high_wrong = (np.append(part[tried[0]], 0) for part in above)
    low_right, low_wrong = (np.append(part[tried[1]], 0) for part in below)
    right = np.maximum(high_right[:, None] + low_right[None, :], 0.5)
    wrong = high_wrong[:, None] + low_wrong[None, :]
    # As many wrong guesses as there may have been: near the exact bound, and quick.
    feared = (np.sqrt(wrong + 1) + CAUTION / 2 * np.sqrt(1 + wrong / right)) ** 2
    proves = np.log(right / feared)
    high = np.append(distinct[tried[0]].astype(float), np.inf)
    low = np.append(distinct[tried[1]].astype(float), -np.inf)
    proves[low[None, :] >= high[:, None]] = -np.inf
    i, j = np.unravel_index(int(np.argmax(proves)), proves.shape)
    return _Cuts(low=float(low[j]), high=float(high[i]), proves=float(proves[i, j]))


def _spaced(sizes: Ints) -> Ints:
    """Choose cuts whose numbers of guesses are evenly spaced on a logarithmic scale."""
    if len(sizes) <= CUTS:
        return np.arange(len(sizes))
    logs = np.log(sizes)
    order = np.argsort(logs, kind="stable")
    wanted = np.linspace(logs.min(), logs.max(), CUTS)
    found = np.searchsorted(logs[order], wanted).clip(max=len(sizes) - 1)
    return np.unique(order[found])
