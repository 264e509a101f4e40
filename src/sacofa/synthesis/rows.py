"""How noisy rows of a table are read: the mean of what each may have been.

A row is a number of cases spread over cells, seen through noise: values of an attribute, or bins of
a duration. What it may have been: the few cells that stand out and no other (for each number of
them), the shape that it would have if it were like all rows, all cells alike, and, where cells have
an order, neighbours together. Each is weighed by how well it explains what is seen (the noise is
Laplace's, so by the sum of distances) and by how much it had to be told (the number of its cells).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from .numerics import Floats, project_to_total


@dataclass(frozen=True, kw_only=True)
class RowTuning:
    """How noisy rows are read. A value without a stated reason is empirical: no derivation of it is
    known. Noise scales are those of the table in question, in cases."""

    row_passes: int = 2
    """How often what rows say one by one becomes what rows of few cases fall back on."""
    max_single_cells: int = 10
    """Up to this many cells stand out one by one; beyond that in steps."""
    near_factors: tuple[float, ...] = (0.9, 1.0, 1.1, 1.2)
    """Cases that a row may have, as factors of those it is expected to have."""
    rough_factors: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0, 1.2)
    """The same for one row of many."""
    rare_factors: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2)
    """The same while it is still to be found how often there is a value."""
    factor_spread: float = 0.8
    """Standard deviation of the logarithm of that factor."""
    min_cases: float = 1e-3
    """Cases, in noise scales, below which a row says nothing."""
    min_even_cells: int = 8
    """A row with no more cells than this is never read as all cells alike."""
    even_cost: float = 2.0
    """Cost of all cells alike, in noise scales."""
    empty_cost: float = 4.0
    """Cost of a row without cases although some are expected, in noise scales."""
    lean: float = 1.5
    """How much more a row of many is taken for its best explanation than for the mean."""
    cell_cost: float = 1.2
    """Cost of each cell, in noise scales, if all are read one by one."""
    stretch_cost: float = 1.3
    """Cost of each stretch of cells, if neighbours are read together."""
    window_widths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12)
    """Numbers of neighbours that are read together."""


TUNING = RowTuning()
"""The values of this version: releases with a seed depend on them."""
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
    ordered: tuple[int, int] = (0, 0)
    """The first of the cells that have an order, and the end of them."""
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
    numbers = list(range(1, min(cells, TUNING.max_single_cells) + 1))
    while numbers[-1] < cells:
        numbers.append(min(int(numbers[-1] * 1.3) + 1, cells))
    for many in numbers:
        shape = np.zeros(cells)
        shape[order[:many]] = project_to_total(seen[order[:many]], total)
        told.append((shape, float(each[order[:many]].sum())))
    if parent is not None:
        told.append((parent * total, 0.0))
    if cells > TUNING.min_even_cells:
        told.append((np.full(cells, total / cells), TUNING.even_cost))
    told.append((project_to_total(seen, total), TUNING.cell_cost * cells))
    told += _together(seen, total, slice(*prior.ordered))
    shapes = [shape for shape, _ in told]
    tolls = np.array([toll for _, toll in told])
    costs = np.abs(seen - np.array(shapes)).sum(axis=1) / noise + tolls
    mean = _mean(shapes, costs, prior.lean)
    return mean / mean.sum(), float(costs.min())


def _together(seen: Floats, total: float, ordered: slice) -> Iterator[tuple[Floats, float]]:
    """Neighbours together, and what that costs: each cell is the mean of those around it."""
    row, ones = seen[ordered], np.ones(len(seen[ordered]))
    for weights in WINDOWS:
        if len(row) > len(weights):
            smooth = np.maximum(seen, 0.0)
            smooth[ordered] = np.convolve(row, weights, "same") / np.convolve(ones, weights, "same")
            wide = weights.sum() ** 2 / (weights**2).sum()
            yield project_to_total(smooth, total), TUNING.stretch_cost * len(row) / wide


def estimate_rows(
    seen: Floats, many: Floats, noise: float, ordered: tuple[int, int], *, lean: float = 1.0,
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
