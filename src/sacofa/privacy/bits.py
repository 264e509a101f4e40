"""Where random bits come from: the operating system, or a seed for tests and teaching."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class Bits(Protocol):
    """A source of independent, uniform 64-bit words."""

    @property
    def reproducible(self) -> bool:
        """Whether someone who knows a seed can repeat the words: nothing drawn so is private."""

    def words(self, size: int) -> Words:
        """The next words."""


@dataclass(frozen=True)
class SystemBits:
    """The operating system's randomness."""

    reproducible: bool = field(default=False, init=False)

    def words(self, size: int) -> Words:
        """The next words."""
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)


class SeededBits:
    """Words that a seed determines: the same on every run and every machine."""

    reproducible = True

    def __init__(self, seed: int) -> None:
        self._source = np.random.Philox(seed)

    def words(self, size: int) -> Words:
        """The next words."""
        return np.asarray(self._source.random_raw(size), dtype=np.uint64)
