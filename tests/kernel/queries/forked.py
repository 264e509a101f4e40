"""Every way that a run can go, each with its exact probability.

Where production code draws, the run forks: it is repeated once for every value that matters, and
the probabilities of all forks on the way are multiplied. What is added up over all ways with one
outcome is the probability of that outcome, on the production code itself, without sampling.

Ways that are less likely than a bound are not followed to their end. They are added up too: what is
lost is known, and nothing is claimed that it could change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log

import numpy as np
from scipy import stats

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.protocol import Ints
from sacofa.kernel.reals import Real

REACH = 7
"""Noise beyond is taken for this much: outcomes are compared up to a smaller value only."""
NO_BITS = SeededBits(0)
"""Nothing is drawn from it."""


class LostError(Exception):
    """A way that is too unlikely to be followed."""


class ForkedNoise(Noise):
    """Noise that takes a given way, and remembers where it could have gone otherwise."""

    def __init__(self, way: list[int], least: float) -> None:
        super().__init__(NO_BITS)
        self._way, self._least = way, least
        self.probability = 1.0
        self.taken: list[int] = []
        self.others: list[list[int]] = []

    def _fork(self, chances: list[float]) -> int:
        """Go one of several ways; those that are impossible are none."""
        place = len(self.taken)
        if place < len(self._way):
            choice = self._way[place]
        else:
            likely = [i for i, p in enumerate(chances) if self.probability * p >= self._least]
            if not likely:
                raise LostError
            choice, *others = likely
            self.others += [[*self.taken, i] for i in others]
        self.taken.append(choice)
        self.probability *= chances[choice]
        return choice

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Discrete Laplace noise on each cell, all cells at once."""
        chances = _laplace(epsilon)
        return np.array([self._fork(chances) - REACH for _ in range(size)], dtype=np.int64)

    def gaussian(self, sigma_squared: Fraction, size: int) -> Ints:
        """Discrete Gaussian noise on each cell, as far out as it matters."""
        chances = _gaussian(sigma_squared)
        reach = len(chances) // 2
        return np.array([self._fork(chances) - reach for _ in range(size)], dtype=np.int64)

    def geometric(self, epsilon: Fraction, size: int) -> Ints:
        """P(X ≥ x) = exp(−epsilon · x)."""
        chances = _geometric(epsilon)
        return np.array([self._fork(chances) for _ in range(size)], dtype=np.int64)

    def binomial(self, trials: int, probability: Real) -> int:
        """The number of successes."""
        return self._fork(_binomial(trials, float(probability(30))))

    def happens(self, probability: Real) -> bool:
        """One coin."""
        p = float(probability(30))
        return bool(self._fork([1 - p, p]))

    def integer(self, bound: int) -> int:
        """A uniform number."""
        return self._fork([1 / bound] * bound)


@lru_cache
def _laplace(epsilon: Fraction) -> list[float]:
    """The chances of −REACH or less, … , REACH or more."""
    rate = float(epsilon)
    inner = [float(stats.dlaplace.pmf(x, rate)) for x in range(1 - REACH, REACH)]
    beyond = float(stats.dlaplace.sf(REACH - 1, rate))
    return [beyond, *inner, beyond]


@lru_cache
def _gaussian(sigma_squared: Fraction) -> list[float]:
    """Seven deviations on each side."""
    reach = int(7 * float(sigma_squared) ** 0.5) + 1
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(sigma_squared)))
    return list((weights / weights.sum()).tolist())


@lru_cache
def _geometric(epsilon: Fraction) -> list[float]:
    rate, most = float(epsilon), int(14 / float(epsilon))
    return [exp(-rate * x) * (1 - exp(-rate)) for x in range(most)] + [exp(-rate * most)]


@lru_cache
def _binomial(trials: int, chance: float) -> list[float]:
    return [float(stats.binom.pmf(x, trials, chance)) for x in range(trials + 1)]


@dataclass(frozen=True)
class Chances:
    """The probability of every outcome, each too low by at most what was lost."""

    outcomes: dict[Hashable, float]
    lost: float


def chances_of(run: Callable[[Noise], Hashable], least: float = 1e-7) -> Chances:
    """Follow every way of a run that is likelier than a bound."""
    outcomes: defaultdict[Hashable, float] = defaultdict(float)
    ways: list[list[int]] = [[]]
    while ways:
        noise = ForkedNoise(ways.pop(), least)
        try:
            outcome = run(noise)
        except LostError:
            pass
        else:
            outcomes[outcome] += noise.probability
        ways += noise.others
    return Chances(dict(outcomes), max(1 - sum(outcomes.values()), 0.0))


def largest_log_ratio(one: Chances, other: Chances) -> float:
    """The logarithm of how much likelier some outcome surely is with one than with the other.

    Whatever the lost ways lead to, they make the outcome likelier by no more than all of them are.
    """
    return max(
        log(chance / max(b.outcomes.get(outcome, 0.0) + b.lost, 1e-300))
        for a, b in ((one, other), (other, one))
        for outcome, chance in a.outcomes.items()
    )


def hockey_stick(one: Chances, other: Chances, epsilon: float) -> float:
    """The largest max P(S) − e^ε Q(S) over all sets of outcomes, in either direction."""
    return max(
        a.lost
        + sum(
            max(chance - exp(epsilon) * b.outcomes.get(outcome, 0.0), 0)
            for outcome, chance in a.outcomes.items()
        )
        for a, b in ((one, other), (other, one))
    )
