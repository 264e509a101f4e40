"""Random bits: of the operating system, of a seed for tests, or of a key drawn from either."""

from __future__ import annotations

import hashlib
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
        """Whether a known seed determines the words: noise from them protects nothing."""

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


class KeyedBits:
    """Words that SHAKE-256 derives from a secret key, so that repeated tasks draw the same ones."""

    SIZE = 4
    """Number of words of a key: 256 bits."""

    def __init__(self, key: Words, *, reproducible: bool) -> None:
        """Take a key of SIZE words; `reproducible` as the source that it was drawn from."""
        if len(key) != self.SIZE:
            raise ValueError(f"a key has {self.SIZE} words, not {len(key)}")
        self.reproducible = reproducible
        self._key = np.asarray(key, dtype="<u8").tobytes()
        self._asked = 0

    def words(self, size: int) -> Words:
        """The next words."""
        block = hashlib.shake_256(self._key + self._asked.to_bytes(8, "little"))
        self._asked += 1
        return np.frombuffer(block.digest(8 * size), dtype="<u8").astype(np.uint64, copy=False)
