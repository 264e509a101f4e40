"""Learn from one half of the runs how to guess on the other.

Every value of an outcome has a weight: what it says for one log against the other. Where noise is
independent, such weights add up. The sum is compared with two cuts: at or above the higher the
guess is the larger log, at or below the lower the smaller one, in between nothing is guessed.

Whatever is learnt here, good or bad, is fixed before it is tested: it decides how much an audit
finds, never whether what it finds is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .sample import Ints, Sample, Sides
from .views import Feature, Features
from .weigh import PLAIN, Weigh, Weights, find_telling, score

CUTS = 160
"""So many cuts are tried on each side."""
CAUTIONS = 5.0, 1.7
"""Cuts are chosen for what they prove if wrong guesses are so many standard deviations more: first
as a refutation asks, and where nothing would be proved, as a bound at 95 % does."""
SINGLE = 20
"""So many values are tried alone."""


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Guesses from the values of an outcome which of two logs it came from."""

    weights: Mapping[Feature, Weigh]
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
    telling = find_telling(sample)
    scores = {name: score(sample, name, weights) for name, weights in telling.items()}
    for caution in CAUTIONS:
        weights, cuts = max(_try(telling, scores, sample, caution), key=lambda one: one[1].proves)
        if cuts.proves > 0:
            break
    return Guesser(weights=weights, low=cuts.low, high=cuts.high)


def _try(
    telling: Mapping[Feature, Weights],
    scores: Mapping[Feature, Ints],
    sample: Sample,
    caution: float,
) -> Iterator[tuple[Mapping[Feature, Weigh], _Cuts]]:
    """Values alone, all together, and those that add something to others."""
    for name, weights in list(telling.items())[:SINGLE]:
        yield {name: weights}, _choose_cuts(scores[name], sample.sides, caution)
        # What someone who knows both logs has weighed needs no bins: they only blur it.
        plain = score(sample, name, PLAIN)
        yield {name: PLAIN}, _choose_cuts(plain, sample.sides, caution)
    yield telling, _choose_cuts(_total(scores.values(), sample), sample.sides, caution)
    names, cuts = _add_up(scores, sample, caution)
    yield {name: telling[name] for name in names}, cuts


def _total(scores: Iterable[Ints], sample: Sample) -> Ints:
    total = np.zeros(len(sample.sides), dtype=np.int64)
    for one in scores:
        total += one
    return total


def _add_up(
    scores: Mapping[Feature, Ints], sample: Sample, caution: float
) -> tuple[list[Feature], _Cuts]:
    """Add value after value, and keep those that prove more: some say the same thing twice."""
    names: list[Feature] = []
    total = _total((), sample)
    best = _choose_cuts(total, sample.sides, caution)
    for name, one in scores.items():
        cuts = _choose_cuts(total + one, sample.sides, caution)
        if cuts.proves > best.proves:
            names.append(name)
            total += one
            best = cuts
    return names, best


@dataclass(frozen=True, kw_only=True)
class _Cuts:
    low: float
    high: float
    proves: float


def _choose_cuts(scores: Ints, sides: Sides, caution: float) -> _Cuts:
    """Choose the two cuts that prove most; each may lie outside all scores."""
    distinct, places = np.unique(scores, return_inverse=True)
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
    feared = (np.sqrt(wrong + 1) + caution / 2 * np.sqrt(1 + wrong / right)) ** 2
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
