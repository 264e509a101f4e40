"""Where cases are cut if nobody says: chosen from a noisy histogram of lengths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...privacy.exact import smallest_threshold

Ints = NDArray[np.int64]

CUT = Fraction(5, 100)
"""The part of the cases that may be longer than the chosen length."""
FINE = 10
"""Up to this length every length has a bin of its own; above it, bins grow by a fifth."""


def bin_edges(longest: int) -> list[int]:
    """The upper ends of the bins of lengths up to the public upper bound."""
    edges = list(range(1, min(FINE, longest) + 1))
    while edges[-1] < longest:
        edges.append(min(longest, edges[-1] + edges[-1] // 5))
    return edges


def choose_length(edges: list[int], votes: Ints, epsilon: Fraction) -> int:
    """Choose the smallest upper end that few enough cases exceed, as far as noise lets one see.

    Bins whose votes noise alone could explain count as empty; if all are, the fullest decides.
    """
    seen = np.where(votes >= smallest_threshold(epsilon, len(edges), Fraction(1, 2)), votes, 0)
    if not seen.any():
        return edges[int(votes.argmax())]
    longer = seen.sum() - np.cumsum(seen)
    enough = longer * CUT.denominator <= int(seen.sum()) * CUT.numerator
    return edges[int(enough.argmax())]
