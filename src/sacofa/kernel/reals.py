"""Real numbers to any precision: the probabilities that noise is drawn with.

A `Real` is a function from a number of significant digits to a decimal that is right to them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial

Real = Callable[[int], Decimal]

GUARD = 12
"""Additional digits of intermediate results."""
WIDE = Context(Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Holds astronomically large and small numbers; `localcontext` works with a copy."""


def rounded(number: int, digits: int) -> Decimal:
    """A whole number as a decimal that is right to this number of digits."""
    # Python refuses to write a number of more than 4,300 digits: its leading bits are enough.
    extra = max(number.bit_length() - 4 * (digits + GUARD), 0)
    with localcontext(WIDE, prec=digits + GUARD):
        return Decimal(number >> extra) * Decimal(2) ** extra


def minus_log(probability: Decimal, digits: int) -> Decimal:
    """−ln(1 − p), right to this number of significant digits, however small p is."""
    # 1 − p itself would need as many more digits as p has zeros: thousands, for one sequence.
    with localcontext(WIDE, prec=digits + GUARD):
        if probability > Decimal("0.001"):
            # A few digits are lost to the difference.
            with localcontext(WIDE, prec=digits + 4 + GUARD):
                return -(1 - probability).ln()
        # p + p²/2 + p³/3 + …
        total = term = probability
        place = 1
        while term > total.scaleb(-digits - GUARD):
            place += 1
            term *= probability
            total += term / place
        return total


# A mechanism asks the same again and again.
@lru_cache(maxsize=1024)
def none_of(trials: int, probability: Decimal, digits: int) -> Decimal:
    """(1 − p)^trials: the probability that no trial succeeds."""
    with localcontext(WIDE, prec=digits + GUARD):
        return (-minus_log(probability, digits) * rounded(trials, digits)).exp()


# Kept by whole numbers: those of a fraction hash much faster than the fraction.
@lru_cache(maxsize=4096)
def _power(above: int, below: int, digits: int) -> Decimal:
    # The relative error of exp(x) is the absolute error of x.
    with localcontext(WIDE, prec=digits + len(str(above // below)) + GUARD):
        return (-Decimal(above) / Decimal(below)).exp()


@lru_cache(maxsize=4096)
def _tail(above: int, below: int, threshold: int, digits: int) -> Decimal:
    with localcontext(WIDE, prec=digits + GUARD):
        ratio = _power(above, below, digits)
        if threshold >= 1:
            return _power(above * threshold, below, digits) / (1 + ratio)
        return 1 - _power(above * (1 - threshold), below, digits) / (1 + ratio)


def power(epsilon: Fraction) -> Real:
    """exp(−epsilon)."""
    return partial(_power, epsilon.numerator, epsilon.denominator)


def tail(epsilon: Fraction, threshold: int) -> Real:
    """P(noise ≥ threshold) for discrete Laplace noise of scale 1/epsilon."""
    return partial(_tail, epsilon.numerator, epsilon.denominator, threshold)
