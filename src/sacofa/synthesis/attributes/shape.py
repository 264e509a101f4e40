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
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WINDOWS = tuple(
    np.convolve(np.ones(width), np.ones(width)) if width > 1 else np.array([1.0, 2.0, 1.0])
    for width in TUNING.window_widths
)
"""How neighbours are weighed: less, the farther they are."""


def estimate(
    seen: Floats,
    total: float,
    noise: float,
    *,
    parent: Floats | None = None,
    ordered: int = 0,
    parts: tuple[float, ...] = TUNING.near_factors,
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
        cost + log(part) ** 2 / (2 * TUNING.factor_spread**2)
        for (_, cost), part in zip(found, parts, strict=True)
    ]
    if parent is not None and empty:
        shapes.append(parent)
        costs.append(float(np.abs(seen).sum()) / noise + TUNING.empty_cost)
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
    if total <= TUNING.min_cases * noise:
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
    if cells > TUNING.min_even_cells:
        shapes.append(np.full(cells, total / cells))
        tolls.append(TUNING.even_cost)
    shapes.append(project_to_total(seen, total))
    tolls.append(TUNING.cell_cost * cells)
    for weights in WINDOWS:
        if ordered > len(weights):
            shapes.append(_together(seen, total, ordered, weights))
            wide = weights.sum() ** 2 / (weights**2).sum()
            tolls.append(TUNING.stretch_cost * ordered / wide)
    every = np.array(shapes)
    cost = np.abs(seen - every).sum(axis=1) / noise + np.array(tolls)
    mean = _mean(every, cost, sure)
    return mean / mean.sum(), float(cost.min())


def _numbers(cells: int) -> list[int]:
    few = list(range(1, min(cells, TUNING.max_single_cells) + 1))
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
