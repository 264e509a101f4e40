"""Bits: a seed repeats, the system does not, a key determines."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from sacofa.kernel.bits import KeyedBits, SeededBits, SystemBits
from sacofa.kernel.noise import Noise
from tests.chances import FITS, fit

GOLDEN = [2, -1, 4, -12, 10, -1, -5, -2]


def test_a_seed_repeats_and_the_system_does_not() -> None:
    """The same seed gives the same noise through the same code; the system never repeats."""
    a, b = (Noise(SeededBits(1)).laplace(Fraction(1, 50), 100).tolist() for _ in range(2))
    assert a == b
    c, d = (Noise(SystemBits()).laplace(Fraction(1, 50), 100).tolist() for _ in range(2))
    assert c != d
    assert Noise().bits.reproducible is False
    assert SeededBits(1).reproducible is True


def test_system_words_are_the_bytes_of_the_operating_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each word is eight bytes that the system gave for it: none comes from elsewhere."""
    given: list[bytes] = []
    urandom = os.urandom

    def watched(size: int) -> bytes:
        given.append(urandom(size))
        return given[-1]

    monkeypatch.setattr(os, "urandom", watched)
    bits = SystemBits()
    words = [bits.words(size) for size in (1, 5, 1_000)]
    assert [len(part) for part in given] == [8, 40, 8_000]
    assert b"".join(part.tobytes() for part in words) == b"".join(given)
    # Words that repeat would let noise be searched; of 1,006 true ones two agree with
    # probability 3e-14.
    assert len(set(np.concatenate(words).tolist())) == 1_006


def test_seeded_words_never_change() -> None:
    """A golden value: releases made from a seed can be repeated by later versions."""
    assert Noise(SeededBits(2021)).laplace(Fraction(1, 10), 8).tolist() == GOLDEN


def test_a_key_determines_uniform_words() -> None:
    """One key, the same words; another, others; and bits that are fair."""
    key, other = Noise(SeededBits(1)).bits.words(4), Noise(SeededBits(2)).bits.words(4)
    first, again = (KeyedBits(key, reproducible=True) for _ in range(2))
    words = np.concatenate([first.words(3), first.words(20_000)])
    assert np.array_equal(words, np.concatenate([again.words(3), again.words(20_000)]))
    assert len(set(words.tolist())) == len(words)
    assert not set(words.tolist()) & set(KeyedBits(other, reproducible=True).words(20_003).tolist())
    bits = np.unpackbits(words.view(np.uint8))
    assert fit(bits, lambda _: 0.5, 0, 1) > FITS
    assert fit(bits[:-1] ^ bits[1:], lambda _: 0.5, 0, 1) > FITS
    with pytest.raises(ValueError, match="4 words"):
        KeyedBits(key[:2], reproducible=True)
