"""The noisy counts of all sequences, drawn without listing them.

Every word (a sequence up to max_length) has a cell: its count plus discrete Laplace noise. Only
cells that reach a threshold are reported, which cells with count 0 rarely do. Their number is
sampled (binomial), then which ones (uniform), then their values (threshold plus geometric: the
distribution is memoryless). The result is distributed as with noise on every cell. A cell that was
requested and not reported is below the threshold; every later stage is sampled under this
condition.

With a δ for selection, cells with count 0 get no noise and are never reported. Published cells
reach the threshold of the session, which hides whether a case of the log is in them.

If the variants are on other machines, noise and threshold are applied there. A key, drawn once,
determines the noise of each part, so that a repeated task returns the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, partial

from ..bits import KeyedBits, Words
from ..language import Language, Word
from ..laws import Law
from ..noise import Noise
from ..reals import GUARD, WIDE, Real, tail
from ..session import Opened, Session
from ..statements import Statement
from ..variants import DistributedVariants, VariantCounts
from .protocol import Ints


@dataclass(frozen=True)
class AllSequences:
    """The counts of all sequences. A case adds 1 to one cell."""

    name = "named"
    what = Statement("query.sequences")
    sensitivity = l2_sensitivity = 1

    def counts(self, part: VariantCounts) -> Mapping[Word, int]:
        """The cells of one part of the log that are not 0. Secret."""
        words = zip(part.sequences(), part.complete.tolist(), strict=True)
        return dict(zip(words, part.counts.tolist(), strict=True))


def open_histogram(session: Session, epsilon: Fraction, line: str) -> Histogram:
    """Charge for the counts of all sequences; reported counts are recorded in the transcript."""
    query = AllSequences()
    opened = session.open(query, epsilon, line)
    histogram = Histogram(opened)
    session.show(query, histogram.shown, opened.law)
    return histogram


class Histogram:
    """The cells of all words; stage after stage, more of them are shown."""

    def __init__(self, opened: Opened) -> None:
        """Add noise to the cells of the variants; all other cells are sampled on request."""
        self._noise = opened.noise
        self._epsilon = opened.law.epsilon
        self.least = opened.threshold
        """The minimum reported count of variants in the log; None: of any variant."""
        self._taken = take_cells(opened.variants, opened.noise, opened.law)
        self._empty: dict[Word, int] = {}
        self._stages: list[tuple[Language, int]] = []
        self.shown: dict[Word, int] = {}
        """The cells that were shown so far, with their noisy counts."""

    def show(self, language: Language, threshold: int) -> dict[Word, int]:
        """Show the cells of a language that reach a threshold (1 or more), if not shown before."""
        threshold = max(threshold, self.least or 1)
        reached = self._taken.reach(language, threshold)
        # Cells of the log and empty cells are different ones: neither replaces the other.
        empty = self._draw_empty(language, threshold, reached.inside) if not self.least else {}
        new = reached.cells | empty
        # In public order, so that the order does not reveal which cells were empty.
        new = {word: value for word, value in sorted(new.items()) if word not in self.shown}
        self._stages.append((language, threshold))
        self.shown.update(new)
        return new

    def _draw_empty(self, language: Language, threshold: int, taken: int) -> dict[Word, int]:
        """Draw the cells with count 0 that reach the threshold and were not drawn before.

        They are drawn with P(noise ≥ threshold), then thinned by the known bound on each.
        """
        # Empty cells that were drawn have a value already, and are known like those of the log.
        drawn = sum(language.contains(*word) for word in self._empty)
        cells = language.size - taken - drawn
        number = self._noise.binomial(cells, tail(self._epsilon, threshold))
        places: dict[Word, None] = {}
        # Different cells, each as likely: words that are known, or double, are drawn again.
        while len(places) < number:
            numbers = (self._noise.integer(language.size) for _ in range(number - len(places)))
            words = list(map(language.word, numbers))
            known = self._taken.among(words).union(self._empty)
            places.update((word, None) for word in words if word not in known)
        values = {word: self._value(word, threshold) for word in places}
        survivors = {word: value for word, value in values.items() if value is not None}
        self._empty.update(survivors)
        return survivors

    def _value(self, word: Word, threshold: int) -> int | None:
        """Draw the value of an empty cell above a threshold; None if its bound excludes it."""
        excess = int(self._noise.geometric(self._epsilon, 1)[0])
        # The lowest threshold that the cell is known to lie below.
        asked = (t for language, t in self._stages if language.contains(*word))
        if (bound := min(asked, default=None)) is not None:
            thinned = _thinned(self._epsilon, threshold, bound)
            if bound <= threshold or not self._noise.binomial(1, thinned):
                return None
            # The remainder of a geometric variable is geometric, cut at the divisor.
            excess %= bound - threshold
        return threshold + excess


def _thinned(epsilon: Fraction, threshold: int, bound: int) -> Real:
    """P(noise ≥ threshold | noise < bound) as a part of P(noise ≥ threshold)."""

    def real(digits: int) -> Decimal:
        # The difference of two probabilities loses digits; these are enough for any threshold.
        more = digits + 2 * len(str(bound)) + len(str(epsilon.denominator)) + 5
        with localcontext(WIDE, prec=more + GUARD):
            new, old = tail(epsilon, threshold)(more), tail(epsilon, bound)(more)
            return (new - old) / (1 - old) / new

    return real


@dataclass(frozen=True)
class Reached:
    """The cells of a language that reach a threshold."""

    inside: int = 0
    """Number of variants of the log that are words of the language. Confidential."""
    cells: dict[Word, int] = field(default_factory=dict)
    """Those that reach the threshold, with their noisy counts."""


class CellsHere:
    """Cells in memory."""

    def __init__(self, variants: VariantCounts, noisy: Ints) -> None:
        self._variants = variants
        self._noisy = noisy

    def reach(self, language: Language, threshold: int) -> Reached:
        """Find the cells of a language that reach a threshold."""
        # The number inside is confidential: it only determines the number of empty cells.
        inside = language.holds(self._variants)
        places = (inside & (self._noisy >= threshold)).nonzero()[0].tolist()
        ids, ends = self._variants.activity_ids, self._variants.offsets.tolist()
        complete = self._variants.complete.tolist()
        words = ((tuple(ids[ends[i] : ends[i + 1]].tolist()), complete[i]) for i in places)
        counts = self._noisy[places].tolist()
        return Reached(int(inside.sum()), dict(zip(words, counts, strict=True)))

    def among(self, words: Collection[Word]) -> set[Word]:
        """Which of these words are variants of the log."""
        return self._words.intersection(words)

    # Created on first use: most runs draw no empty cell, and need no set.
    @cached_property
    def _words(self) -> set[Word]:
        return set(zip(self._variants.sequences(), self._variants.complete.tolist(), strict=True))


class CellsInParts:
    """Cells on other machines."""

    def __init__(self, variants: DistributedVariants, noise: Noise, law: Law) -> None:
        """Draw a key for each part."""
        self._variants = variants
        # Keys are drawn here, once, in the order of the parts. Parts with one key would share
        # their noise, and a key drawn there would be another one after a failure.
        keys = {number: noise.bits.words(KeyedBits.SIZE) for number in variants.parts}
        self._part = _Part(law, keys, reproducible=noise.bits.reproducible)

    def reach(self, language: Language, threshold: int) -> Reached:
        """Find the cells of a language that reach a threshold."""
        job = partial(self._part.reach, language=language, threshold=threshold)
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
    variants: VariantCounts | DistributedVariants, noise: Noise, law: Law
) -> CellsHere | CellsInParts:
    """Return the cells of all variants, each with a draw of noise."""
    # Drawn immediately and kept: requested again at a lower threshold, a cell must have the same
    # value.
    if isinstance(variants, VariantCounts):
        return CellsHere(variants, variants.counts + noise.draw(law, len(variants)))
    return CellsInParts(variants, noise, law)


@dataclass(frozen=True)
class _Part:
    """The job of other machines, sent with the keys of all parts."""

    law: Law
    keys: dict[int, Words]
    reproducible: bool

    def reach(
        self, number: int, variants: VariantCounts, *, language: Language, threshold: int
    ) -> Reached:
        noise = Noise(KeyedBits(self.keys[number], reproducible=self.reproducible))
        noisy = variants.counts + noise.draw(self.law, len(variants))
        return CellsHere(variants, noisy).reach(language, threshold)


def _among(number: int, variants: VariantCounts, *, words: Collection[Word]) -> set[Word]:
    # Without noise: which words there are does not depend on counts.
    return CellsHere(variants, variants.counts).among(words)
