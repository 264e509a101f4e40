"""Parsing of ε and δ, exactly: 0.1 is one tenth."""

from __future__ import annotations

from fractions import Fraction

from ..errors import SettingError, Statement

Epsilon = Fraction | float | str
"""The types accepted for ε: `Fraction(1, 3)`, `0.1`, `1`, `"1/3"`."""

LARGEST_TERM = 10**12
LONGEST_EXPONENT = 4
"""The exact value of 1e999999999 would exhaust the memory."""
LARGEST_EPSILON = 1_000
"""A larger ε guarantees nothing: in practice the noise is always 0."""
LARGEST_DELTA = Fraction(1, 1_000)
"""A mechanism that publishes each case with probability 1/1,000 has this δ."""


def parse_epsilon(
    name: str,
    value: Epsilon,
    largest: int | Fraction | None = LARGEST_EPSILON,
    *,
    may_be_zero: bool = False,
) -> Fraction:
    """Convert a positive number to the exact decimal or fraction that was written."""
    try:
        if isinstance(value, bool):
            raise TypeError
        text = str(value) if isinstance(value, float) else value
        if isinstance(text, str) and len(text.lower().partition("e")[2]) > LONGEST_EXPONENT:
            raise ValueError(text)
        number = Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise SettingError(name, value, Statement("must.be.positive")) from None
    if number < 0 or not (number or may_be_zero):
        raise SettingError(name, value, Statement("must.be.above", bound=0))
    if max(number.numerator, number.denominator) > LARGEST_TERM:
        raise SettingError(name, value, Statement("must.be.fraction_up_to", most=LARGEST_TERM))
    if largest is not None and number > largest:
        raise SettingError(name, value, Statement("must.be.at_most", most=largest))
    return number
