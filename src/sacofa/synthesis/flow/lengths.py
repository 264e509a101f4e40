"""Where cases are cut if nobody says: chosen from a noisy histogram of lengths.

The rest of the mechanism hardly cares (a case has one vote, however long it is): rough is enough.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..thresholds import smallest_threshold

Ints = NDArray[np.int64]

CUT = Fraction(2, 100)
"""The part of the cases that may be longer than the chosen length."""
FALSE, FAR_FALSE = Fraction(1, 200), Fraction(1, 20_000)
"""How many empty bins may look filled, expected; and of those far beyond all others that do."""
MARGIN = 3
"""So many bins are added: noise hides the few cases that are longest."""
HIDDEN = Fraction(1, 4)
"""If noise hides the lengths of a larger part of the cases, they may well be longer than others."""
UNSEEN = 30
"""The choice where noise hides all lengths, and the least where it hides many."""


def bin_edges(longest: int) -> list[int]:
    """The upper ends of the bins of lengths, each half as long again, up to a public bound."""
    edges = [1]
    while edges[-1] < longest:
        edges.append(min(longest, edges[-1] + (edges[-1] + 1) // 2))
    return edges


def choose_length(edges: list[int], votes: Ints, epsilon: Fraction, cases: int) -> tuple[int, bool]:
    """Choose the smallest upper end that few enough cases exceed, as far as noise lets one see.

    Bins whose votes noise alone could explain count as empty. MARGIN bins are added for what it
    hides. Where it hides the lengths of too many of so many cases, the choice is no smaller than
    where nothing is seen. Tell also whether that was what decided.
    """
    seen = _seen(edges, votes, epsilon)
    shown = int(seen.sum())
    longer = shown - np.cumsum(seen)
    enough = longer * CUT.denominator <= shown * CUT.numerator
    chosen = edges[min(int(enough.argmax()) + MARGIN, len(edges) - 1)]
    hidden = (cases - shown) * HIDDEN.denominator > cases * HIDDEN.numerator
    if not shown or (hidden and chosen < unseen_length(edges)):
        return unseen_length(edges), True
    return chosen, False


def known_length(longest: int) -> int | None:
    """The length that is chosen whatever is answered; None: that depends on the answer."""
    # So few bins are all within the margin of the first.
    return longest if len(bin_edges(longest)) <= MARGIN + 1 and longest <= UNSEEN else None


def mean_length(edges: list[int], votes: Ints, epsilon: Fraction) -> float | None:
    """The mean of the lengths that stand out from noise; None where none does."""
    seen = _seen(edges, votes, epsilon)
    return float(np.average(edges, weights=seen)) if seen.any() else None


def unseen_length(edges: list[int]) -> int:
    """The choice where noise hides all lengths, or would hide them."""
    return min(UNSEEN, edges[-1])


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
