"""Discrete Gaussian noise: exact draws, compared with values to 200 digits and with wrong ones."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.kernel import noise as noise_module
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.laws import DiscreteGaussian, DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.reals import WIDE
from tests.chances import FITS, REJECTED, fit

SQUARES = [Fraction(s) for s in ("1/10", "1/2", "1", "7/3", "20", "400", "12345/7")]
DRAWS = 300_000


def chances(sigma_squared: Fraction, reach: int) -> list[Decimal]:
    """P(X = x) for x = 0 … reach, to 200 digits."""
    with localcontext(WIDE, prec=220):
        scale = Decimal(sigma_squared.denominator) / (2 * sigma_squared.numerator)
        far = int(sqrt(1000 * float(sigma_squared))) + 40
        weights = [(-scale * x * x).exp() for x in range(far)]
        total = 2 * sum(weights) - 1
        return [weight / total for weight in weights[: reach + 1]]


def gaussian_fit(values: np.ndarray, sigma_squared: Fraction) -> float:
    """The p-value of draws; wide scales are looked at in steps."""
    deviation = float(sigma_squared) ** 0.5
    step = max(1, int(deviation / 8))
    reach = int(5 * deviation / step) + 3
    exact = [float(chance) for chance in chances(sigma_squared, (reach + 2) * step)]
    return fit(
        values // step,
        lambda cell: sum(exact[abs(cell * step + i)] for i in range(step)),
        -reach,
        reach,
    )


@pytest.mark.parametrize("sigma_squared", SQUARES, ids=str)
def test_gaussian_noise_fits_its_distribution(sigma_squared: Fraction) -> None:
    """Draws fit P(x) ∝ exp(−x²/2σ²), whose constant is computed to 200 digits."""
    values = Noise(SeededBits(2)).gaussian(sigma_squared, DRAWS)
    assert gaussian_fit(values, sigma_squared) > FITS


@pytest.mark.parametrize("sigma_squared", SQUARES, ids=str)
@pytest.mark.parametrize("factor", [Fraction(19, 20), Fraction(21, 20)])
def test_the_fit_rejects_a_wrong_sigma(sigma_squared: Fraction, factor: Fraction) -> None:
    """σ² that is 5 % off is noticed, and so is Laplace noise of the same variance."""
    values = Noise(SeededBits(3)).gaussian(sigma_squared * factor, DRAWS)
    assert gaussian_fit(values, sigma_squared) < REJECTED
    laplace = Noise(SeededBits(3)).laplace(DiscreteGaussian(sigma_squared).epsilon, DRAWS)
    assert gaussian_fit(laplace, sigma_squared) < REJECTED


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 50), 10**9, max_denominator=50),
    st.integers(0, 10**6),
    st.integers(0, 2**64 - 1),
)
def test_floats_decide_as_exact_numbers_do(sigma_squared: Fraction, part: int, word: int) -> None:
    """Every proposal within ten deviations is decided by the exact rule, for any first word."""
    noise, scale = Noise(SeededBits(4)), int(sqrt(sigma_squared)) + 1
    proposed = int(part * 10 * sqrt(sigma_squared)) // 10**6
    exponent = (proposed - sigma_squared / scale) ** 2 / (2 * sigma_squared)
    with localcontext(WIDE, prec=60):
        chance = (-Decimal(exponent.numerator) / exponent.denominator).exp()
        if abs(chance * 2**64 - word) > 4:
            exact = noise._accepts(proposed, sigma_squared, scale, word)
            assert exact == (word < chance * 2**64)
    assert abs(exp(-float(exponent)) - float(chance)) < noise_module.CLOSE / 100


def test_everything_can_be_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any trust in floats the draws are the same ones."""
    quick = [Noise(SeededBits(5)).gaussian(s, 300).tolist() for s in SQUARES]
    monkeypatch.setattr(noise_module, "CLOSE", 2.0)
    assert [Noise(SeededBits(5)).gaussian(s, 300).tolist() for s in SQUARES] == quick


@pytest.mark.parametrize("sigma_squared", [*SQUARES, Fraction(1, 300), Fraction(10**24)], ids=str)
def test_a_law_knows_its_moments(sigma_squared: Fraction) -> None:
    """Variance, deviation and the ε of Laplace noise of this variance; extremes are no errors."""
    law = DiscreteGaussian(sigma_squared)
    if sigma_squared < 10**4:
        exact = chances(sigma_squared, int(12 * sqrt(sigma_squared)) + 3)
        second = float(2 * sum(x * x * chance for x, chance in enumerate(exact)))
        assert law.variance * (1 + 1e-9) >= second
        assert sigma_squared < 1 or law.variance == pytest.approx(second, rel=1e-6)
    assert float(law.epsilon) == pytest.approx(sqrt(2 / sigma_squared))


@pytest.mark.parametrize("chance", [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**12)])
@pytest.mark.parametrize("sigma_squared", SQUARES, ids=str)
def test_a_threshold_is_reached_as_rarely_as_it_says(
    sigma_squared: Fraction, chance: Fraction
) -> None:
    """P(X ≥ threshold) is at most the chance, and the threshold is hardly too high."""
    threshold = DiscreteGaussian(sigma_squared).threshold(chance)
    exact = chances(sigma_squared, threshold + int(12 * sqrt(sigma_squared)) + 3)
    assert sum(exact[threshold:]) <= chance
    close = threshold - 3 - int(sqrt(sigma_squared) * sqrt(2 * pi))
    assert close <= 0 or sum(exact[close:]) > chance


def test_a_threshold_of_laplace_noise_is_the_smallest() -> None:
    """P(X ≥ t) = e^(−εt)/(1 + e^(−ε))·… is known exactly."""
    law = DiscreteLaplace(Fraction(1, 3))
    threshold = law.threshold(Fraction(1, 100))
    assert law.tail(threshold)(30) <= Decimal("0.01") < law.tail(threshold - 1)(30)
