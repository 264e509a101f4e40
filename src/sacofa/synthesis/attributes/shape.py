"""How a noisy row of a table is read: the mean of what it may have been.

A row is a number of cases spread over cells, seen through noise. What it may have been: the few
cells that stand out and no other (for each number of them), the shape that it would have if it were
like all rows, all cells alike, and, where cells have an order, neighbours together. Each is weighed
by how well it explains what is seen (the noise is Laplace's, so by the sum of distances) and by how
much it had to be told (so many cells). Post-processing: nothing but noisy values is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Prior:
    """What is known of a row before its noisy values.

    Attributes:
        parent: Shape of all rows; None if there is none to fall back on.
        ordered: Number of the first cells that have an order.
        factors: Cases that the row may have, as factors of those it is said to have.
        lean: Above 1, how much the result leans towards the best explanation.
        may_be_empty: Whether the row may have no cases at all.
    """

    parent: Floats | None = None
    ordered: int = 0
    factors: tuple[float, ...] = TUNING.near_factors
    lean: float = 1.0
    may_be_empty: bool = True


def estimate(seen: Floats, total: float, noise: float, prior: Prior) -> tuple[Floats, float]:
    """Estimate the shares of the cells of a row.

    Args:
        seen: Noisy cases of each cell.
        total: Cases that the row is said to have.
        noise: Scale of the noise on a cell, in cases.
        prior: What else is known of the row.

    Returns:
        The shares, and how badly they explain what is seen.
    """
    found = [_estimate(seen, total * part, noise, prior) for part in prior.factors]
    shapes = [shape for shape, _ in found]
    costs = [
        cost + log(part) ** 2 / (2 * TUNING.factor_spread**2)
        for (_, cost), part in zip(found, prior.factors, strict=True)
    ]
    if prior.parent is not None and prior.may_be_empty:
        shapes.append(prior.parent)
        costs.append(float(np.abs(seen).sum()) / noise + TUNING.empty_cost)
    return _mean(np.array(shapes), np.array(costs), prior.lean), min(costs)


def _mean(shapes: Floats, costs: Floats, lean: float) -> Floats:
    """The mean of shapes, each weighed by how well it explains what is seen."""
    belief = np.exp(-lean * (costs - costs.min()))
    mixed: Floats = belief @ shapes / belief.sum()
    return mixed


def _estimate(seen: Floats, total: float, noise: float, prior: Prior) -> tuple[Floats, float]:
    """The same, of a row that has just so many cases."""
    cells, parent = len(seen), prior.parent
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
        if prior.ordered > len(weights):
            shapes.append(_together(seen, total, prior.ordered, weights))
            wide = weights.sum() ** 2 / (weights**2).sum()
            tolls.append(TUNING.stretch_cost * prior.ordered / wide)
    every = np.array(shapes)
    cost = np.abs(seen - every).sum(axis=1) / noise + np.array(tolls)
    mean = _mean(every, cost, prior.lean)
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
