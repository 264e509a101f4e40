"""A set of words whose words can be counted, numbered and drawn uniformly.

A word is a case: a sequence of activity ids, and whether it is finished. A language is given by a
deterministic automaton. Its words are the sequences up to max_length that may end where they do
(finished), and all those of exactly max_length, as cases that were cut there (unfinished).
How a cut case went on is unknown, so nothing is asked of it but that it came so far.

There may be far more words than any machine number holds, so they are counted exactly, in digits of
32 bits, for all states at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..variants import VariantCounts

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Digits = NDArray[np.uint32]
Word = tuple[tuple[int, ...], bool]
"""The activity ids of a case, and whether it is finished."""

BITS = 32
# So many digits are added up together, and so many sums kept: bounds memory, not the result.
BLOCK = 1 << 22
MAX_SUMS = 1 << 18


class Language:
    """The cases of an automaton, cut at a length."""

    def __init__(
        self,
        *,
        activities: Sequence[str],
        max_length: int,
        sources: Ints,
        steps: Ints,
        targets: Ints,
        ends: Bools,
        keeps_rules: bool = True,
    ) -> None:
        """Take an automaton: state 0 is where cases begin.

        Step i leads from state sources[i] with activity steps[i] to state targets[i]; a case may
        end in the states where `ends` holds.
        """
        self.activities = tuple(activities)
        self.max_length = max_length
        self.keeps_rules = keeps_rules
        """Whether every rule that was asked for is kept; False after falling back to steps."""
        order = np.lexsort((steps, sources))
        self._ends = ends
        self._steps, self._targets = steps[order], targets[order]
        self._degrees = np.bincount(sources, minlength=len(ends))
        self._offsets = np.concatenate([[0], np.cumsum(self._degrees)])
        # A key per step, in order, to look steps up.
        self._keys = sources[order] * max(len(self.activities), 1) + self._steps
        self._kept: dict[tuple[int, int], list[int]] = {}
        self._room = MAX_SUMS

    @property
    def states(self) -> int:
        """The number of states of the automaton."""
        return len(self._ends)

    @cached_property
    def size(self) -> int:
        """The number of words."""
        return _numbers(self._counts[self.max_length][:1])[0]

    def holds(self, variants: VariantCounts) -> Bools:
        """Tell which variants are words."""
        if variants.activities != self.activities:
            raise ValueError("variants and language have different activities")
        lengths, size = variants.lengths, max(len(self.activities), 1)
        state = np.zeros(len(variants), dtype=np.int64)
        alive = lengths <= self.max_length
        for place in range(int(lengths[alive].max(initial=0))):
            rows = np.flatnonzero(alive & (lengths > place))
            keys = state[rows] * size + variants.steps[variants.offsets[rows] + place]
            found = np.searchsorted(self._keys, keys)
            there = found < len(self._keys)
            there[there] = self._keys[found[there]] == keys[there]
            alive[rows[~there]] = False
            state[rows[there]] = self._targets[found[there]]
        full = lengths == self.max_length
        result: Bools = alive & np.where(variants.finished, self._ends[state], full)
        return result

    def contains(self, sequence: Sequence[int], finished: bool) -> bool:
        """Tell whether a case is a word."""
        one = VariantCounts.collect(
            self.activities, list(sequence), [len(sequence)], [1], [finished]
        )
        return bool(self.holds(one)[0])

    def word(self, number: int) -> Word:
        """Give the word with a number from 0 to size − 1; each word has one number."""
        if not 0 <= number < self.size:
            raise IndexError(f"word {number} of a language of {self.size}")
        word: list[int] = []
        state = 0
        for left in range(self.max_length, -1, -1):
            if self._ends[state]:
                if number == 0:
                    return tuple(word), True
                number -= 1
            if left == 0:
                break
            sums = self._sums(state, left)
            choice = bisect_right(sums, number)
            number -= sums[choice - 1] if choice else 0
            step = int(self._offsets[state]) + choice
            word.append(int(self._steps[step]))
            state = int(self._targets[step])
        return tuple(word), False

    def draw(self, below: Callable[[int], int]) -> Word:
        """Draw a word, each with the same probability, given uniform whole numbers below n."""
        return self.word(below(self.size))

    def _sums(self, state: int, left: int) -> list[int]:
        """Add up the words behind the steps out of a state, when `left` more may be taken."""
        sums = self._kept.get((state, left))
        if sums is None:
            targets = self._targets[self._offsets[state] : self._offsets[state + 1]]
            sums = list(accumulate(_numbers(self._counts[left - 1][targets])))
            self._room -= len(sums)
            if self._room < 0:
                self._kept.clear()
                self._room = MAX_SUMS
            self._kept[state, left] = sums
        return sums

    @cached_property
    def _counts(self) -> list[Digits]:
        """Count the words from each state, when 0, 1, … max_length more steps may be taken."""
        # With no step left: the word that is cut here, and the one that ends here if it may.
        counts = [1 + self._ends[:, None].astype(np.uint32)]
        for _ in range(self.max_length):
            total = self._behind(counts[-1])
            total[:, 0] += self._ends
            counts.append(_carried(total))
        return counts

    def _behind(self, counts: Digits) -> NDArray[np.uint64]:
        """Add up the counts of all targets of each state, digit by digit; no carrying yet."""
        total = np.zeros((self.states, counts.shape[1] + 1), dtype=np.uint64)
        rows = np.flatnonzero(self._degrees)
        # Whole states together, as many as a block has room for.
        room = max(1, BLOCK // counts.shape[1])
        start = 0
        while start < len(rows):
            begin = self._offsets[rows[start]]
            stop = int(np.searchsorted(self._offsets[rows], begin + room, side="left"))
            stop = max(stop, start + 1)
            here = rows[start:stop]
            end = self._offsets[here[-1] + 1]
            gathered = counts[self._targets[begin:end]].astype(np.uint64)
            total[here, :-1] = np.add.reduceat(gathered, self._offsets[here] - begin, axis=0)
            start = stop
        return total


def _carried(total: NDArray[np.uint64]) -> Digits:
    """Carry what exceeds a digit over to the next one."""
    mask = np.uint64((1 << BITS) - 1)
    for digit in range(total.shape[1] - 1):
        total[:, digit + 1] += total[:, digit] >> np.uint64(BITS)
        total[:, digit] &= mask
    if not total[:, -1].any():
        total = total[:, :-1]
    return total.astype(np.uint32)


def _numbers(digits: Digits) -> list[int]:
    """Each row of digits, lowest first, as one whole number."""
    raw, width = digits.astype("<u4").tobytes(), 4 * digits.shape[1]
    return [
        int.from_bytes(raw[start : start + width], "little") for start in range(0, len(raw), width)
    ]
