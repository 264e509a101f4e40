"""How noisy rows of a table are read: the mean of what each may have been.

A row is a number of cases spread over cells, seen through noise. What it may have been: the few
cells that stand out and no other (for each number of them), the shape that it would have if it were
like all rows, all cells alike, and, where cells have an order, neighbours together. Each is weighed
by how well it explains what is seen (the noise is Laplace's, so by the sum of distances) and by how
much it had to be told (the number of its cells).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from ..numerics import Floats, project_to_total
from .tuning import TUNING

WINDOWS = tuple(
    np.convolve(np.ones(width), np.ones(width)) if width > 1 else np.array([1.0, 2.0, 1.0])
    for width in TUNING.window_widths
)
"""How neighbours are weighed: less, the farther they are."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Prior:
    """What is known of a row before its noisy values."""

    parent: Floats | None = None
    """Shape of all rows; None if there is none to fall back on."""
    ordered: int = 0
    """Number of the first cells that have an order."""
    factors: tuple[float, ...] = TUNING.near_factors
    """Cases that the row may have, as factors of those it is said to have."""
    lean: float = 1.0
    """Above 1, how much the result leans towards the best explanation."""
    may_be_empty: bool = True
    """Whether the row may have no cases at all."""


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
    shapes, costs = [], []
    for part in prior.factors:
        shape, cost = _estimate(seen, total * part, noise, prior)
        shapes.append(shape)
        costs.append(cost + log(part) ** 2 / (2 * TUNING.factor_spread**2))
    if prior.parent is not None and prior.may_be_empty:
        shapes.append(prior.parent)
        costs.append(float(np.abs(seen).sum()) / noise + TUNING.empty_cost)
    return _mean(shapes, np.array(costs), prior.lean), min(costs)


def _mean(shapes: list[Floats], costs: Floats, lean: float) -> Floats:
    """The mean of shapes, each weighed by how well it explains what is seen."""
    belief = np.exp(-lean * (costs - costs.min()))
    mixed: Floats = belief @ np.array(shapes) / belief.sum()
    return mixed


def _estimate(seen: Floats, total: float, noise: float, prior: Prior) -> tuple[Floats, float]:
    """The same, of a row that has exactly this number of cases."""
    cells, parent = len(seen), prior.parent
    even = np.full(cells, 1.0 / cells)
    if total <= TUNING.min_cases * noise:
        return even if parent is None else parent, float(np.abs(seen).sum()) / noise
    # What is common elsewhere takes less telling than what is rare.
    each = np.full(cells, np.log(cells + 1.0))
    if parent is not None:
        each = -np.log((parent + 1.0 / cells) / 2)
    # Stable, so that what is equal goes by its place.
    order = np.argsort(-(seen - noise * each), kind="stable")
    told: list[tuple[Floats, float]] = []
    for many in _numbers(cells):
        shape = np.zeros(cells)
        shape[order[:many]] = project_to_total(seen[order[:many]], total)
        told.append((shape, float(each[order[:many]].sum())))
    if parent is not None:
        told.append((parent * total, 0.0))
    if cells > TUNING.min_even_cells:
        told.append((np.full(cells, total / cells), TUNING.even_cost))
    told.append((project_to_total(seen, total), TUNING.cell_cost * cells))
    told += _together(seen, total, prior.ordered)
    shapes = [shape for shape, _ in told]
    tolls = np.array([toll for _, toll in told])
    costs = np.abs(seen - np.array(shapes)).sum(axis=1) / noise + tolls
    mean = _mean(shapes, costs, prior.lean)
    return mean / mean.sum(), float(costs.min())


def _numbers(cells: int) -> list[int]:
    """Numbers of cells that may stand out."""
    few = list(range(1, min(cells, TUNING.max_single_cells) + 1))
    while few[-1] < cells:
        few.append(min(int(few[-1] * 1.3) + 1, cells))
    return few


def _together(seen: Floats, total: float, ordered: int) -> Iterator[tuple[Floats, float]]:
    """Neighbours together, and what that costs: each cell is the mean of those around it."""
    for weights in WINDOWS:
        if ordered > len(weights):
            smooth = np.maximum(seen, 0.0)
            within = np.convolve(np.ones(ordered), weights, "same")[:ordered]
            smooth[:ordered] = np.convolve(seen[:ordered], weights, "same")[:ordered] / within
            wide = weights.sum() ** 2 / (weights**2).sum()
            yield project_to_total(smooth, total), TUNING.stretch_cost * ordered / wide


def estimate_rows(
    seen: Floats, many: Floats, noise: float, ordered: int, *, lean: float = 1.0,
    decides: bool = False,
) -> tuple[Floats, float]:  # fmt: skip
    """The shares of every row, with all rows together to fall back on; and the cost of it.

    Where the cost `decides` which rows there are, one look is enough, and none may be empty.
    """
    there = many > 0
    whole, cost = estimate(
        seen[there].sum(axis=0),
        float(many.sum()),
        noise * np.sqrt(max(int(there.sum()), 1)),
        Prior(ordered=ordered, factors=TUNING.rare_factors if decides else TUNING.near_factors),
    )
    shares = np.tile(whole, (len(seen), 1))
    if there.sum() <= 1:
        # All cases are in it, and how many that are is known.
        return shares, float(np.abs(seen[~there]).sum()) / noise + cost
    for again in range(1 if decides else TUNING.row_passes):
        if again:
            # What rows say one by one is less noisy than their sum.
            whole = many @ shares / many.sum()
        prior = Prior(
            parent=whole, ordered=ordered, factors=TUNING.rough_factors, lean=lean,
            may_be_empty=not decides,
        )  # fmt: skip
        cost = 0.0
        for row in range(len(seen)):
            if there[row]:
                shares[row], one = estimate(seen[row], float(many[row]), noise, prior)
            else:
                one = float(np.abs(seen[row]).sum()) / noise
            cost += one
    shares[~there] = whole
    return shares, cost
