"""The cells of the variants that there are, each with its noise.

Where the variants lie in parts on other machines, noise and threshold are applied there, and only
the cells that reach it travel. A cell has one noise, whenever it is asked for and however often a
machine has to begin again: each part has a key, drawn once, and key and place determine the noise.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Protocol

from ..bits import KeyedBits, Words
from ..language import Language, Word
from ..noise import Noise
from ..variants import DistributedVariants, VariantCounts
from .protocol import Ints


@dataclass(frozen=True)
class Reached:
    """The cells of a language that reach a threshold."""

    inside: int = 0
    """How many variants of the log are words of the language at all. Secret."""
    cells: dict[Word, int] = field(default_factory=dict)
    """Those that reach the threshold, with their noisy counts."""


class CellsHere:
    """Cells in memory."""

    def __init__(self, variants: VariantCounts, noisy: Ints) -> None:
        self._variants = variants
        self._noisy = noisy

    def reach(self, language: Language, threshold: int) -> Reached:
        """Find the cells of a language that reach a threshold."""
        # How many are inside is secret: it is needed to know how many cells are empty, no more.
        inside = language.holds(self._variants)
        places = (inside & (self._noisy >= threshold)).nonzero()[0].tolist()
        cells = {self._word(i): int(self._noisy[i]) for i in places}
        return Reached(int(inside.sum()), cells)

    def among(self, words: Collection[Word]) -> set[Word]:
        """Which of these words are variants of the log."""
        return self._words.intersection(words)

    def _word(self, i: int) -> Word:
        start, end = self._variants.offsets[i : i + 2]
        return tuple(self._variants.activity_ids[start:end].tolist()), bool(
            self._variants.complete[i]
        )

    # Made when first asked for: most runs draw no empty cell, and need no set.
    @cached_property
    def _words(self) -> set[Word]:
        return set(zip(self._variants.sequences(), self._variants.complete.tolist(), strict=True))


class CellsInParts:
    """Cells on other machines."""

    def __init__(self, variants: DistributedVariants, noise: Noise, epsilon: Fraction) -> None:
        """Draw a key for each part."""
        bits = noise.bits
        self._variants = variants
        # Keys are drawn here, once, in the order of the parts. Parts with one key would share
        # their noise, and a key drawn there would be another one after a failure.
        self._part = partial(
            _noised,
            epsilon=epsilon,
            keys={number: bits.words(KeyedBits.SIZE) for number in variants.parts},
            reproducible=bits.reproducible,
        )

    def reach(self, language: Language, threshold: int) -> Reached:
        """Find the cells of a language that reach a threshold."""
        job = partial(_reach, part=self._part, language=language, threshold=threshold)
        # A variant lies in one part only, so nothing is counted twice.
        inside, cells = 0, dict[Word, int]()
        for reached in self._variants.map_parts(job):
            inside += reached.inside
            cells.update(reached.cells)
        return Reached(inside, cells)

    def among(self, words: Collection[Word]) -> set[Word]:
        """Which of these words are variants of the log."""
        return set[Word]().union(*self._variants.map_parts(partial(_among, words=words)))


def take_cells(
    variants: VariantCounts | DistributedVariants, noise: Noise, epsilon: Fraction
) -> CellsHere | CellsInParts:
    """Take the cells of all variants; one noise of scale 1/epsilon is drawn for each."""
    # Drawn at once and kept: asked again at a lower threshold, a cell must give the same value.
    if isinstance(variants, VariantCounts):
        return CellsHere(variants, variants.counts + noise.laplace(epsilon, len(variants)))
    return CellsInParts(variants, noise, epsilon)


class _Part(Protocol):
    def __call__(self, number: int, variants: VariantCounts) -> CellsHere: ...


# What other machines do: functions of a module, because they are sent there by name.


def _noised(
    number: int,
    variants: VariantCounts,
    *,
    epsilon: Fraction,
    keys: dict[int, Words],
    reproducible: bool,
) -> CellsHere:
    noise = Noise(KeyedBits(keys[number], reproducible=reproducible))
    return CellsHere(variants, variants.counts + noise.laplace(epsilon, len(variants)))


def _reach(
    number: int, variants: VariantCounts, *, part: _Part, language: Language, threshold: int
) -> Reached:
    return part(number, variants).reach(language, threshold)


def _among(number: int, variants: VariantCounts, *, words: Collection[Word]) -> set[Word]:
    # Without noise: which words there are does not depend on counts.
    return CellsHere(variants, variants.counts).among(words)
