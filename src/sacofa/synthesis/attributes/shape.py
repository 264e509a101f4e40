"""How a noisy row of a table is read: the mean of what it may have been.

A row is a number of cases spread over cells, seen through noise. What it may have been: the few
cells that stand out and no other (for each number of them), the shape that it would have if it were
like all rows, all cells alike, and, where cells have an order, neighbours together. Each is weighed
by how well it explains what is seen (the noise is Laplace's, so by the sum of distances) and by how
much it had to be told (so many cells). Post-processing: nothing but noisy values is looked at.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from ..numerics import project_to_total

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 10
"""Up to so many cells may stand out one by one; beyond that, numbers of them in steps."""
NEARLY = (0.9, 1.0, 1.1, 1.2)
"""What part of the cases that a row is said to have it may have, if that is all of them."""
ROUGHLY = (0.4, 0.6, 0.8, 1.0, 1.2)
"""The same, of one row of many."""
SELDOM = (0.05, 0.1, 0.2, 0.3, *ROUGHLY)
"""The same, where it is still to be found how often there is a value."""
SPREAD = 0.8
"""How far off the number of cases of a row is, as a logarithm."""
LITTLE = 1e-3
"""A row of fewer cases, in noise scales, says nothing."""
FEW = 8
"""Up to so many cells are told one by one, not as all alike."""
EVEN = 2.0
"""What it costs, in noise scales, that all cells are alike."""
NOTHING = 4.0
"""What it costs that a row has no cases at all, though it is said to; it is then like all rows."""
SURE = 1.5
"""How much more one row of many is taken for what it most likely was than for the mean."""
ALL_TOLD = 1.2
"""What each cell costs, in noise scales, where all are told one by one."""
TOGETHER = 1.3
"""What each stretch of cells costs, where neighbours are taken together."""
WINDOWS = tuple(
    np.convolve(np.ones(width), np.ones(width)) if width > 1 else np.array([1.0, 2.0, 1.0])
    for width in (1, 2, 3, 4, 6, 8, 12)
)
"""How neighbours are weighed: less, the farther they are."""


def estimate(
    seen: Floats,
    total: float,
    noise: float,
    *,
    parent: Floats | None = None,
    ordered: int = 0,
    parts: tuple[float, ...] = NEARLY,
    sure: float = 1.0,
    empty: bool = True,
) -> tuple[Floats, float]:
    """The shares of the cells of a row of `total` cases, and how badly it is explained.

    `parent` is the shape of all rows; the first `ordered` cells have an order. `parts` of `total`
    are what the row may really have, or none at all where it may be `empty`. Above 1, `sure` leans
    towards the best explanation.
    """
    found = [_estimate(seen, total * part, noise, parent, ordered, sure) for part in parts]
    shapes = [shape for shape, _ in found]
    costs = [
        cost + log(part) ** 2 / (2 * SPREAD**2)
        for (_, cost), part in zip(found, parts, strict=True)
    ]
    if parent is not None and empty:
        shapes.append(parent)
        costs.append(float(np.abs(seen).sum()) / noise + NOTHING)
    return _mean(np.array(shapes), np.array(costs), sure), min(costs)


def _mean(shapes: Floats, costs: Floats, sure: float) -> Floats:
    """The mean of shapes, each weighed by how well it explains what is seen."""
    belief = np.exp(-sure * (costs - costs.min()))
    mixed: Floats = belief @ shapes / belief.sum()
    return mixed


def _estimate(
    seen: Floats, total: float, noise: float, parent: Floats | None, ordered: int, sure: float
) -> tuple[Floats, float]:
    """The same, of a row that has just so many cases."""
    cells = len(seen)
    if total <= LITTLE * noise:
        shape = np.full(cells, 1.0 / cells) if parent is None else parent
        return shape, float(np.abs(seen).sum()) / noise
    toll = np.log(cells + 1.0)
    shapes, tolls = [], []
    # What is common elsewhere takes less telling than what is rare.
    each = np.full(cells, toll)
    if parent is not None:
        each = -np.log((parent + 1.0 / cells) / 2)
    # Stable, so that what is equal goes by its place.
    order = np.argsort(-(seen - noise * each), kind="stable")
    for many in _numbers(cells):
        shapes.append(_standing_out(seen, total, order[:many]))
        tolls.append(float(each[order[:many]].sum()))
    if parent is not None:
        shapes.append(parent * total)
        tolls.append(0.0)
    if cells > FEW:
        shapes.append(np.full(cells, total / cells))
        tolls.append(EVEN)
    shapes.append(project_to_total(seen, total))
    tolls.append(ALL_TOLD * cells)
    for weights in WINDOWS:
        if ordered > len(weights):
            shapes.append(_together(seen, total, ordered, weights))
            wide = weights.sum() ** 2 / (weights**2).sum()
            tolls.append(TOGETHER * ordered / wide)
    every = np.array(shapes)
    cost = np.abs(seen - every).sum(axis=1) / noise + np.array(tolls)
    mean = _mean(every, cost, sure)
    return mean / mean.sum(), float(cost.min())


def _numbers(cells: int) -> list[int]:
    few = list(range(1, min(cells, MOST) + 1))
    while few[-1] < cells:
        few.append(min(int(few[-1] * 1.3) + 1, cells))
    return few


def _standing_out(seen: Floats, total: float, top: Ints) -> Floats:
    shape = np.zeros(len(seen))
    shape[top] = project_to_total(seen[top], total)
    return shape


def _together(seen: Floats, total: float, ordered: int, weights: Floats) -> Floats:
    """Neighbours together: each cell is the mean of those around it."""
    smooth = np.maximum(seen, 0.0)
    within = np.convolve(np.ones(ordered), weights, "same")[:ordered]
    smooth[:ordered] = np.convolve(seen[:ordered], weights, "same")[:ordered] / within
    return project_to_total(smooth, total)
