"""Where cases are cut if nobody says: chosen from a noisy histogram of lengths.

The rest of the mechanism hardly cares (a case has one vote, however long it is): rough is enough.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...privacy.reals import smallest_threshold

Ints = NDArray[np.int64]

CUT = Fraction(2, 100)
"""The part of the cases that may be longer than the chosen length."""
FALSE, FAR_FALSE = Fraction(1, 200), Fraction(1, 20_000)
"""How many empty bins may look filled, expected; and of those far beyond all others that do."""
MARGIN = 2
"""So many bins are added: noise hides the few cases that are longest."""
UNSEEN = 30
"""The choice where noise hides all lengths."""


def bin_edges(longest: int) -> list[int]:
    """The upper ends of the bins of lengths, each half as long again, up to a public bound."""
    edges = [1]
    while edges[-1] < longest:
        edges.append(min(longest, edges[-1] + (edges[-1] + 1) // 2))
    return edges


def choose_length(edges: list[int], votes: Ints, epsilon: Fraction) -> int:
    """Choose the smallest upper end that few enough cases exceed, as far as noise lets one see.

    Bins whose votes noise alone could explain count as empty. MARGIN bins are added for what it
    hides.
    """
    seen = _seen(edges, votes, epsilon)
    if not seen.any():
        return unseen_length(edges)
    longer = seen.sum() - np.cumsum(seen)
    enough = longer * CUT.denominator <= int(seen.sum()) * CUT.numerator
    return edges[min(int(enough.argmax()) + MARGIN, len(edges) - 1)]


def unseen_length(edges: list[int]) -> int:
    """The choice where noise hides all lengths, or would hide them."""
    return min(UNSEEN, edges[-1])


def is_fallback(edges: list[int], votes: Ints, epsilon: Fraction) -> bool:
    """Whether noise hides all lengths, so that the choice is not made of them."""
    return not _seen(edges, votes, epsilon).any()


def _seen(edges: list[int], votes: Ints, epsilon: Fraction) -> Ints:
    """The votes of bins that stand out from noise.

    A false bin of cases a hundred times as long would ruin the release: it takes more to believe
    in lengths that leave out several bins.
    """
    near, far = (smallest_threshold(epsilon, len(edges), false) for false in (FALSE, FAR_FALSE))
    seen = np.where(votes >= near, votes, 0)
    last = int(votes.argmax())
    for i in range(last + 1, len(votes)):
        if i - last > MARGIN + 1 and votes[i] < far:
            seen[i] = 0
        if seen[i]:
            last = i
    return seen
