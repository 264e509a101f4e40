"""Attacks that learn from one half of the runs how to guess on the other half.

Every value of an outcome falls into one of a few bins. The weight of a bin, its evidence for one
log against the other, is the logarithm of a ratio of frequencies. For independent noise such
weights add up. The sum is compared with two thresholds: at or above the upper one the guess is the
larger log, at or below the lower one the smaller log, in between the attack passes.

An attack is fixed before it is tested. Its quality decides how much an audit finds, never whether
the finding is true.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .bounds import Claim, rho_of
from .views import Feature

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
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
THRESHOLDS = 160
"""Number of thresholds that are tried on each side."""
CAUTIONS = 5.0, 1.7
"""Thresholds are chosen for the ε that they prove if wrong guesses are this many standard
deviations more frequent: first as a refutation requires, and if nothing would be proved, as a bound
at 95 % does."""
GIVEN_DOUBT = 1e-6
"""Probability that δ gives more runs away than are taken for that when thresholds are chosen."""
SINGLE_FEATURES = 20
"""Number of the most significant features that are tried alone."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The features of many runs."""

    sides: Sides  # whether each run was on the larger log
    columns: Mapping[Feature, tuple[Ints, Ints]]  # the runs that had a feature, and its values

    @classmethod
    def join(cls, parts: Iterable[Sample]) -> Sample:
        """Concatenate samples."""
        parts = list(parts)
        starts = accumulate((len(part.sides) for part in parts), initial=0)
        found: dict[Feature, list[tuple[Ints, Ints]]] = {}
        for start, part in zip(starts, parts, strict=False):
            for feature, (runs, values) in part.columns.items():
                found.setdefault(feature, []).append((runs + start, values))
        columns = {
            feature: (np.concatenate([r for r, _ in some]), np.concatenate([v for _, v in some]))
            for feature, some in found.items()
        }
        return cls(sides=np.concatenate([part.sides for part in parts]), columns=columns)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The evidence of one feature for the larger log.

    Without bins a value is its own weight, as a likelihood ratio is.
    """

    edges: tuple[float, ...] = ()  # where each bin but the first begins
    bins: tuple[int, ...] = ()  # the weight of each bin
    absent: int = 0  # the weight if the feature is absent

    def score(self, sample: Sample, feature: Feature) -> Ints:
        """Return the weight of a feature in every run."""
        scores = np.full(len(sample.sides), self.absent, dtype=np.int64)
        if feature in sample.columns:
            runs, values = sample.columns[feature]
            places = np.searchsorted(np.array(self.edges), values, side="right")
            scores[runs] = np.array(self.bins, dtype=np.int64)[places] if self.bins else values
        return scores


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Guesses from the features of an outcome which of two logs it came from."""

    weights: Mapping[Feature, Weights]
    low: float  # at or below this sum of weights the guess is the smaller log
    high: float  # at or above this sum of weights the guess is the larger log
    by_rho: bool = False  # whether the guesses are to prove a ρ

    def count(self, sample: Sample) -> tuple[int, int]:
        """Return the number of right guesses, and of all guesses; the other runs are passed."""
        nothing = np.zeros(len(sample.sides), dtype=np.int64)
        total = sum((one.score(sample, name) for name, one in self.weights.items()), nothing)
        larger = total >= self.high
        guessed = larger | (total <= self.low)
        return int((larger == sample.sides)[guessed].sum()), int(guessed.sum())


PURE = Claim(epsilon=Fraction(1))
"""Any claim without δ: which ε it is does not matter to an attack."""


def learn_guesser(sample: Sample, claim: Claim = PURE) -> Guesser:
    """Find the features, weights and thresholds that prove the largest ε on these runs."""
    weighed = weigh_features(sample)
    scores = {name: weights.score(sample, name) for name, weights in weighed.items()}
    learned = [
        _learn_thresholds(sample, weighed, scores, _Aim.of(claim, len(sample.sides), by_rho))
        for by_rho in ((False, True) if claim.in_rho else (False,))
    ]
    return max(learned, key=lambda one: one[0])[1]


@dataclass(frozen=True, kw_only=True)
class _Aim:
    """What guesses are to prove, and how many right ones do not count."""

    claim: Claim
    by_rho: bool
    given: int

    @classmethod
    def of(cls, claim: Claim, runs: int, by_rho: bool) -> _Aim:
        given = claim.given_away(runs, GIVEN_DOUBT, by_rho=by_rho) if claim.delta else 0
        return cls(claim=claim, by_rho=by_rho, given=given)

    def proves(self, right: Floats, wrong: Floats, runs: int, caution: float) -> Floats:
        """Return about the bound on ε or ρ: close to the exact bound, and fast."""
        right = np.maximum(right - self.given, 0.5)
        if not self.by_rho:
            feared = (np.sqrt(wrong + 1) + caution / 2 * np.sqrt(1 + wrong / right)) ** 2
            return np.asarray(np.log(right / feared))
        # Deviations of this size are equally unlikely for right and wrong guesses.
        least = np.maximum(np.sqrt(right) - caution / 3, 0) ** 2
        feared = np.minimum((np.sqrt(wrong + 1) + caution / 3) ** 2, runs - least)
        return rho_of(least / runs, feared / runs)

    def epsilon_of(self, proves: float) -> float:
        """The ε at δ that such a bound proves."""
        return self.claim.epsilon_of(proves) if self.by_rho and proves > 0 else proves


def _learn_thresholds(
    sample: Sample, weighed: Mapping[Feature, Weights], scores: Mapping[Feature, Ints], aim: _Aim
) -> tuple[float, Guesser]:
    """Find the features and thresholds that prove most, and how much that is."""
    nothing = np.zeros(len(sample.sides), dtype=np.int64)
    for caution in CAUTIONS:
        choose = partial(_choose_thresholds, sides=sample.sides, caution=caution, aim=aim)
        tried: list[tuple[tuple[float, float, float], Mapping[Feature, Weights]]] = []
        for name in list(weighed)[:SINGLE_FEATURES]:
            tried.append((choose(scores[name]), {name: weighed[name]}))
            # A likelihood ratio needs no bins: they would only blur it.
            plain = Weights()
            tried.append((choose(plain.score(sample, name)), {name: plain}))
        tried.append((choose(sum(scores.values(), nothing)), weighed))
        # Add feature after feature, and keep those that prove more: some repeat the same evidence.
        added, total, best = {}, nothing, choose(nothing)
        for name, one in scores.items():
            more = choose(total + one)
            if more[0] > best[0]:
                added[name], total, best = weighed[name], total + one, more
        tried.append((best, added))
        (proves, low, high), chosen = max(tried, key=lambda one: one[0][0])
        if proves > 0:
            break
    guesser = Guesser(weights=chosen, low=low, high=high, by_rho=aim.by_rho)
    return aim.epsilon_of(proves), guesser


def _choose_thresholds(
    scores: Ints, sides: Sides, caution: float, aim: _Aim
) -> tuple[float, float, float]:
    """Choose the two thresholds that prove most; each may lie outside all scores.

    Returns:
        How much they prove, the lower and the upper threshold.
    """
    distinct, places = np.unique(scores, return_inverse=True)
    larger = np.bincount(places[sides], minlength=len(distinct))
    smaller = np.bincount(places[~sides], minlength=len(distinct))
    # Entry i: the right and wrong guesses of a threshold at the i-th score.
    above = np.cumsum(larger[::-1])[::-1], np.cumsum(smaller[::-1])[::-1]
    below = np.cumsum(smaller), np.cumsum(larger)
    tried = _spaced(above[0] + above[1]), _spaced(below[0] + below[1])
    high_right, high_wrong = (np.append(part[tried[0]], 0) for part in above)
    low_right, low_wrong = (np.append(part[tried[1]], 0) for part in below)
    right = high_right[:, None] + low_right[None, :]
    wrong = high_wrong[:, None] + low_wrong[None, :]
    high = np.append(distinct[tried[0]].astype(float), np.inf)
    low = np.append(distinct[tried[1]].astype(float), -np.inf)
    valid = low[None, :] < high[:, None]
    # Two thresholds that cross would guess some runs twice.
    proves = aim.proves(np.where(valid, right, 0.0), wrong * valid, len(sides), caution)
    proves[~valid] = -np.inf
    i, j = np.unravel_index(int(np.argmax(proves)), proves.shape)
    return float(proves[i, j]), float(low[j]), float(high[i])


def _spaced(sizes: Ints) -> Ints:
    """Choose thresholds whose numbers of guesses are evenly spaced on a logarithmic scale."""
    if len(sizes) <= THRESHOLDS:
        return np.arange(len(sizes))
    logs = np.log(sizes)
    order = np.argsort(logs, kind="stable")
    wanted = np.linspace(logs.min(), logs.max(), THRESHOLDS)
    found = np.searchsorted(logs[order], wanted).clip(max=len(sizes) - 1)
    return np.unique(order[found])


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
    bins = np.searchsorted(np.array(edges), values, side="right")
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
    if significance > 0:
        _merge(larger, smaller, edges)

    def weight(more: int, less: int) -> int:
        # Half a run is added on each side, so that a bin of one log only has a finite weight.
        ratio = math.log((more + 0.5) / (less + 0.5) * (total[1] + 1) / (total[0] + 1))
        return round(ratio * WEIGHT_UNIT)

    weights = tuple(map(weight, larger, smaller))
    return Weights(edges=tuple(edges), bins=weights, absent=weight(*absent)), significance


def _chi_square_quantile(freedom: int, doubt: float) -> float:
    """The chi-square that chance exceeds with this probability."""
    from scipy.special import chdtri

    return float(chdtri(freedom, doubt)) if freedom else math.inf


def _min_runs(sides: Sides, doubt: float) -> int:
    """The least number of runs that a feature needs to be significant, even if all are on one log.

    Most of the thousands of features are rarer and need no weights.
    """
    fewer, more = sorted((int(sides.sum()), int((~sides).sum())))
    least = _chi_square_quantile(1, doubt / 2)

    def enough(runs: int) -> bool:
        return _chi_square(np.array([[runs, fewer - runs], [0.0, more]])) > least

    return bisect_left(range(min(MIN_RUNS, fewer)), True, key=enough)


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
        for place in range(max(i - 1, 0), min(i + 1, len(apart))):
            apart[place] = differ(place)


def _edges(values: Ints, min_runs: int) -> list[float]:
    """Return edges of bins with enough runs each; a frequent value has a bin of its own."""
    distinct, counts = np.unique(values, return_counts=True)
    edges: list[float] = []
    held = 0
    for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        # A frequent value begins a bin even where the one before is not full.
        if held >= min_runs or (held and count >= min_runs):
            edges.append(value)
            held = 0
        held += count
    return edges
