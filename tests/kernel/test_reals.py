"""Real numbers to any precision: compared with SciPy, and with far more digits than asked for."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.reals import GUARD, WIDE, minus_log, rounded, tail
from sacofa.synthesis.thresholds import smallest_threshold

EPSILONS = [Fraction(e) for e in ("1", "1/3", "1/7", "1/10", "1/100", "3", "7/2", "2/3", "10")]


def test_tails_are_those_of_the_distribution() -> None:
    """P(noise ≥ p) agrees with SciPy on both sides of zero."""
    for epsilon in EPSILONS:
        for p in (-5, -1, 0, 1, 2, 9):
            exact = float(tail(epsilon, p)(25))
            assert exact == pytest.approx(stats.dlaplace.sf(p - 1, float(epsilon)), rel=1e-9)


def test_smallest_threshold_is_the_smallest() -> None:
    """One less would let more through than is allowed."""
    for epsilon in EPSILONS:
        for cells in (1, 100, 10**30):
            p = smallest_threshold(DiscreteLaplace(epsilon), cells, Fraction(3, 2))
            assert cells * tail(epsilon, p)(30) <= Decimal("1.5")
            assert p == 1 or cells * tail(epsilon, p - 1)(30) > Decimal("1.5")


@settings(deadline=None)
@given(st.integers(0, 10**60), st.integers(0, 20_000), st.integers(5, 60))
def test_whole_numbers_of_any_size_are_right_to_the_digits_asked_for(
    factor: int, power: int, digits: int
) -> None:
    """Also those that Python refuses to write: they have more than 4,300 digits."""
    number = factor << power
    with localcontext(WIDE, prec=20_100 + GUARD):
        apart = abs(rounded(number, digits) - Decimal(number))
        assert apart <= Decimal(number) * Decimal(10) ** -digits


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 10**30 - 1), st.integers(30, 500), st.integers(5, 60))
def test_logarithms_near_one_keep_their_digits(above: int, zeros: int, digits: int) -> None:
    """−ln(1 − p) is right to the digits asked for, however small p is."""
    with localcontext(WIDE, prec=2 * zeros + digits + GUARD):
        p = Decimal(above).scaleb(-zeros)
        exact = -(1 - p).ln()
        assert abs(minus_log(p, digits) - exact) <= exact * Decimal(10) ** -digits
