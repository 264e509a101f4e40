"""What is known of noise: its shape, and how large a count must be to stand out from it.

Noise is measured in scales in which its variance is 2, whichever law it has: a scale of Laplace's
is one. Whatever weighs noisy answers works in these scales, and asks the shape only where more than
the variance matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from math import log, pi, sqrt

import numpy as np

from ..kernel.laws import DiscreteGaussian, DiscreteLaplace, Law
from ..kernel.reals import GUARD, WIDE, rounded
from .numerics import Floats

VARIANCE = 2.0
"""The variance of any noise, in squares of its scale."""


@dataclass(frozen=True, kw_only=True)
class NoiseShape:
    """What distinguishes noise of the same variance."""

    log_density: Callable[[Floats], Floats]
    """The logarithm of the density, but for a constant."""
    log_ratio: Callable[[Floats, Floats], Floats]
    """How much likelier an answer is if the cell holds an amount rather than nothing (a logarithm).

    An answer above the amount counts as the amount: the cell may hold more."""
    lowest: float
    """Below this, an answer says no more than this does."""
    mean: float
    """The mean of its absolute value."""
    deviation: float
    """The standard deviation of its absolute value."""
    sure: float
    """Number of standard deviations that contain the noise in 95 of 100 runs."""
    euclidean: bool
    """Whether it hides changes that are bounded in the Euclidean norm."""


LAPLACE = NoiseShape(
    log_density=lambda noise: -np.abs(noise),
    # Linear in between and no more beyond.
    log_ratio=lambda answer, amount: np.clip(2 * answer - amount, -amount, amount),
    lowest=0.0,
    mean=1.0,
    deviation=1.0,
    sure=log(20) / sqrt(2),
    euclidean=False,
)
GAUSSIAN = NoiseShape(
    log_density=lambda noise: -(noise**2) / 4,
    log_ratio=lambda answer, amount: amount * (2 * np.clip(answer, -amount, amount) - amount) / 4,
    # Four standard deviations: hardly any answer about an empty cell is lower.
    lowest=-6.0,
    mean=2 / sqrt(pi),
    deviation=sqrt(2 - 4 / pi),
    sure=1.96,
    euclidean=True,
)


SHAPES: Mapping[type[Law], NoiseShape] = {DiscreteLaplace: LAPLACE, DiscreteGaussian: GAUSSIAN}
"""The shape of each law."""


@lru_cache
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
