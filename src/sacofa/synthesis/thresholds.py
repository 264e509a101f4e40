"""The noise threshold: how large a count must be to stand out among many empty cells."""

from __future__ import annotations

from decimal import localcontext
from fractions import Fraction
from functools import lru_cache

from ..kernel.laws import Law
from ..kernel.reals import GUARD, WIDE, rounded


@lru_cache(maxsize=4096)
def smallest_threshold(law: Law, cells: int, expected: Fraction) -> int:
    """The smallest threshold (1 or more) that at most `expected` of `cells` empty cells reach."""
    digits = 30
    number = rounded(cells, digits)

    def enough(threshold: int) -> bool:
        with localcontext(WIDE, prec=digits + GUARD):
            return number * law.tail(threshold)(digits) * expected.denominator <= (
                expected.numerator
            )

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
