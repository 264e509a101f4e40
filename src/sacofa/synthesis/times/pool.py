"""Courses of time that released cases may have taken: many for each variant, drawn step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.durations import edges
from ...kernel.queries.times import row_starts
from .ask import ReleasedFlow

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Uniform = Callable[[int], Floats]
"""So many numbers from 0 to below 1."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of duration bins, end to end."""

    rungs: tuple[int, ...]
    starts: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rungs: tuple[int, ...]) -> Table:
        """Lay out rows on given rungs; edges are in seconds."""
        every = [np.array(edges(rung)) / 1e6 for rung in rungs]
        return cls(
            rungs,
            row_starts(rungs),
            np.concatenate([e[:-1] for e in every]),
            np.concatenate([e[1:] for e in every]),
        )

    def cells(self, rows: Ints, seconds: Floats) -> Ints:
        """The cell of each duration in its row."""
        found = self.starts[rows]
        rung_of = np.array(self.rungs)[rows]
        for rung in set(self.rungs):
            here = np.flatnonzero(rung_of == rung)
            inner = np.array(edges(rung)[1:-1]) / 1e6
            found[here] += inner.searchsorted(seconds[here], side="right")
        return found

    def coarser(self, rungs: tuple[int, ...], most: int) -> tuple[Table, Ints]:
        """The rows on given rungs, none above the most, and the cell there of each cell here."""
        rough = Table.of(tuple(min(rung, most) for rung in rungs))
        rows = np.repeat(np.arange(len(self.rungs)), np.diff(self.starts))
        return rough, rough.cells(rows, self.low * (1 + 1e-9) + 1e-9)

    def sums(self, cells: Floats) -> Floats:
        """The sum of each row."""
        return np.add.reduceat(cells, self.starts[:-1])

    def spread(self, rows: Floats) -> Floats:
        """The value of each row, for all its cells."""
        return np.repeat(rows, np.diff(self.starts))

    def normal(self, cells: Floats) -> Floats:
        """Cells whose rows each sum up to 1."""
        return cells / np.maximum(self.spread(self.sums(cells)), 1e-300)

    def draw(self, shares: Floats, rows: Ints, uniform: Uniform) -> tuple[Ints, Floats]:
        """Draw a cell of each row by shares, and a duration in it; less than a second is zero."""
        ends = np.cumsum(shares)
        before = np.concatenate([[0.0], ends])[self.starts[:-1]]
        row = np.repeat(np.arange(len(self.rungs)), np.diff(self.starts))
        running = row + (ends - before[row]) / np.maximum(self.sums(shares), 1e-300)[row]
        cells = running.searchsorted(rows + uniform(len(rows)), side="right")
        cells = np.clip(cells, self.starts[rows], self.starts[rows + 1] - 1)
        low = self.low[cells]
        ratio = self.high[cells] / np.where(low > 0, low, 1.0)
        left, right = self.slopes(shares)
        within = _sloped(left[cells], right[cells], uniform(len(rows)))
        return cells, np.where(low > 0, low * ratio**within, 0.0)

    def slopes(self, shares: Floats) -> tuple[Floats, Floats]:
        """How dense each cell is at its two ends, per doubling, given its neighbours."""
        wide = np.where(self.low > 0, np.log2(self.high / np.maximum(self.low, 1e-9)), 1.0)
        dense = shares / wide
        first = np.zeros(len(dense), dtype=np.bool_)
        first[self.starts[:-1]] = True
        # Zeros are no neighbours of what takes time; beyond the longest bin there is nothing.
        before = np.where(np.roll(first, 1) | first, dense, np.roll(dense, 1))
        after = np.where(np.roll(first, -1), 0.0, np.roll(dense, -1))
        return (before + dense) / 2, (after + dense) / 2


def refine(table: Table, shares: Floats, pieces: int) -> tuple[Floats, Floats]:
    """Split each cell into pieces of equal ratio, by the slope between its neighbours."""
    left, right = table.slopes(shares)
    total = np.maximum(left + right, 1e-300)
    ends = np.arange(pieces + 1) / pieces
    a, b = (left / total)[:, None], (right / total)[:, None]
    parts = shares[:, None] * np.diff(2 * a * ends + (b - a) * ends**2, axis=1)
    low = np.where(table.low > 0, table.low, 0.0)[:, None]
    ratio = (table.high / np.where(table.low > 0, table.low, 1.0))[:, None]
    edges_in = np.where(low > 0, low * ratio ** ends[1:], table.high[:, None] * ends[1:])
    # A cell that nothing is in, or whose slopes are unknown, is split evenly.
    flat = (left + right)[:, None] <= 0
    parts = np.where(flat, shares[:, None] / pieces, parts)
    return np.concatenate([[0.0], edges_in.ravel()]), parts.ravel()


def _sloped(left: Floats, right: Floats, uniform: Floats) -> Floats:
    """Draw from 0 to 1 with a density that goes straight from one value to another."""
    total = np.maximum(left + right, 1e-300)
    a, b = left / total, right / total
    root = np.sqrt(a * a + (b * b - a * a) * uniform)
    bent = np.abs(b - a) > 1e-6
    return np.where(bent, (root - a) / np.where(bent, b - a, 1.0), uniform)


@dataclass(frozen=True, eq=False)
class Pool:
    """Courses of time, those of a variant together."""

    variant: Ints
    """The variant of each course."""
    offsets: Ints
    """Where the gaps of each course begin; one more for the end."""
    gap: Ints
    """The place of each gap among the gaps of all variants."""
    seconds: Floats
    """How long each gap is."""
    since: Floats
    """How long after the beginning each gap ends."""
    cells: Ints
    """The cell of each gap in its table."""

    @property
    def totals(self) -> Floats:
        """How long each course takes."""
        there = self.offsets[1:] > self.offsets[:-1]
        last = np.where(there, self.offsets[1:] - 1, 0)
        ends = self.since[last] if len(self.since) else np.zeros(len(last))
        return np.where(there, ends, 0.0)


def draw_pool(
    flow: ReleasedFlow,
    sizes: Ints,
    rows: Ints,
    table: Table,
    shares: Floats,
    uniform: Uniform,
) -> Pool:
    """Draw so many courses for each variant, every gap by the shares of its row."""
    variant = np.repeat(np.arange(len(sizes)), sizes)
    many = np.maximum(flow.lengths - 1, 0)
    first = np.concatenate([[0], np.cumsum(many)])[:-1]
    offsets = np.concatenate([[0], np.cumsum(many[variant])])
    gap = np.arange(offsets[-1]) + np.repeat(first[variant] - offsets[:-1], many[variant])
    cells, seconds = table.draw(shares, rows[gap], uniform)
    running = np.concatenate([[0.0], np.cumsum(seconds)])
    owner = np.repeat(np.arange(len(variant)), many[variant])
    since = running[1:] - running[offsets[:-1]][owner]
    return Pool(variant, offsets, gap, seconds, since, cells)
