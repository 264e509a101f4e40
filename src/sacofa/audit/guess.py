"""Attacks that learn from one half of the runs how to guess on the other half.

Every value of an outcome has a weight, its evidence for one log against the other. For independent
noise such weights add up. The sum is compared with two thresholds: at or above the upper one the
guess is the larger log, at or below the lower one the smaller log, in between the attack passes.

An attack is fixed before it is tested. Its quality decides how much an audit finds, never whether
the finding is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .views import Feature, Features
from .weights import VALUE_AS_WEIGHT, Ints, Sample, Sides, Weigh, Weights, weigh_features

THRESHOLDS = 160
"""Number of thresholds that are tried on each side."""
CAUTIONS = 5.0, 1.7
"""Thresholds are chosen for the ε that they prove if wrong guesses are this many standard
deviations more frequent: first as a refutation requires, and if nothing would be proved, as a bound
at 95 % does."""
SINGLE_FEATURES = 20
"""Number of the most significant features that are tried alone."""


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Guesses from the features of an outcome which of two logs it came from.

    Attributes:
        weights: Weights of the features that count.
        low: At or below this sum of weights the guess is the smaller log.
        high: At or above this sum of weights the guess is the larger log.
    """

    weights: Mapping[Feature, Weigh]
    low: float
    high: float

    def guess(self, features: Features) -> bool | None:
        """Return whether it was the larger log; None to pass."""
        total = sum(weights.of(features.get(name)) for name, weights in self.weights.items())
        if total >= self.high:
            return True
        return False if total <= self.low else None


def learn_guesser(sample: Sample) -> Guesser:
    """Find the features, weights and thresholds that prove the largest ε on these runs."""
    weighed = weigh_features(sample)
    scores = {name: weights.score(sample, name) for name, weights in weighed.items()}
    for caution in CAUTIONS:
        weights, thresholds = max(
            _try(weighed, scores, sample, caution), key=lambda one: one[1].proves
        )
        if thresholds.proves > 0:
            break
    return Guesser(weights=weights, low=thresholds.low, high=thresholds.high)


def _try(
    weighed: Mapping[Feature, Weights],
    scores: Mapping[Feature, Ints],
    sample: Sample,
    caution: float,
) -> Iterator[tuple[Mapping[Feature, Weigh], _Thresholds]]:
    """Try features alone, all together, and those that add evidence to others."""
    for name, weights in list(weighed.items())[:SINGLE_FEATURES]:
        yield {name: weights}, _choose_thresholds(scores[name], sample.sides, caution)
        # A likelihood ratio needs no bins: they would only blur it.
        plain = VALUE_AS_WEIGHT.score(sample, name)
        yield {name: VALUE_AS_WEIGHT}, _choose_thresholds(plain, sample.sides, caution)
    yield weighed, _choose_thresholds(_total(scores.values(), sample), sample.sides, caution)
    names, thresholds = _add_up(scores, sample, caution)
    yield {name: weighed[name] for name in names}, thresholds


def _total(scores: Iterable[Ints], sample: Sample) -> Ints:
    total = np.zeros(len(sample.sides), dtype=np.int64)
    for one in scores:
        total += one
    return total


def _add_up(
    scores: Mapping[Feature, Ints], sample: Sample, caution: float
) -> tuple[list[Feature], _Thresholds]:
    """Add feature after feature, and keep those that prove more: some repeat the same evidence."""
    names: list[Feature] = []
    total = _total((), sample)
    best = _choose_thresholds(total, sample.sides, caution)
    for name, one in scores.items():
        thresholds = _choose_thresholds(total + one, sample.sides, caution)
        if thresholds.proves > best.proves:
            names.append(name)
            total += one
            best = thresholds
    return names, best


@dataclass(frozen=True, kw_only=True)
class _Thresholds:
    low: float
    high: float
    proves: float


def _choose_thresholds(scores: Ints, sides: Sides, caution: float) -> _Thresholds:
    """Choose the two thresholds that prove most; each may lie outside all scores."""
    distinct, places = np.unique(scores, return_inverse=True)
    larger = np.bincount(places[sides], minlength=len(distinct))
    smaller = np.bincount(places[~sides], minlength=len(distinct))
    # Entry i: the right and wrong guesses of a threshold at the i-th score.
    above = np.cumsum(larger[::-1])[::-1], np.cumsum(smaller[::-1])[::-1]
    below = np.cumsum(smaller), np.cumsum(larger)
    tried = _spaced(above[0] + above[1]), _spaced(below[0] + below[1])
    high_right, high_wrong = (np.append(part[tried[0]], 0) for part in above)
    low_right, low_wrong = (np.append(part[tried[1]], 0) for part in below)
    right = np.maximum(high_right[:, None] + low_right[None, :], 0.5)
    wrong = high_wrong[:, None] + low_wrong[None, :]
    # An upper bound on the wrong guesses: close to the exact bound, and fast.
    feared = (np.sqrt(wrong + 1) + caution / 2 * np.sqrt(1 + wrong / right)) ** 2
    proves = np.log(right / feared)
    high = np.append(distinct[tried[0]].astype(float), np.inf)
    low = np.append(distinct[tried[1]].astype(float), -np.inf)
    proves[low[None, :] >= high[:, None]] = -np.inf
    i, j = np.unravel_index(int(np.argmax(proves)), proves.shape)
    return _Thresholds(low=float(low[j]), high=float(high[i]), proves=float(proves[i, j]))


def _spaced(sizes: Ints) -> Ints:
    """Choose thresholds whose numbers of guesses are evenly spaced on a logarithmic scale."""
    if len(sizes) <= THRESHOLDS:
        return np.arange(len(sizes))
    logs = np.log(sizes)
    order = np.argsort(logs, kind="stable")
    wanted = np.linspace(logs.min(), logs.max(), THRESHOLDS)
    found = np.searchsorted(logs[order], wanted).clip(max=len(sizes) - 1)
    return np.unique(order[found])
