"""Exact, vectorized sampling of noise from random bits. No other module draws noise.

All samples are drawn by inversion. A uniform real number U in [0, 1) is revealed 64 bits at a time
and compared with the thresholds P(X ≤ 0), P(X ≤ 1), … of a distribution. 64 bits almost always
decide, by one table look-up; otherwise, more bits of both are computed until they differ. So no
draw is rounded and every value is possible: the distributions are exact.

Discrete Laplace noise is the difference of two geometric variables, which are written in base 256:
their digits are independent, so small tables serve any scale. Discrete Gaussian noise is discrete
Laplace noise that is accepted with the right probability (Canonne, Kamath and Steinke, 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from .bits import Bits, SystemBits
from .laws import DiscreteGaussian, Law
from .reals import GUARD, WIDE, Real, none_of, power, rounded, tail

Ints = NDArray[np.int64]
Below = Callable[[int, int], int | None]
"""`below(x, bits)` is P(X ≤ x) · 2^bits, wrong by less than 2; None where x is the last value."""

WORD = 64
DOUBT = 2
BASE = 256
TABLE = 1024
"""A table is at most about this long; larger scales take one more digit."""
BATCH = 2**18
CLOSE = 2.0**-40
"""Floats decide beyond this distance from a threshold; their error is below 2^-48."""


def invert(below: Below, bits: Bits, word: int | None = None) -> int:
    """Draw one value by inversion: reveal as many bits as it takes to decide."""
    number = int(bits.words(1)[0]) if word is None else word
    width, value = WORD, 0
    while True:
        threshold = below(value, width)
        # Rounding of a threshold to 2^width decides nothing: at a large ε the probability beyond it
        # is below the resolution of these bits. Only more bits decide.
        if threshold is None or number < threshold - DOUBT:
            return value
        if number > threshold + DOUBT:
            value += 1
        else:
            number = (number << WORD) | int(bits.words(1)[0])
            width += WORD


class Table:
    """The first 64 bits of the thresholds of a distribution, for drawing many values at once."""

    def __init__(self, thresholds: Sequence[int], below: Below) -> None:
        """Prepare thresholds (below(0, 64), below(1, 64), …); `below` decides all other cases."""
        self._below = below
        # Around each threshold lies a zone of doubt. Left of zone i a draw is at most i, right of
        # it more, so an even number of passed edges is twice the value and an odd one is doubt.
        edges = [edge for t in thresholds for edge in (t - DOUBT, t + DOUBT + 1)]
        highest = 2**WORD - 1
        clipped = np.array([min(max(edge, 0), highest) for edge in edges], dtype=np.uint64)
        # Beyond the last threshold more bits are needed, too: the distribution may continue there.
        # Edges are clipped to the highest word, which passes all of them and so needs more bits
        # anyway.
        self._edges = np.maximum.accumulate(clipped)[:-1]

    def draw(self, bits: Bits, size: int) -> Ints:
        """Draw independent values."""
        words = bits.words(size)
        passed = self._edges.searchsorted(words, side="right")
        values = passed >> 1
        doubtful = passed & 1
        if doubtful.any():
            for i in np.flatnonzero(doubtful):
                values[i] = invert(self._below, bits, int(words[i]))
        return values


class Geometric:
    """P(X ≥ x) = ρ^x on 0, 1, 2, …, for a real ρ in (0, 1)."""

    def __init__(self, ratio: Real) -> None:
        """Prepare the tables of the digits; `ratio` is ρ."""
        rough = ratio(40)
        with localcontext(WIDE, prec=40 + GUARD):
            # This many values have all but about 2^-64 of the probability.
            reach = int(Decimal(45) / -rough.ln()) + 1
            self._spare = len(str(reach))
        self._ratio = ratio
        self._digits: list[Table] = []
        self._scale = 1
        while reach // self._scale > TABLE:
            self._digits.append(self._table(self._scale, BASE))
            self._scale *= BASE
        self._top = self._table(self._scale, None, reach // self._scale + 2)

    def _power(self, exponent: int, bits: int) -> Decimal:
        """ρ^exponent, with enough digits for thresholds that are exact to the given bits."""
        digits = bits // 3 + 3 * self._spare + len(str(exponent))
        with localcontext(WIDE, prec=digits + GUARD):
            return self._ratio(digits) ** exponent

    def _table(self, scale: int, base: int | None, size: int = BASE) -> Table:
        """Prepare one digit; the highest has no base and is unbounded."""

        def below(x: int, bits: int) -> int | None:
            if base is not None and x >= base - 1:
                return None
            with localcontext(WIDE, prec=bits // 3 + 3 * self._spare + GUARD):
                whole = 1 if base is None else 1 - self._power(scale * base, bits)
                return int((1 - self._power(scale * (x + 1), bits)) / whole * 2**bits)

        with localcontext(WIDE, prec=WORD // 3 + 3 * self._spare + GUARD):
            step = self._power(scale, WORD)
            whole = 1 if base is None else 1 - self._power(scale * base, WORD)
            factor = 2**WORD / Decimal(whole)
            left, thresholds = step, []
            for _ in range(size):
                thresholds.append(int((1 - left) * factor))
                left *= step
        return Table(thresholds, below)

    def draw(self, bits: Bits, size: int) -> Ints:
        """Draw independent values."""
        values = self._top.draw(bits, size) * self._scale
        scale = 1
        for digit in self._digits:
            values += digit.draw(bits, size) * scale
            scale *= BASE
        return values


# Tables are kept by whole numbers: those of a fraction hash much faster than the fraction.
@lru_cache(maxsize=256)
def _geometric(above: int, below: int) -> Geometric:
    """The tables for ρ = exp(−above / below)."""
    return Geometric(power(Fraction(above, below)))


@lru_cache(maxsize=256)
def _gaps(above: int, below: int, threshold: int) -> Geometric:
    """The tables for ρ = P(noise < threshold) with ε = above / below."""
    return Geometric(tail(Fraction(above, below), 1 - threshold))


class Noise:
    """Draws every random value of a run, from one source of bits."""

    def __init__(self, bits: Bits | None = None) -> None:
        """Draw from the operating system's randomness unless another source is given."""
        self.bits: Bits = bits or SystemBits()

    def geometric(self, epsilon: Fraction, size: int) -> Ints:
        """Draw values with P(X ≥ x) = exp(−epsilon · x)."""
        if not size:
            return np.zeros(0, dtype=np.int64)
        return _geometric(epsilon.numerator, epsilon.denominator).draw(self.bits, size)

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Draw discrete Laplace noise of scale 1/epsilon: P(X = x) ∝ exp(−epsilon · |x|)."""
        ratio = _geometric(epsilon.numerator, epsilon.denominator)
        both = ratio.draw(self.bits, 2 * size)
        return both[:size] - both[size:]

    def gaussian(self, sigma_squared: Fraction, size: int) -> Ints:
        """Draw discrete Gaussian noise: P(X = x) ∝ exp(−x² / (2σ²)).

        Algorithm 3 of Canonne, Kamath and Steinke (2020): a discrete Laplace variable Y of scale
        t = ⌊σ⌋ + 1 is accepted with probability exp(−(|Y| − σ²/t)² / (2σ²)).
        """
        above, below = sigma_squared.numerator, sigma_squared.denominator
        scale = isqrt(above // below) + 1
        found = np.zeros(0, dtype=np.int64)
        while len(found) < size:
            proposed = self.laplace(Fraction(1, scale), 2 * (size - len(found)) + 8)
            words = self.bits.words(len(proposed))
            distance = np.abs(proposed) - float(sigma_squared / scale)
            chances = np.exp(-(distance**2) / (2 * float(sigma_squared)))
            difference = words * 2.0**-WORD - chances
            accepted = difference < 0
            # A float decides only where it is far from the word, compared with its rounding error.
            for i in np.flatnonzero(np.abs(difference) < CLOSE):
                accepted[i] = self._accepts(int(proposed[i]), sigma_squared, scale, int(words[i]))
            found = np.append(found, proposed[accepted])
        return found[:size]

    def _accepts(self, proposed: int, sigma_squared: Fraction, scale: int, word: int) -> bool:
        """Decide exactly whether a proposal is accepted, given the first bits of the decision."""
        chance = power((abs(proposed) - sigma_squared / scale) ** 2 / (2 * sigma_squared))

        def below(value: int, bits: int) -> int | None:
            with localcontext(WIDE, prec=bits // 3 + GUARD):
                return None if value else int(chance(bits // 3) * 2**bits)

        return invert(below, self.bits, word) == 0

    def draw(self, law: Law, size: int) -> Ints:
        """Draw noise from a law."""
        if isinstance(law, DiscreteGaussian):
            return self.gaussian(law.sigma_squared, size)
        return self.laplace(law.epsilon, size)

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> Ints:
        """Draw which of many empty cells reach the threshold, each with P(noise ≥ threshold)."""
        # Where many do, the (geometric) gaps between them are drawn; else their number and places.
        chance = tail(epsilon, threshold)
        expected = float(chance(20) * cells)
        if expected < 1:
            number = self.binomial(cells, chance)
            return np.sort(self.choose(number, cells)) if number else np.zeros(0, dtype=np.int64)
        gaps = _gaps(epsilon.numerator, epsilon.denominator, threshold)
        found: list[Ints] = []
        place = -1
        while place < cells:
            size = min(int(1.02 * expected + 4 * expected**0.5) + 8, BATCH)
            places = place + np.cumsum(np.minimum(gaps.draw(self.bits, size), cells) + 1)
            found.append(places)
            place = int(places[-1])
            expected = max(0.0, expected - size)
        places = np.concatenate(found)
        return places[: int(np.searchsorted(places, cells))]

    def binomial(self, trials: int, probability: Real) -> int:
        """Draw the number of successes among any number of trials; the cost follows the number."""
        word = int(self.bits.words(1)[0])
        # Most often nothing succeeds, and P(X = 0) ≥ 1 − trials · p settles it at once.
        with localcontext(WIDE, prec=30 + GUARD):
            expected = rounded(trials, 30) * probability(30)
            if word < int((1 - expected) * 2**WORD) - DOUBT:
                return 0
            # An error of the exponent is one of P(X = 0) in proportion: larger exponents need more.
            spare = max(expected.adjusted(), 0) + 11
        sums: dict[int, list[tuple[Decimal, Decimal]]] = {}

        def below(value: int, bits: int) -> int | None:
            if value >= trials:
                return None
            digits = bits // 3 + 2 * spare
            with localcontext(WIDE, prec=digits + GUARD):
                p = probability(digits)
                if bits not in sums:
                    none = none_of(trials, p, digits)
                    sums[bits] = [(none, none)]
                terms = sums[bits]
                while len(terms) <= value:
                    x = len(terms)
                    left = rounded(trials - x + 1, digits)
                    term = terms[-1][0] * left / x * p / (1 - p)
                    terms.append((term, terms[-1][1] + term))
                return int(terms[value][1] * 2**bits)

        return invert(below, self.bits, word)

    def below(self, bound: int, size: int) -> Ints:
        """Draw uniform integers in 0 … bound − 1, for bounds up to 2^62."""
        limit = 2**WORD - 2**WORD % bound
        words = self.bits.words(size)
        if limit < 2**WORD:
            while (over := words >= np.uint64(limit)).any():
                words = words.copy()
                words[over] = self.bits.words(int(over.sum()))
        return (words % np.uint64(bound)).astype(np.int64)

    def integer(self, bound: int) -> int:
        """Draw one uniform integer in 0 … bound − 1, for any bound."""
        width = (bound - 1).bit_length()
        words = max(1, -(-width // WORD))
        while True:
            number = int.from_bytes(self.bits.words(words).tobytes(), "little")
            number >>= words * WORD - width
            if number < bound:
                return number

    def choose(self, size: int, bound: int) -> Ints:
        """Draw different integers in 0 … bound − 1, in random order."""
        if size > bound // 2:
            return self._shuffled(bound)[:size]
        chosen: dict[int, None] = {}
        while len(chosen) < size:
            chosen.update(dict.fromkeys(self.below(bound, size - len(chosen)).tolist()))
        return np.fromiter(chosen, dtype=np.int64, count=size)

    def _shuffled(self, bound: int) -> Ints:
        """Shuffle 0 … bound − 1: sort by random words, and draw again if two are equal."""
        while True:
            words = self.bits.words(bound)
            order = np.argsort(words, kind="stable")
            ordered = words[order]
            if (ordered[1:] != ordered[:-1]).all():
                return order
