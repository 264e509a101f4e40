"""The distributions of noise as values: variances and scales."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import pytest

from sacofa.kernel.distributions import DiscreteGaussian, DiscreteLaplace, deviation


@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(9)])
def test_the_variance_of_laplace_noise_is_its_second_moment(epsilon: Fraction) -> None:
    """Summed up term by term, as far as floats can tell."""
    weights = [exp(-float(epsilon) * x) for x in range(int(40 / epsilon) + 2)]
    total = 2 * sum(weights) - 1
    second = 2 * sum(x * x * w for x, w in enumerate(weights)) / total
    noise = DiscreteLaplace(epsilon)
    assert noise.variance == pytest.approx(second, rel=1e-9)
    assert deviation(noise) == pytest.approx(sqrt(second), rel=1e-9)
    assert noise.inverse_scale == epsilon


def test_a_scale_is_that_of_laplace_noise_with_the_same_variance() -> None:
    """For wide noise, where the discrete and the continuous distribution agree."""
    gaussian = DiscreteGaussian(Fraction(30_000_001, 7))
    laplace = DiscreteLaplace(gaussian.inverse_scale)
    assert laplace.variance == pytest.approx(gaussian.variance, rel=1e-6)
    assert gaussian.inverse_scale**2 <= 2 / gaussian.sigma_squared


def test_even_extreme_noise_has_a_scale() -> None:
    """A scale of 0 or infinity would break whoever divides by it."""
    assert DiscreteGaussian(Fraction(10**40)).inverse_scale > 0
    assert DiscreteLaplace(Fraction(1_000)).variance == 0.0
    assert DiscreteGaussian(Fraction(1, 10**9)).inverse_scale > 1_000
