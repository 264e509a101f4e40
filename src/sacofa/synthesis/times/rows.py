"""Rows of duration bins told from noise, where there are too few votes to take them as they are.

A thin row is compared with many shapes that a duration may have: one hump, narrow or wide, with or
without a share of zeros, and the rows of all activities, or of those into the same, taken together.
Each shape is weighed by how well it explains the noisy votes (the noise is Laplace's, so this is
its likelihood), and the weighted mean is what a thin row is taken for. The more votes a row has,
the more it is taken as it is. Where a row was asked in fewer bins than people use, its shape says
how they are divided.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.durations import bins, edges
from ..numerics import add_up, project_to_total
from ..rungs import within
from .pool import Table
from .tuning import TUNING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LITTLE = 1e-300
"""A part of a shape that is smaller is none."""


@cache
def humps() -> Floats:
    """One row of shares on rung 0 for each shape."""
    inner = np.log2(np.array(edges(0)[1:]) / 1e6)
    middles = (inner[1:] + inner[:-1]) / 2
    shapes = []
    for width in TUNING.hump_widths:
        for middle in (inner[0], *middles):
            # Logistic humps: close to normal ones, and their sums are known in closed form.
            below = 1.0 / (1.0 + np.exp(-(inner - middle) / (0.55 * width)))
            hump = np.diff(below)
            for zeros in TUNING.zero_shares:
                shapes.append(np.concatenate([[zeros], (1 - zeros) * hump / hump.sum()]))
    return np.array(shapes)


def estimate(
    table: Table,
    noisy: Floats,
    noise: float,
    votes: Floats,
    kin: Ints,
    top: float,
) -> tuple[Table, Floats]:
    """Shares of the cells of each row, on rung 0 where it was asked on a lower one.

    `kin` are the rows taken together, `top` is the longest duration.
    """
    told = Table.of(tuple(max(rung, 0) for rung in table.rungs))
    known = np.array(edges(0)[:-1]) / 1e6 < top
    rows = [noisy[a:b] for a, b in pairwise(table.starts.tolist())]
    asked = list(zip(table.rungs, rows, votes.tolist(), strict=True))
    seen = np.array([_on_rung_0(rung, row, noise, n, known) for rung, row, n in asked])
    taken = _together(seen, votes, noise, known)
    groups = [_together(seen[kin == k], votes[kin == k], noise, known) for k in kin]
    shares = []
    for (rung, row, mass), group in zip(asked, groups, strict=True):
        shape = _shape(rung, row, noise, mass, known, np.array([taken, group]))
        into = within(max(rung, 0), 0)
        spread = (shape / np.bincount(into))[into]
        fits = add_up(within(max(rung, 0), rung), known[into].astype(np.float64), len(row)) > 0
        own = np.zeros(len(row))
        own[fits] = project_to_total(row[fits], max(mass, noise))
        own /= own.sum()
        part = TUNING.row_trust * noise / (TUNING.row_trust * noise + mass)
        mixed = (1 - part) * (own if rung >= 0 else _split(rung, own, shape)) + part * spread
        shares.append(mixed / mixed.sum())
    return told, np.concatenate([np.zeros(0), *shares])


def _split(rung: int, cells: Floats, shape: Floats) -> Floats:
    """Divide the cells of a rung below 0 among the bins on rung 0, by a shape."""
    into = within(0, rung)
    whole = add_up(into, shape, len(cells))
    # Where the shape has nothing, nothing is divided: by next to nothing, noise would overflow.
    each = np.divide(cells, whole, out=np.zeros(len(cells)), where=whole > LITTLE)
    return each[into] * shape


def _on_rung_0(
    rung: int, row: Floats, noise: float, votes: float, known: NDArray[np.bool_]
) -> Floats:
    """The noisy votes of a row on rung 0."""
    if rung < 0:
        row = _split(rung, row, _shape(rung, row, noise, votes, known, np.zeros((0, bins(0)))))
    else:
        row = add_up(within(rung, 0), row, bins(0))
    return np.where(known, row, 0.0)


def _together(seen: Floats, votes: Floats, noise: float, known: NDArray[np.bool_]) -> Floats:
    whole = np.zeros(seen.shape[1])
    whole[known] = project_to_total(seen.sum(axis=0)[known], max(float(votes.sum()), noise))
    shares: Floats = whole / whole.sum()
    return shares


def _shape(
    rung: int,
    row: Floats,
    noise: float,
    votes: float,
    known: NDArray[np.bool_],
    shared: Floats,
) -> Floats:
    """The mean of all shapes on rung 0, weighed by how well they explain a row."""
    low = min(rung, 0)
    joined = _joined(low)
    fair, rough = _fair(known.tobytes(), low)
    shapes = np.concatenate([fair, shared])
    # Half of the belief beforehand is that a row is like others.
    prior = np.repeat([0.5 / max(len(fair), 1), 0.25], [len(fair), len(shared)])
    seen = add_up(within(rung, low), row, bins(low))
    seen[known @ joined == 0] = 0.0
    masses = np.array(TUNING.mass_factors) * votes
    every = np.concatenate([rough, shared @ joined])
    off = np.abs(seen - masses[:, None, None] * every).sum(axis=2) / noise
    away = -off + np.log(prior) - (np.log(TUNING.mass_factors) ** 2)[:, None] / 0.3
    weights = np.exp(away - away.max()).sum(axis=0)
    mean: Floats = weights @ shapes / weights.sum()
    return mean


@cache
def _joined(low: int) -> Floats:
    """[bin on rung 0, bin on a lower rung]: 1 where the one lies in the other."""
    return np.eye(bins(low))[within(0, low)]


@cache
def _fair(known: bytes, low: int) -> tuple[Floats, Floats]:
    """The humps that lie mostly in the known bins, on rung 0 and on a lower one."""
    hump = humps() * np.frombuffer(known, dtype=np.bool_)
    hump = hump[hump.sum(axis=1) > 0.5]
    shapes: Floats = hump / hump.sum(axis=1, keepdims=True)
    return shapes, shapes @ _joined(low)
