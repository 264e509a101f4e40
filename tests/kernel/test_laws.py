"""The distributions of noise as values: variances and scales."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from sacofa.kernel.laws import DiscreteLaplace


@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(9)])
def test_the_variance_of_laplace_noise_is_its_second_moment(epsilon: Fraction) -> None:
    """Summed up term by term, as far as floats can tell."""
    weights = [exp(-float(epsilon) * x) for x in range(int(40 / epsilon) + 2)]
    total = 2 * sum(weights) - 1
    second = 2 * sum(x * x * w for x, w in enumerate(weights)) / total
    noise = DiscreteLaplace(epsilon)
    assert noise.variance == pytest.approx(second, rel=1e-9)


def test_even_extreme_noise_has_a_variance() -> None:
    """An error here would end a release."""
    assert DiscreteLaplace(Fraction(1_000)).variance == 0.0
