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

from .histogram import add_up

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MEMORY = 8
"""How many steps back the climb remembers."""


@dataclass(frozen=True, eq=False)
class Votes:
    """What the courses vote for."""

    course: Ints
    """Who votes; courses in order."""
    cell: Ints
    """For which cell of all tables."""
    part: Floats
    """With which part of a vote."""


def weigh(
    votes: Votes,
    group: Ints,
    sizes: Ints,
    target: Floats,
    noise: Floats,
    steps: int,
    start: Floats,
) -> Floats:
    """Weigh courses so that those of a group add up to its size and votes come near the target.

    Groups are in order, none is empty; `start` are logarithms of weights to begin with.
    """
    courses = len(group)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    width = np.diff(starts, append=courses)

    def weights(factors: Floats) -> tuple[Floats, Floats]:
        lift = start + add_up(votes.course, factors[votes.cell] * votes.part, courses)
        top = np.maximum.reduceat(lift, starts)
        lifted = np.exp(lift - np.repeat(top, width))
        sums = np.add.reduceat(lifted, starts)
        return lifted * np.repeat(sizes / sums, width), top + np.log(sums / width)

    def value(factors: Floats) -> tuple[float, Floats]:
        found, logs = weights(factors)
        told = add_up(votes.cell, found[votes.course] * votes.part, len(target))
        slack = noise**2 * factors
        loss = float(sizes @ logs - factors @ target + 0.5 * (slack @ factors))
        return loss, told - target + slack

    if not courses:
        return np.zeros(0)
    # Cells with little noise bend the slope most: reckon in units in which all bend alike.
    unit = 1.0 / np.sqrt(noise**2 + target + 1e-9)
    best = climb(lambda x: _scaled(value, x, unit), np.zeros(len(target)), steps)
    return weights(best * unit)[0]


def _scaled(
    value: Callable[[Floats], tuple[float, Floats]], x: Floats, unit: Floats
) -> tuple[float, Floats]:
    loss, slope = value(x * unit)
    return loss, slope * unit


def climb(value: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int) -> Floats:
    """Find the least value of a smooth convex function (L-BFGS, steps halved until they help)."""
    loss, slope = value(x)
    past: list[tuple[Floats, Floats, float]] = []
    for _ in range(steps):
        way = -_direction(slope, past)
        along = float(way @ slope)
        if along >= -1e-9 * max(1.0, abs(loss)):
            break
        size = 1.0 if past else min(1.0, 1.0 / max(float(np.abs(slope).max()), 1e-12))
        for _ in range(30):
            new = x + size * way
            new_loss, new_slope = value(new)
            if new_loss <= loss + 1e-4 * size * along:
                break
            size /= 2
        else:
            break
        moved, turned = new - x, new_slope - slope
        curve = float(moved @ turned)
        if curve > 1e-12:
            past = [*past[-MEMORY + 1 :], (moved, turned, 1.0 / curve)]
        x, loss, slope = new, new_loss, new_slope
    return x


def _direction(slope: Floats, past: list[tuple[Floats, Floats, float]]) -> Floats:
    way, lifts = slope.copy(), []
    for moved, turned, rate in reversed(past):
        lift = rate * float(moved @ way)
        lifts.append(lift)
        way = way - lift * turned
    if past:
        moved, turned, rate = past[-1]
        way = way / (rate * float(turned @ turned))
    for (moved, turned, rate), lift in zip(past, reversed(lifts), strict=True):
        way = way + moved * (lift - rate * float(turned @ way))
    return way
