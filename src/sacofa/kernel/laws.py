"""The two distributions of noise on a cell, and their properties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, expm1, isqrt

from .reals import GUARD, WIDE, Real, power, tail


class Law(ABC):
    """A distribution of noise on the integers."""

    epsilon: Fraction
    """The ε of discrete Laplace noise of (about) the same variance."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance; 0.0 if no float is small enough."""

    @abstractmethod
    def tail(self, threshold: int) -> Real:
        """P(X ≥ threshold) for a positive threshold, or an upper bound on it."""

    def threshold(self, chance: Fraction) -> int:
        """The smallest number whose `tail` is at most a probability."""
        with localcontext(WIDE, prec=30 + GUARD):
            most = Decimal(chance.numerator) / chance.denominator
            low, high = 1, 2
            while self.tail(high)(30) > most:
                low, high = high + 1, 2 * high
            while low < high:
                middle = (low + high) // 2
                enough = self.tail(middle)(30) <= most
                low, high = (low, middle) if enough else (middle + 1, high)
        return high


@dataclass(frozen=True)
class DiscreteLaplace(Law):
    """P(X = x) ∝ exp(−ε · |x|): hides a change of 1 with ε."""

    epsilon: Fraction

    @property
    def variance(self) -> float:
        """2q/(1 − q)² for q = exp(−ε)."""
        epsilon = float(self.epsilon)
        return 2 * exp(-epsilon) / expm1(-epsilon) ** 2

    def tail(self, threshold: int) -> Real:
        """P(X ≥ threshold)."""
        return tail(self.epsilon, threshold)


@dataclass(frozen=True)
class DiscreteGaussian(Law):
    """P(X = x) ∝ exp(−x² / (2σ²)): hides a change of 1 with ρ = 1/(2σ²) (Canonne et al., 2020)."""

    sigma_squared: Fraction

    @property
    def epsilon(self) -> Fraction:  # type: ignore[override]
        """√2/σ, to a hundred bits: only post-processing uses it, to weigh answers."""
        above, below = 2 * self.sigma_squared.denominator, self.sigma_squared.numerator
        return Fraction(isqrt((above << 200) // below), 1 << 100)

    @property
    def variance(self) -> float:
        """σ², which exceeds the variance if σ is below 1, and is exact to 10⁻⁷ above."""
        return float(self.sigma_squared)

    def tail(self, threshold: int) -> Real:
        """exp(−(threshold − 1)²/(2σ²)) / 2: by Proposition 25 of the paper, P(N(0, σ²) ≥ t − 1)."""
        bound = power((threshold - 1) ** 2 / (2 * self.sigma_squared))
        return lambda digits: bound(digits) / 2
