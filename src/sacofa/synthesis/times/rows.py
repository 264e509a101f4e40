"""Shares of duration bins, read from noisy votes.

Rows of gaps, elapsed times and work are read as rows of attributes are (`synthesis.rows`). Cycle
times are one row, read from coarse to fine: the bins that people use have little noise, and
both ends are cut where they may well be noise. Then every bin is split in two as its halves say,
rung by rung, so that noise in many fine empty bins never adds up to cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ...kernel.queries.durations import SECOND, bin_of, bins, edges
from ...kernel.queries.times import row_starts
from ..numerics import LITTLE, NEGLIGIBLE, Floats, Ints, Uniform, add_up, project_to_total
from ..rows import TUNING, Prior, estimate, estimate_rows
from .tuning import TUNING as TIMES


@cache
def within(rung: int, lower: int) -> Ints:
    """The bin of a lower rung, or of the same, that each bin of a rung lies in."""
    return bin_of(np.array(edges(rung)[:-1], dtype=np.int64), lower)


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
        every = [np.array(edges(rung)) / SECOND for rung in rungs]
        low, high = (np.concatenate([e[part] for e in every]) for part in (np.s_[:-1], np.s_[1:]))
        return cls(rungs, row_starts(rungs), low, high)

    def cells(self, rows: Ints, seconds: Floats) -> Ints:
        """The cell of each duration in its row."""
        found, rung_of = self.starts[rows], np.array(self.rungs)[rows]
        for rung in set(self.rungs):
            here = np.flatnonzero(rung_of == rung)
            inner = np.array(edges(rung)[1:-1]) / SECOND
            found[here] += inner.searchsorted(seconds[here], side="right")
        return found

    def coarser(self, rungs: tuple[int, ...], most: int) -> tuple[Table, Ints]:
        """The rows on given rungs, none above the most, and the cell there of each cell here."""
        rough = Table.of(tuple(min(rung, most) for rung in rungs))
        rows = np.repeat(np.arange(len(self.rungs)), np.diff(self.starts))
        return rough, rough.cells(rows, self.low * (1 + NEGLIGIBLE) + NEGLIGIBLE)

    def sums(self, cells: Floats) -> Floats:
        """The sum of each row."""
        return np.add.reduceat(cells, self.starts[:-1])

    def spread(self, rows: Floats) -> Floats:
        """The value of each row, for all its cells."""
        return np.repeat(rows, np.diff(self.starts))

    def normal(self, cells: Floats) -> Floats:
        """Cells whose rows each sum up to 1."""
        return cells / np.maximum(self.spread(self.sums(cells)), LITTLE)

    def draw(self, shares: Floats, rows: Ints, uniform: Uniform) -> tuple[Ints, Floats]:
        """Draw a cell of each row by shares, and a duration in it; less than a second is zero."""
        ends = np.cumsum(shares)
        before = np.concatenate([[0.0], ends])[self.starts[:-1]]
        row = np.repeat(np.arange(len(self.rungs)), np.diff(self.starts))
        running = row + (ends - before[row]) / np.maximum(self.sums(shares), LITTLE)[row]
        cells = running.searchsorted(rows + uniform(len(rows)), side="right")
        cells = np.clip(cells, self.starts[rows], self.starts[rows + 1] - 1)
        low = self.low[cells]
        ratio = self.high[cells] / np.where(low > 0, low, 1.0)
        # From 0 to 1 with a density that goes straight from one end of the cell to the other.
        left, right = (end[cells] for end in self.slopes(shares))
        chances, total = uniform(len(rows)), np.maximum(left + right, LITTLE)
        a, b = left / total, right / total
        root = np.sqrt(a * a + (b * b - a * a) * chances)
        bent = np.abs(b - a) > NEGLIGIBLE
        inside = np.where(bent, (root - a) / np.where(bent, b - a, 1.0), chances)
        return cells, np.where(low > 0, low * ratio**inside, 0.0)

    def slopes(self, shares: Floats) -> tuple[Floats, Floats]:
        """How dense each cell is at its two ends, per doubling, given its neighbours."""
        wide = np.where(self.low > 0, np.log2(self.high / np.maximum(self.low, NEGLIGIBLE)), 1.0)
        dense = shares / wide
        first = np.zeros(len(dense), dtype=np.bool_)
        first[self.starts[:-1]] = True
        # Zeros are no neighbours of what takes time; beyond the longest bin there is nothing.
        before = np.where(np.roll(first, 1) | first, dense, np.roll(dense, 1))
        after = np.where(np.roll(first, -1), 0.0, np.roll(dense, -1))
        return (before + dense) / 2, (after + dense) / 2

    def refine(self, shares: Floats, pieces: int) -> tuple[Floats, Floats]:
        """Split each cell into pieces of equal ratio, by the slope between its neighbours."""
        left, right = self.slopes(shares)
        total = np.maximum(left + right, LITTLE)
        ends = np.arange(pieces + 1) / pieces
        a, b = (left / total)[:, None], (right / total)[:, None]
        parts = shares[:, None] * np.diff(2 * a * ends + (b - a) * ends**2, axis=1)
        low, high = self.low[:, None], self.high[:, None]
        ratio = high / np.where(low > 0, low, 1.0)
        edges_in = np.where(low > 0, low * ratio ** ends[1:], high * ends[1:])
        # A cell that nothing is in, or whose slopes are unknown, is split evenly.
        parts = np.where((left + right)[:, None] <= 0, shares[:, None] / pieces, parts)
        return np.concatenate([[0.0], edges_in.ravel()]), parts.ravel()


def read_rows(
    asked: Table, noisy: Floats, votes: Floats, kin: Ints, noise: float, top: float
) -> tuple[Table, Floats]:
    """Shares of the cells of each row, on rung 0 where it was asked on a lower one.

    Args:
        asked: The rows as they were asked.
        noisy: Noisy votes of their cells.
        votes: Expected votes of each row.
        kin: Rows of the same kin are alike: rows of few votes fall back on them, they on all rows.
        noise: Scale of the noise of a cell, in cases.
        top: No duration is longer, in seconds.
    """
    told, known = Table.of(tuple(max(rung, 0) for rung in asked.rungs)), Table.of((0,)).low < top
    rows = [noisy[a:b] for a, b in pairwise(asked.starts.tolist())]
    seen, fine = np.zeros((len(rows), bins(0))), np.array(asked.rungs) >= 0
    for i in np.flatnonzero(fine).tolist():
        seen[i] = add_up(within(asked.rungs[i], 0), rows[i], bins(0))
    # Rows below rung 0 are divided as those above it say.
    shape = project_to_total(seen.sum(axis=0), float(votes[fine].sum())) + noise / bins(0)
    for i in np.flatnonzero(~fine).tolist():
        seen[i] = _split(asked.rungs[i], rows[i], shape)
    seen[:, ~known] = 0.0
    kinds, kind = np.unique(kin, return_inverse=True)
    together = np.zeros((len(kinds), bins(0)))
    np.add.at(together, kind, seen)
    louder = noise * float(np.sqrt(len(rows) / max(len(kinds), 1)))
    many = add_up(kind, votes, len(kinds))
    parents, _ = estimate_rows(together, many, louder, (1, bins(0)))
    shares = [np.zeros(0)]
    for rung, row, number, parent in zip(asked.rungs, rows, votes, parents[kind], strict=True):
        # Less than a second is no neighbour of what takes time.
        into, order = within(max(rung, 0), 0), (1, len(row))
        like = (parent / np.bincount(into))[into]
        if rung < 0:
            like = add_up(within(0, rung), parent, len(row))
        prior = Prior(parent=like, ordered=order, factors=TUNING.rough_factors)
        found, _ = estimate(row, float(number), noise, prior)
        found = found if rung >= 0 else _split(rung, found, parent)
        found = (found + NEGLIGIBLE) * known[into]
        shares.append(found / found.sum())
    return told, np.concatenate(shares)


def _split(rung: int, cells: Floats, shape: Floats) -> Floats:
    """Divide the cells of a rung below 0 among the bins on rung 0, by a shape."""
    into = within(0, rung)
    whole = add_up(into, shape + LITTLE, len(cells))
    return (cells / whole)[into] * (shape + LITTLE)


def middles() -> Floats:
    """A duration for each bin on rung 0, in seconds."""
    table = Table.of((0,))
    return np.where(table.low > 0, np.sqrt(table.low * table.high), table.high / 2)


def read_totals(noisy: Floats, noise: float, cases: float, single: float) -> tuple[Floats, int]:
    """Shares of the bins of cycle times, and how many of the coarse ones are kept.

    `single` cases have one event and take no time, as the released flow says.
    """
    coarse, fine = bins(0), len(noisy)
    halvings = ((fine - 1) // (coarse - 1)).bit_length() - 1
    seen = np.concatenate([noisy[:1], noisy[1:].reshape(coarse - 1, -1).sum(axis=1)])
    seen[0] -= single
    rest = max(cases - single, 1.0)
    noise = noise * 2.0 ** (halvings / 2)
    kept = longest(seen, noise, rest, middles())
    if kept < coarse:
        # Cases that take a little longer than the longest bin are cut to it, not dropped.
        seen[kept - 1] += TIMES.beyond_longest * max(float(seen[kept]), 0.0)
    first = shortest(seen[:kept], noise, rest, middles())
    told = np.zeros(coarse)
    told[first:kept] = project_to_total(seen[first:kept], rest)
    told[0] += single
    for rung in range(1, halvings + 1):
        halves = noisy[1:].reshape(-1, 1 << (halvings - rung)).sum(axis=1)
        whole, lean = told[1:], halves[0::2] - halves[1::2]
        part = np.clip((whole + lean) / 2, 0.0, whole)
        told = np.concatenate([told[:1], np.stack([part, whole - part], axis=1).ravel()])
    return told / told.sum(), kept


def longest(noisy: Floats, noise: float, total: float, typical: Floats) -> int:
    """How many bins to keep: the longest ones go as long as their sum may well be noise.

    One false case of ten years weighs as much as a thousand of three days: a mean, and the order
    of the bottlenecks, cannot bear it. A sum of so many noise scales is false with a chance of
    exp(−sum), so what it needs grows with the logarithm of how much longer than the mean it is.
    """
    tail = np.cumsum(noisy[::-1])[::-1]
    for kept in range(len(noisy), 1, -1):
        shares = project_to_total(noisy[: kept - 1], total)
        mean = float(shares @ typical[: kept - 1]) / total
        harm = max(float(typical[kept - 1]) / max(mean, 1.0), 1.0)
        if tail[kept - 1] >= np.log(harm) * noise:
            return kept
    return 1


def shortest(noisy: Floats, noise: float, total: float, typical: Floats) -> int:
    """How many bins to drop: the shortest ones go as long as their sum may well be noise.

    People read durations in doublings, and a false case of a second among cases of days is
    seventeen of them off.
    """
    shares = project_to_total(noisy, total)
    half = int(np.cumsum(shares).searchsorted(total / 2))
    off = np.log2((1 + typical[half]) / (1 + typical[: len(noisy)]))
    small = np.cumsum(noisy) < TIMES.short_cases * noise * np.log1p(np.maximum(off, 0.0))
    small[half:] = False
    return int(np.argmin(small))
