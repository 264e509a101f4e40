"""Every look at the secret log, each through noise: nothing else here ever sees a count.

A look is a table of whole numbers of which one case can change only so much in sum (its L1
sensitivity), and discrete Laplace noise on every cell of it. Which table is asked for next may
depend on all answers so far, but on nothing else. So the prices add up (basic composition under
adaptive choice), and whatever is made of the answers is free.

A table is the sum of the tables of all parts of the log: of one in memory, or of many on other
machines, where a cluster counted more variants than one machine can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...privacy.looks import Spend
from ...privacy.noise import Noise
from ...variants import Scattered, VariantCounts
from .distance import Ids, nearest
from .histogram import Histogram

Ints = NDArray[np.int64]

MAX_ACTIVITIES = 4_000
"""Every step between two of them has a cell; more would not fit into memory."""
VOTE_UNITS = 1_000
"""How many votes a case has for its steps; more would make the remainders smaller."""
# So many cells are noised at once: bounds memory, not the result.
TOGETHER = 1 << 20


class Looks:
    """Asks the secret log, adds the noise, and writes down every answer with its price."""

    def __init__(
        self, variants: VariantCounts | Scattered, noise: Noise, max_cases: int = 1
    ) -> None:
        """Take the log of neighbours that differ by up to max_cases cases."""
        size = len(variants.activities)
        if size > MAX_ACTIVITIES:
            raise SettingError("activities", f"{size:,} names", f"at most {MAX_ACTIVITIES:,}")
        self._secret = variants
        self._noise = noise
        self._max_cases = max_cases
        self.activities = variants.activities
        self.spent: list[Spend] = []
        """Every look so far, with its price."""
        self.transcript: dict[str, object] = {}
        """Every answer so far."""

    def cut(self, max_length: int) -> None:
        """Cut cases here from now on; what has just that length counts as cut too."""
        self._secret = self._secret.cut(max_length, by_length=True)

    def size(self, price: Fraction) -> int:
        """The number of cases. A case adds 1."""
        true = self._add_up(_size, 1)
        return int(self._ask("the number of cases", "size", true, price)[0])

    def lengths(self, edges: Sequence[int], price: Fraction) -> Ints:
        """How many cases end in each bin of lengths; longer ones in the last. A case adds 1."""
        true = self._add_up(partial(_lengths, edges=edges), len(edges))
        return self._ask("the lengths of cases", "lengths", true, price)

    def steps(self, price: Fraction) -> Ints:
        """The votes for steps: [a, b] for b directly after a; the last row and column are the ends.

        A case has VOTE_UNITS votes and spreads them evenly over its steps (a remainder is lost), so
        that it adds at most VOTE_UNITS in sum, however long it is. A case that was cut has no last
        step; one without events goes from the beginning straight to the end.
        """
        size = len(self.activities) + 1
        true = self._add_up(_steps, size * size)
        noisy = self._ask("votes for steps", "steps", true, price, VOTE_UNITS)
        return noisy.reshape(size, size)

    def nearest(self, name: str, candidates: Sequence[Ids], price: Fraction) -> Ints:
        """How many cases are nearest to each candidate. A case adds 1 to one of them."""
        true = self._add_up(partial(_nearest, candidates=candidates), len(candidates))
        votes = self._ask(f"votes for the nearest candidate ({name})", name, true, price)
        # Which candidates were asked is part of the answer; they are all different.
        self.transcript[name] = dict(zip(candidates, votes.tolist(), strict=True))
        return votes

    def histogram(self, price: Fraction) -> Histogram:
        """The counts of all sequences, to be shown above thresholds. A case adds 1 to one cell."""
        self.spent.append(Spend(what="counts of all sequences", epsilon=price))
        histogram = Histogram(self._secret, self._noise, price / self._max_cases)
        self.transcript["named"] = histogram.shown
        return histogram

    def _add_up(self, table: Callable[[int, VariantCounts], Ints], cells: int) -> Ints:
        """Add up the tables of all parts."""
        return sum(self._secret.map(table), np.zeros(cells, dtype=np.int64))

    def _ask(self, what: str, name: str, true: Ints, price: Fraction, sensitivity: int = 1) -> Ints:
        """Add noise to every cell; one case changes the cells by `sensitivity` in sum."""
        self.spent.append(Spend(what=what, epsilon=price))
        epsilon = price / (sensitivity * self._max_cases)
        noisy = true.copy()
        for start in range(0, len(true), TOGETHER):
            part = noisy[start : start + TOGETHER]
            part += self._noise.laplace(epsilon, len(part))
        self.transcript[name] = noisy
        return noisy


# The tables of one part: functions of a module, because they are sent to other machines by name.


def _size(number: int, part: VariantCounts) -> Ints:
    return np.array([part.cases], dtype=np.int64)


def _lengths(number: int, part: VariantCounts, *, edges: Sequence[int]) -> Ints:
    true = np.zeros(len(edges), dtype=np.int64)
    bins = np.minimum(np.searchsorted(edges, part.lengths), len(edges) - 1)
    np.add.at(true, bins, part.counts)
    return true


def _steps(number: int, part: VariantCounts) -> Ints:
    size = len(part.activities) + 1
    true = np.zeros(size * size, dtype=np.int64)
    ends = part.finished
    votes = part.counts * (VOTE_UNITS // np.maximum(part.lengths + ends, 1))
    # What comes before each event, and before each end: another event, or the beginning.
    before = np.full(len(part.steps) + 1, size - 1, dtype=np.int64)
    before[1:] = part.steps
    last = np.where(part.lengths > 0, before[part.offsets[1:]], size - 1)
    before[part.offsets[:-1]] = size - 1
    np.add.at(true, before[:-1] * size + part.steps, np.repeat(votes, part.lengths))
    np.add.at(true, last[ends] * size + size - 1, votes[ends])
    return true


def _nearest(number: int, part: VariantCounts, *, candidates: Sequence[Ids]) -> Ints:
    true = np.zeros(len(candidates), dtype=np.int64)
    places = nearest(list(part.sequences()), candidates, len(part.activities))
    np.add.at(true, places, part.counts)
    return true
