"""The numbers of cases that explain all answers where hardly two cases are alike.

There a few representatives with many cases each do not explain the answers, however their numbers
are fitted. So the cases that voted for a candidate are shared out among thousands of draws, each to
those that are nearest to it; and the numbers that explain all answers are those that stray from
that least, in relative entropy: each is multiplied by what its cells lack or have too much of, so
that all keep their part. How strongly they are held to the start is lowered until what is left
unexplained is what noise explains, as in module `fit`.

Floating-point numbers are no danger here: all of this reads noisy answers only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids
from .evidence import Evidence, Nearest, System

Floats = NDArray[np.float64]

LEAST = 1e-3
"""This part of the votes is given to all draws alike: what has no case cannot be multiplied."""
HOLDS = (64.0, 16.0, 4.0, 1.0, 0.25, 0.0625)
"""What a case that moves by one unit of entropy costs, in squares of noise scales left unexplained:
tried from strong to weak."""
NONE = 1e-9
"""So few cases are none; but less could not be multiplied."""
SETTLED = 16.0
"""How strongly numbers are held that are fitted already."""
ENOUGH = 0.7
"""What may be left of the noise's squares: a fit explains some noise as well."""
GAIN = 1.01
"""A weaker hold that explains no more than by this factor is not taken."""
ROUNDS = 80
"""The solver goes so many rounds for each hold, at most."""
MEMORY = 15
"""So many rounds tell it how the slope bends."""
HALVINGS = 20
"""A round that leads uphill is halved so often, at most."""
ARMIJO = 1e-4
FLAT = 1e-7
"""If a round gains less of the value, it was the last."""
MOST = 30.0
"""No number is multiplied by more than e to this power, whatever is tried on the way."""


def share_out(
    drawn: Mapping[Ids, int], candidates: Nearest, votes: Floats, cases: int
) -> dict[Ids, float]:
    """Give the votes of each candidate to the draws nearest to it, as often as each was drawn.

    They add up to so many cases, and none gets nothing at all.
    """
    times = np.array(list(drawn.values()), dtype=np.float64)
    places = np.array(candidates.places(list(drawn)), dtype=np.int64)
    near = np.bincount(places, weights=times, minlength=len(votes))
    shares = votes[places] * times / near[places]
    # Of noise that leaves nobody a vote, everybody gets the same.
    shares += max(LEAST * shares.sum(), 1.0) / len(shares)
    shares *= cases / shares.sum()
    return dict(zip(drawn, shares.tolist(), strict=True))


def smooth(evidence: Evidence, start: Mapping[Ids, float]) -> dict[Ids, float]:
    """Find the numbers of cases nearest to a start, all above 0, that explain the answers."""
    system = evidence.system(list(start))
    begin = np.array(list(start.values()))
    prices = np.zeros(len(system.answers))
    weights, misfit = begin, system.misfit(begin)
    for hold in HOLDS:
        if misfit <= ENOUGH * system.expected:
            break
        prices, tried = _held(system, begin, hold, prices)
        left = system.misfit(tried)
        if left * GAIN > misfit:
            break
        weights, misfit = tried, left
    return dict(zip(start, weights.tolist(), strict=True))


def settle(
    evidence: Evidence, fitted: Mapping[Ids, float], left: Iterable[Ids]
) -> dict[Ids, float]:
    """Give the cases of sequences that were dropped to those that are left.

    In proportion, but where that would leave out what the answers surely ask for, as lengths that
    the dropped ones had. A whole fit would explain by others what was dropped as noise.
    """
    kept = {ids: fitted[ids] for ids in left}
    system = evidence.system(list(kept))
    begin = np.maximum(np.array(list(kept.values())), NONE)
    begin *= sum(fitted.values()) / begin.sum()
    _, weights = _held(system, begin, SETTLED, np.zeros(len(system.answers)))
    return dict(zip(kept, weights.tolist(), strict=True))


def _held(system: System, begin: Floats, hold: float, prices: Floats) -> tuple[Floats, Floats]:
    """The best prices of what is added to each cell, for a hold, and the numbers of cases at them.

    The prices are those that make least a convex function without bounds (the dual problem), which
    is far easier than to look for the numbers themselves.
    """

    def moved(prices: Floats) -> Floats:
        result: Floats = begin * np.exp(np.minimum(system.along(prices), MOST))
        return result

    def dual(prices: Floats) -> tuple[float, Floats]:
        weights = moved(prices)
        value = weights.sum() + hold / 2 * (prices @ prices) - prices @ system.answers
        return float(value), system.given(weights) + hold * prices - system.answers

    best = minimize(dual, prices)
    return best, moved(best)


def minimize(function: Callable[[Floats], tuple[float, Floats]], point: Floats) -> Floats:
    """Go down a smooth convex function with a limited memory of how its slope bends (L-BFGS)."""
    value, slope = function(point)
    memory: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(ROUNDS):
        way = -_bent(slope, memory)
        down = float(slope @ way)
        if down >= 0:
            break
        # Nothing is known of the bend at first: a short step.
        length = 1.0 if memory else 1.0 / max(float(np.sqrt(slope @ slope)), 1.0)
        for _ in range(HALVINGS):
            new, bent = function(point + length * way)
            if new <= value + ARMIJO * length * down:
                break
            length /= 2
        else:
            break
        step, change = length * way, bent - slope
        if step @ change > 0:
            memory.append((step, change))
        gained = value - new
        point, value, slope = point + step, new, bent
        if gained <= FLAT * max(abs(value), 1.0):
            break
    return point


def _bent(slope: Floats, memory: deque[tuple[Floats, Floats]]) -> Floats:
    """The slope, divided by how it bends as far as that is known (Nocedal, 1980)."""
    result = slope.copy()
    parts: list[float] = []
    for step, change in reversed(memory):
        parts.append(float(step @ result) / float(step @ change))
        result -= parts[-1] * change
    if memory:
        step, change = memory[-1]
        result *= float(step @ change) / float(change @ change)
    for (step, change), part in zip(memory, reversed(parts), strict=True):
        result += (part - float(change @ result) / float(step @ change)) * step
    return result
