"""When the work on released events began, where the log says so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.times import ServiceTime
from ..numerics import add_up
from .answers import TimeAnswer
from .pool import Table, Uniform
from .released import ReleasedTimes
from .rows import estimate
from .totals import longest
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_starts(
    answer: TimeAnswer[ServiceTime], released: ReleasedTimes, unit: int, uniform: Uniform
) -> Ints:
    """When the work on each event began.

    Work that began after the event before is no longer than the gap between the two, other work
    is. A duration is drawn until that holds, and else takes just the gap.
    """
    flow, times = released.flow, released.times
    ids, first = released.activity_ids.astype(np.int64), released.begins_case
    table = Table.of((*answer.query.rungs, *answer.query.rungs))
    seen = np.maximum(table.sums(answer.votes), 0.0).reshape(2, -1)
    # Work is said to overlap where that stands out from the noise of all bins of a row.
    sure = 2.0 * answer.noise * np.sqrt(2.0 * np.diff(table.starts)[: seen.shape[1]])
    overlapping = np.where(seen[1] > sure, seen[1] / np.maximum(seen.sum(axis=0), 1e-9), 0.0)
    votes = flow.event_votes()
    masses = np.concatenate([votes * (1 - overlapping), votes * overlapping])
    every = Table.of((0,))
    lowest = _lowest(table, answer.votes)
    middles = np.sqrt(np.maximum(every.low, 0.25) * every.high)
    kept = longest(lowest, answer.noise, float(max(flow.cases, 1)), middles)
    alone = np.repeat([0, 1], seen.shape[1])
    top = float(every.high[kept - 1])
    _, shares = estimate(table, answer.votes, answer.noise, masses, alone, top)

    gap = np.where(first, np.iinfo(np.int64).max, np.diff(times, prepend=times[:1])) / 1e6
    overlaps = ~first & (uniform(len(ids)) < overlapping[ids])
    rows = ids + len(answer.query.rungs) * overlaps
    took = np.full(len(ids), -1.0)
    for _ in range(TUNING.work_draws):
        left = np.flatnonzero(took < 0)
        _, drawn = table.draw(shares, rows[left], uniform)
        fits = (drawn > gap[left]) == overlaps[left]
        took[left[fits]] = drawn[fits]
    took = np.where(took < 0, gap, took)
    whole = (took * 1e6 + unit / 2).astype(np.int64) // unit * unit
    return times - whole


def _lowest(table: Table, votes: Floats) -> Floats:
    """All rows taken together, on the lowest rung."""
    every = Table.of((0,))
    return add_up(every.high.searchsorted(table.high), votes, len(every.high))
