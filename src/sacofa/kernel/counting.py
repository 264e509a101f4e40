"""Exact counts of the words of an automaton, which no machine number could hold.

A count is a row of digits of 32 bits, lowest first, so that the counts of all states are
added up at once. Sums of digits have room in 64 bits before what exceeds a digit is carried over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Digits = NDArray[np.uint32]

BITS = np.uint64(32)
DIGIT = np.uint64((1 << 32) - 1)
# So many digits are added up together: bounds memory, not the result.
BLOCK = 1 << 22


class WordCounts:
    """For each state of an automaton, how many words begin there, by the steps they may take."""

    def __init__(
        self, *, offsets: Ints, targets: Ints, times: Ints, ends: Bools, max_length: int
    ) -> None:
        """Count all words.

        From state i one comes to the states targets[offsets[i] : offsets[i + 1]], to each in as
        many ways as `times` says. Words end where `ends` holds, or are cut after max_length steps.
        """
        self._offsets, self._targets = offsets, targets
        self._times = times.astype(np.uint64)[:, None]
        # With no step left: the word that is cut here, and the one that ends here if it may.
        self._levels: list[Digits] = [1 + ends[:, None].astype(np.uint32)]
        for _ in range(max_length):
            total = self._add_targets(self._levels[-1])
            total[:, 0] += ends
            self._levels.append(_carried(total))

    def of(self, states: Ints, left: int) -> list[int]:
        """The number of words from each state, when `left` more steps may be taken."""
        digits = self._levels[left][states]
        raw, width = digits.astype("<u4").tobytes(), 4 * digits.shape[1]
        places = range(0, len(raw), width)
        return [int.from_bytes(raw[place : place + width], "little") for place in places]

    def _add_targets(self, counts: Digits) -> NDArray[np.uint64]:
        """Add up the counts of what each state leads to, digit by digit; no carrying yet."""
        offsets = self._offsets
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
            added = counts[self._targets[begin:end]] * self._times[begin:end]
            total[here, :-1] = np.add.reduceat(added, offsets[here] - begin, axis=0)
            start = stop
        return total


def _carried(total: NDArray[np.uint64]) -> Digits:
    """Carry what exceeds a digit over to the next one, as often as it takes."""
    while (over := total >> BITS).any():
        total &= DIGIT
        total[:, 1:] += over[:, :-1]
    if not total[:, -1].any():
        total = total[:, :-1]
    return total.astype(np.uint32)
