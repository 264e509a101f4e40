"""A set of words that can be counted and numbered, so that one can be drawn uniformly.

A word is a case: a sequence of activity ids, and whether it is finished. A language is given by a
deterministic automaton. Its words are the sequences up to max_length that may end where they do
(finished), and all those of exactly max_length, as cases that were cut there (unfinished).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .variants import VariantCounts

Ids = tuple[int, ...]
"""A sequence of activity ids."""
Word = tuple[Ids, bool]
"""The activity ids of a case, and whether it is finished."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Digits = NDArray[np.uint32]

BITS = np.uint64(32)
DIGIT = np.uint64((1 << 32) - 1)
# Number of digits that are added together: bounds memory, not the result.
BLOCK = 1 << 22
# Maximum number of bits of all stored sums: bounds memory, not the result.
ROOM = 1 << 29


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
        """Take an automaton: cases begin in state 0, and may end in states where `ends` holds.

        Step i leads from state sources[i] with activity steps[i] to state targets[i].
        """
        self.activities = tuple(activities)
        self.max_length = max_length
        self.keeps_rules = keeps_rules
        """Whether all requested rules are kept; False after falling back to allowed pairs."""
        self._ends = ends
        # To look a step up: one key for each, in order, and where it leads.
        keys = sources * max(len(self.activities), 1) + steps
        order = np.argsort(keys)
        self._keys, self._reached = keys[order], targets[order]
        # To count and number words: the steps from one state to another together, as a way.
        order = np.lexsort((steps, targets, sources))
        self._steps, sources, targets = steps[order], sources[order], targets[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
        self._first = np.flatnonzero(new)
        self._times = np.diff(self._first, append=len(order))
        self._targets = targets[new]
        number = np.bincount(sources[new], minlength=len(ends))
        self._offsets = np.concatenate([[0], np.cumsum(number)])
        self._kept: dict[tuple[int, int], list[int]] = {}
        self._room = ROOM

    def __getstate__(self) -> dict[str, object]:
        # Derived data is not pickled: it can be much larger than the automaton.
        kept = {name: part for name, part in self.__dict__.items() if name != "_levels"}
        return kept | {"_kept": {}, "_room": ROOM}

    @property
    def states(self) -> int:
        """The number of states of the automaton."""
        return len(self._ends)

    @cached_property
    def size(self) -> int:
        """The number of words."""
        return self._count(np.zeros(1, dtype=np.int64), self.max_length)[0]

    def holds(self, variants: VariantCounts) -> Bools:
        """Return which variants are words."""
        if variants.activities != self.activities:
            raise ValueError("variants and language have different activities")
        lengths, size = variants.lengths, max(len(self.activities), 1)
        state = np.zeros(len(variants), dtype=np.int64)
        alive = lengths <= self.max_length
        for place in range(int(lengths[alive].max(initial=0))):
            rows = np.flatnonzero(alive & (lengths > place))
            keys = state[rows] * size + variants.activity_ids[variants.offsets[rows] + place]
            found = np.searchsorted(self._keys, keys)
            there = found < len(self._keys)
            there[there] = self._keys[found[there]] == keys[there]
            alive[rows[~there]] = False
            state[rows[there]] = self._reached[found[there]]
        full = lengths == self.max_length
        result: Bools = alive & np.where(variants.complete, self._ends[state], full)
        return result

    def contains(self, sequence: Sequence[int], finished: bool) -> bool:
        """Whether a case is a word."""
        state, size = 0, max(len(self.activities), 1)
        if len(sequence) > self.max_length:
            return False
        for activity in sequence:
            key = state * size + activity
            found = int(self._keys.searchsorted(key))
            if found == len(self._keys) or self._keys[found] != key:
                return False
            state = int(self._reached[found])
        return bool(self._ends[state]) if finished else len(sequence) == self.max_length

    def word(self, number: int) -> Word:
        """Return the word with a number from 0 to size − 1; each word has one number."""
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
            below = sums[choice - 1] if choice else 0
            way = int(self._offsets[state]) + choice
            # All steps of one way have equally many words behind them.
            each = (sums[choice] - below) // int(self._times[way])
            step, number = divmod(number - below, each)
            word.append(int(self._steps[self._first[way] + step]))
            state = int(self._targets[way])
        return tuple(word), False

    def _sums(self, state: int, left: int) -> list[int]:
        """Add up the words behind the ways out of a state, when `left` more steps may be taken."""
        sums = self._kept.get((state, left))
        if sums is None:
            ways = slice(self._offsets[state], self._offsets[state + 1])
            counts = self._count(self._targets[ways], left - 1)
            times = self._times[ways].tolist()
            sums = list(accumulate(n * count for n, count in zip(times, counts, strict=True)))
            self._room -= len(sums) * (64 + sums[-1].bit_length())
            if self._room < 0:
                self._kept.clear()
                self._room = ROOM
            self._kept[state, left] = sums
        return sums

    def _count(self, states: Ints, left: int) -> list[int]:
        """The number of words that begin in each state, when `left` more steps may be taken."""
        digits = self._levels[left][states]
        raw, width = digits.astype("<u4").tobytes(), 4 * digits.shape[1]
        places = range(0, len(raw), width)
        return [int.from_bytes(raw[place : place + width], "little") for place in places]

    @cached_property
    def _levels(self) -> list[Digits]:
        """Return the number of words from each state, for each number of remaining steps.

        Counts exceed machine integers. A count is a row of 32-bit digits, lowest first, so that the
        counts of all states are added at once; sums of digits fit into 64 bits.
        """
        # With no step left: the word that is cut here, and the one that ends here if it may.
        levels: list[Digits] = [1 + self._ends[:, None].astype(np.uint32)]
        for _ in range(self.max_length):
            total = self._add_targets(levels[-1])
            total[:, 0] += self._ends
            # The excess of a digit is carried over to the next one, repeatedly if necessary.
            while (over := total >> BITS).any():
                total &= DIGIT
                total[:, 1:] += over[:, :-1]
            if not total[:, -1].any():
                total = total[:, :-1]
            levels.append(total.astype(np.uint32))
        return levels

    def _add_targets(self, counts: Digits) -> NDArray[np.uint64]:
        """Sum the counts of the successors of each state, digit by digit, without carrying."""
        offsets, times = self._offsets, self._times.astype(np.uint64)[:, None]
        total = np.zeros((len(offsets) - 1, counts.shape[1] + 1), dtype=np.uint64)
        rows = np.flatnonzero(np.diff(offsets))
        room = max(1, BLOCK // counts.shape[1])
        start = 0
        while start < len(rows):
            # Whole states together, as many as a block has room for.
            begin = offsets[rows[start]]
            stop = max(start + 1, int(np.searchsorted(offsets[rows], begin + room)))
            here = rows[start:stop]
            end = offsets[here[-1] + 1]
            added = counts[self._targets[begin:end]] * times[begin:end]
            total[here, :-1] = np.add.reduceat(added, offsets[here] - begin, axis=0)
            start = stop
        return total
