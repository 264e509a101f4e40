"""How many rules a prefix breaks: the paper's continuous score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .rules import Rules


class Violations:
    """Counts broken rules, with one bit set (a whole number) per activity and kind of rule."""

    def __init__(self, rules: Rules) -> None:
        self._barred_by = _numbers(rules.never_precedes)
        self._owes = _numbers(rules.always_follows)
        self._needs = _numbers(rules.always_precedes)
        self._starts = rules.starts.tolist()
        self._empty = rules.empty

    def count(self, prefix: Sequence[int], finished: bool) -> int:
        """Count the different facts (activity, activity, kind of rule) that a prefix breaks.

        A step that *never follows* another breaks the *never precedes* of the other direction
        too. What *always follows* may still come as long as the prefix is not finished. A wrong
        start is one fact more, and so is a case without events where there must be some.
        """
        seen = 0
        lacking = 0
        barred: dict[int, int] = {}
        for b in prefix:
            barred[b] = barred.get(b, 0) | (seen & self._barred_by[b])
            if not seen >> b & 1:
                lacking += (self._needs[b] & ~seen).bit_count()
            seen |= 1 << b
        broken = lacking + 2 * sum(facts.bit_count() for facts in barred.values())
        if (not self._starts[prefix[0]]) if len(prefix) else (finished and not self._empty):
            broken += 1
        return broken + (self._still_owed(prefix) if finished else 0)

    def _still_owed(self, prefix: Sequence[int]) -> int:
        later = 0
        after_first: dict[int, int] = {}
        for a in reversed(prefix):
            after_first[a] = later
            later |= 1 << a
        return sum((self._owes[a] & ~then).bit_count() for a, then in after_first.items())


def _numbers(rows: NDArray[np.bool_]) -> list[int]:
    """Each row of a matrix as a whole number whose bits are its cells."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]
