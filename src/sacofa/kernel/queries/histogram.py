"""The noisy counts of all sequences, drawn without listing them.

Every word (a sequence up to max_length) has a cell: its count plus discrete Laplace noise. Nobody
can list the cells, but only those that reach a threshold are ever shown, and of the cells with
count 0 hardly one does. So how many of them do is drawn (binomial), which ones (uniform), and with
which value (threshold plus geometric: the distribution has no memory). What is shown has the same
distribution as with noise on every cell.

Each cell's noise is drawn once. A cell that was asked for at a threshold p and not shown is known
to lie below p, and every later stage is drawn given that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from ..language import Language, Word
from ..reals import GUARD, WIDE, Real, tail
from ..session import Opened, Session
from ..statements import Statement
from ..variants import VariantCounts
from .cells import take_cells


@dataclass(frozen=True)
class AllSequences:
    """The counts of all sequences. A case adds 1 to one cell."""

    name = "named"
    what = Statement("query.sequences")
    sensitivity = 1

    def counts(self, part: VariantCounts) -> Mapping[Word, int]:
        """The cells of one part of the log that are not 0. Secret."""
        words = zip(part.sequences(), part.complete.tolist(), strict=True)
        return dict(zip(words, part.counts.tolist(), strict=True))


def open_histogram(session: Session, epsilon: Fraction, line: str) -> Histogram:
    """Pay for the counts of all sequences; what is shown of them goes into the transcript."""
    query = AllSequences()
    opened = session.open(query, epsilon, line)
    histogram = Histogram(opened)
    session.show(query, histogram.shown, opened.epsilon)
    return histogram


class Histogram:
    """The cells of all words; stage after stage, more of them are shown."""

    def __init__(self, opened: Opened) -> None:
        """Noise the cells of the variants at once; all others when they are asked for."""
        self._noise = opened.noise
        self._epsilon = opened.epsilon
        self._taken = take_cells(opened.variants, opened.noise, opened.epsilon)
        self._empty: dict[Word, int] = {}
        self._stages: list[tuple[Language, int]] = []
        self.shown: dict[Word, int] = {}
        """The cells that were shown so far, with their noisy counts."""

    def show(self, language: Language, threshold: int) -> dict[Word, int]:
        """Show the cells of a language that reach a threshold (1 or more), if not shown before."""
        reached = self._taken.reach(language, threshold)
        # Cells of the log and empty cells are different ones: neither replaces the other.
        new = reached.cells | self._draw_empty(language, threshold, reached.inside)
        # In public order, so that the order does not tell which cells were empty.
        new = {word: value for word, value in sorted(new.items()) if word not in self.shown}
        self._stages.append((language, threshold))
        self.shown.update(new)
        return new

    def _draw_empty(self, language: Language, threshold: int, taken: int) -> dict[Word, int]:
        """Draw the cells with count 0 that reach the threshold and were not drawn before.

        A cell that no stage asked for survives with P(noise ≥ threshold), and no cell with more
        than that: survivors are drawn at this rate, then thinned by what is known of each.
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
        """Draw the value of an empty cell that reaches a threshold, or None by what is known."""
        excess = int(self._noise.geometric(self._epsilon, 1)[0])
        bound = self._bound(word)
        if bound is not None:
            thinned = _thinned(self._epsilon, threshold, bound)
            if bound <= threshold or not self._noise.happens(thinned):
                return None
            # The remainder of a geometric variable is geometric, cut at the divisor.
            excess %= bound - threshold
        return threshold + excess

    def _bound(self, word: Word) -> int | None:
        """The lowest threshold that a cell is known to lie below; None if it was never asked."""
        asked = (t for language, t in self._stages if language.contains(*word))
        return min(asked, default=None)


def _thinned(epsilon: Fraction, threshold: int, bound: int) -> Real:
    """P(noise ≥ threshold | noise < bound) as a part of P(noise ≥ threshold)."""

    def real(digits: int) -> Decimal:
        # The difference of two probabilities loses digits; these are enough for any threshold.
        more = digits + 2 * len(str(bound)) + len(str(epsilon.denominator)) + 5
        with localcontext(WIDE, prec=more + GUARD):
            new, old = tail(epsilon, threshold)(more), tail(epsilon, bound)(more)
            return (new - old) / (1 - old) / new

    return real
