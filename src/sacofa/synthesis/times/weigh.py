"""Weights for courses of time, so that all answers hold at once.

Of all weights that explain the answers, those nearest to the ones the courses were drawn with
(least relative entropy): they are a product of one factor for each cell that a course votes for.
Every cell may be off by its noise. The factors are found by climbing the dual, which is smooth and
concave, with L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics import add_up, minimize_convex
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Votes:
    """What the courses vote for."""

    course: Ints
    """Who votes, in any order; each course has at least one vote."""
    cell: Ints
    """For which cell of all tables."""
    part: Floats
    """With which part of a vote."""

    def by_course(self) -> Votes:
        """The same votes, those of a course together."""
        order = np.argsort(self.course, kind="stable")
        return Votes(self.course[order], self.cell[order], self.part[order])


def weigh(
    votes: Votes,
    group: Ints,
    sizes: Ints,
    target: Floats,
    noise: Floats,
    start: Floats,
    off: float,
) -> Floats:
    """Weigh courses so that those of a group add up to its size and votes come near the target.

    Groups are in order, none is empty; `start` are logarithms of weights to begin with. The climb
    ends about so far `off` its top, in logarithms of how well the answers are explained.
    """
    courses = len(group)
    if not courses:
        return np.zeros(0)
    votes = votes.by_course()
    first_votes = np.flatnonzero(np.diff(votes.course, prepend=-1))
    each = np.empty(len(votes.cell))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    width = np.diff(starts, append=courses)

    def weights(factors: Floats) -> tuple[Floats, Floats]:
        # All cells are there; to be told so, instead of looking again, takes half the time.
        np.take(factors, votes.cell, mode="clip", out=each)
        np.multiply(each, votes.part, out=each)
        lift = start + np.add.reduceat(each, first_votes)
        top = np.maximum.reduceat(lift, starts)
        lifted = np.exp(lift - np.repeat(top, width))
        sums = np.add.reduceat(lifted, starts)
        return lifted * np.repeat(sizes / sums, width), top + np.log(sums / width)

    def value(factors: Floats) -> tuple[float, Floats]:
        found, logs = weights(factors)
        np.take(found, votes.course, mode="clip", out=each)
        np.multiply(each, votes.part, out=each)
        told = add_up(votes.cell, each, len(target))
        slack = noise**2 * factors
        loss = float(sizes @ logs - factors @ target + 0.5 * (slack @ factors))
        return loss, told - target + slack

    # Cells with little noise and many votes bend the slope most: reckon in units in which all bend
    # alike.
    told = value(np.zeros(len(target)))[1] + target
    unit = 1.0 / np.sqrt(noise**2 + np.maximum(target, told) + 1e-9)
    best = minimize_convex(
        lambda x: _scaled(value, x, unit),
        np.zeros(len(target)),
        least_gain=off,
        max_rounds=TUNING.max_weighing_rounds,
    )
    return weights(best * unit)[0]


def _scaled(
    value: Callable[[Floats], tuple[float, Floats]], x: Floats, unit: Floats
) -> tuple[float, Floats]:
    loss, slope = value(x * unit)
    return loss, slope * unit
