"""Uniform whole numbers for what is made of noisy values; they never meet a count."""

from __future__ import annotations

from bisect import bisect_right
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

WIDTH = 62
"""The bits of a drawn number."""
FRACTION = 53
"""The bits of a floating-point number that lie below its exponent."""
FIRST, MOST = 64, 4096
"""How many are drawn together, at first and at most."""

Option = TypeVar("Option")


class UniformSource(Protocol):
    """Draws uniform whole numbers in bulk, as `kernel.noise.Noise` does."""

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        """Draw whole numbers from 0 to bound − 1."""


class UniformSampler:
    """Draws uniform whole numbers, in bulk, hence fast."""

    def __init__(self, noise: UniformSource) -> None:
        self._noise = noise
        self._bulk = FIRST
        self._numbers: list[int] = []

    def below(self, bound: int) -> int:
        """A number from 0 to bound − 1."""
        try:
            number = self._numbers.pop()
        except IndexError:
            number = self._refill()
        # The scaled number is uniform but for 2^-62 times the bound: no count depends on it.
        return (number * bound) >> WIDTH

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Numbers from 0 to 1."""
        result: NDArray[np.float64] = self._noise.below(1 << FRACTION, size) / float(1 << FRACTION)
        return result

    def _refill(self) -> int:
        # Small runs need few, large ones many.
        self._numbers = self._noise.below(1 << WIDTH, self._bulk).tolist()
        self._bulk = min(2 * self._bulk, MOST)
        return self._numbers.pop()

    def pick(self, choices: tuple[list[Option], list[int]]) -> Option:
        """One of the choices, by weight."""
        options, sums = choices
        return options[bisect_right(sums, self.below(sums[-1]))]
