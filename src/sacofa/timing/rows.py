"""Rows of duration bins told from noise, where there are too few votes to take them as they are.

A thin row is compared with many shapes that a duration may have: one hump, narrow or wide, with or
without a share of zeros, and the rows of all activities, or of those into the same, taken together.
Each shape is weighed by how well it explains the noisy votes (the noise is Laplace's, so this is
its likelihood), and the weighted mean is what a thin row is taken for. The more votes a row has,
the more it is taken as it is.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..queries.durations import bins, edges
from .histogram import add_up, project
from .pool import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDTHS = (0.7, 1.5, 3.0)
"""How wide humps are, in doublings."""
ZEROS = (0.0, 0.15, 0.35, 0.6, 0.85, 0.97)
"""Shares of zeros."""
MASSES = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.4)
"""How many votes a row may have, times those that the released flow would give."""
TRUST = 2.0
"""A row and its shape weigh the same where the row has so many noise scales of votes."""


@cache
def humps() -> Floats:
    """One row of shares on the lowest rung for each shape."""
    inner = np.log2(np.array(edges(0)[1:]) / 1e6)
    middles = (inner[1:] + inner[:-1]) / 2
    shapes = []
    for width in WIDTHS:
        for middle in (inner[0], *middles):
            # Logistic humps: close to normal ones, and their sums are known in closed form.
            below = 1.0 / (1.0 + np.exp(-(inner - middle) / (0.55 * width)))
            hump = np.diff(below)
            for zeros in ZEROS:
                shapes.append(np.concatenate([[zeros], (1 - zeros) * hump / hump.sum()]))
    return np.array(shapes)


def to_lowest(table: Table) -> Ints:
    """The bin on the lowest rung that each cell lies in."""
    inner = np.array(edges(0)[1:-1]) / 1e6
    return inner.searchsorted(table.low * (1 + 1e-9) + 1e-9, side="right")


def estimate(
    table: Table,
    noisy: Floats,
    noise: float,
    votes: Floats,
    kin: Ints,
    top: float,
    trust: float = TRUST,
) -> Floats:
    """Shares of the cells of each row; `kin` are the rows taken together, `top` the longest."""
    low = to_lowest(table)
    row = np.repeat(np.arange(len(table.rungs)), np.diff(table.starts))
    width = bins(0)
    seen = add_up(row * width + low, noisy, len(table.rungs) * width).reshape(-1, width)
    finer = np.bincount(row * width + low, minlength=len(table.rungs) * width).reshape(-1, width)
    known = np.array(edges(0)[:-1]) / 1e6 < top
    seen[:, ~known] = 0.0
    taken = _together(seen, votes, noise, known)
    groups = np.array([_together(seen[kin == k], votes[kin == k], noise, known) for k in kin])
    shares = np.zeros(len(noisy))
    for r in range(len(table.rungs)):
        here = slice(int(table.starts[r]), int(table.starts[r + 1]))
        shape = _shape(seen[r], noise, votes[r], known, np.array([taken, groups[r]]))
        spread = (shape / np.maximum(finer[r], 1))[low[here]]
        fits = known[low[here]]
        own = np.zeros(len(spread))
        own[fits] = project(noisy[here][fits], max(float(votes[r]), noise))
        own /= own.sum()
        part = trust * noise / (trust * noise + votes[r])
        mixed = (1 - part) * own + part * spread
        shares[here] = mixed / mixed.sum()
    return shares


def _together(seen: Floats, votes: Floats, noise: float, known: NDArray[np.bool_]) -> Floats:
    whole = np.zeros(seen.shape[1])
    whole[known] = project(seen.sum(axis=0)[known], max(float(votes.sum()), noise))
    shares: Floats = whole / whole.sum()
    return shares


def _shape(
    seen: Floats, noise: float, votes: float, known: NDArray[np.bool_], shared: Floats
) -> Floats:
    """The mean of all shapes, weighed by how well they explain a row."""
    hump = humps() * known
    shapes = np.concatenate([hump / np.maximum(hump.sum(axis=1, keepdims=True), 1e-9), shared])
    fair = hump.sum(axis=1) > 0.5
    # Half of the belief beforehand is that a row is like others.
    prior = np.concatenate([np.where(fair, 0.5 / fair.sum(), 0.0), np.full(len(shared), 0.25)])
    masses = np.array(MASSES) * votes
    off = np.abs(seen - masses[:, None, None] * shapes).sum(axis=2) / noise
    away = -off + np.log(np.maximum(prior, 1e-300)) - (np.log(MASSES) ** 2)[:, None] / 0.3
    weights = np.exp(away - away.max()).sum(axis=0)
    mean: Floats = weights @ shapes / weights.sum()
    return mean
