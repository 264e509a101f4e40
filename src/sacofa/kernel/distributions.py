"""The distributions of the noise on a cell, as public values.

Post-processing reads how large the noise of an answer is from here, whichever distribution it has.
Module `noise` samples from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, isqrt, sqrt
from typing import Protocol

ROOT_DIGITS = 10**12
"""Square roots are rounded down to a multiple of one part in so many."""


class NoiseDistribution(Protocol):
    """Integer noise, symmetric around 0, on every cell of an answer."""

    @property
    def variance(self) -> float:
        """The variance of the noise on one cell."""

    @property
    def inverse_scale(self) -> Fraction:
        """1/b, for the scale b of Laplace noise that has this variance: b = √(variance/2)."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise of scale 1/ε: P(X = x) ∝ exp(−ε · |x|)."""

    epsilon: Fraction
    """The ε of a query of sensitivity 1 that is answered with this noise."""

    @property
    def variance(self) -> float:
        """2q/(1 − q)² for q = exp(−ε); 0.0 if ε is so large that no float is small enough."""
        epsilon = float(self.epsilon)
        return 2 * exp(-epsilon) / expm1(-epsilon) ** 2

    @property
    def inverse_scale(self) -> Fraction:
        """ε itself, exactly."""
        return self.epsilon


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise: P(X = x) ∝ exp(−x² / (2σ²))."""

    sigma_squared: Fraction
    """σ², which bounds the variance from above and equals it in practice from σ = 1 on."""

    @property
    def variance(self) -> float:
        """σ²."""
        return float(self.sigma_squared)

    @property
    def inverse_scale(self) -> Fraction:
        """√(2/σ²), rounded down to a fraction of ROOT_DIGITS parts."""
        inverse = 2 / self.sigma_squared
        scaled = inverse.numerator * ROOT_DIGITS**2 // inverse.denominator
        return Fraction(max(isqrt(scaled), 1), ROOT_DIGITS)


def deviation(noise: NoiseDistribution) -> float:
    """The standard deviation of the noise on one cell."""
    return sqrt(noise.variance)
