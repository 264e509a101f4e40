"""Courses of time for released cases, chosen so that all answers hold at once.

1. Rows of the noisy tables become shares (`rows`, `totals`).
2. For every variant many courses are drawn, gap by gap (`pool`). A first event of an activity
   cannot come later after the event before than after the beginning: so its gap is drawn with an
   eye on how long it takes to get there.
3. The courses are weighed so that cycle times, gaps and elapsed times all come near their answers
   (`weigh`); gaps are drawn anew by what the weights say, and weighed again.
4. As many courses as there are cases are taken by weight, and stretched where no weights could
   bring the cycle times near their answer (`stretch`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics import add_up
from .answers import TimeAnswers
from .ask import ReleasedFlow
from .pool import Pool, Table, Uniform, draw_pool, refine
from .rows import estimate
from .stretch import lengths_of, stretch
from .totals import tell_totals
from .tuning import TUNING
from .weigh import Votes, weigh

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOGETHER = 20_000
"""So many courses are stretched at a time, which takes half as long as all at once."""


@dataclass(frozen=True, eq=False)
class Targets:
    """What the courses should add up to: gaps, elapsed and cycle times, end to end."""

    gaps: Table
    elapsed: Table
    weighed: Ints
    """For each cell of the gaps, the cell that it is weighed in."""
    weighed_elapsed: Table
    """The bins in which elapsed times are weighed."""
    rows: Ints
    """The row of each gap of the flow."""
    gap_shares: Floats
    elapsed_shares: Floats
    edges: Floats
    """The edges of the fine bins of cycle times, in seconds."""
    top: float
    """No case takes longer, in seconds."""
    cells: Floats
    noise: Floats


def make_targets(flow: ReleasedFlow, answers: TimeAnswers) -> Targets:
    """Turn noisy answers into shares, and these into what the released flow should show."""
    cycle, gaps, elapsed = answers.cycle_time, answers.gaps, answers.elapsed
    table = Table.of((cycle.query.rung,))
    single = float(flow.counts[flow.lengths <= 1].sum())
    shares, kept = tell_totals(cycle.votes, cycle.noise, float(max(flow.cases, 1)), single)
    top = float(Table.of((0,)).high[kept - 1])
    fine_edges, fine = refine(table, shares, TUNING.fine_pieces if cycle.query.rung < 2 else 1)

    asked_gaps, asked_elapsed = Table.of(gaps.query.rungs), Table.of(elapsed.query.rungs)
    rows = gaps.query.row_of(flow.ids[flow.ends - 1], flow.ids[flow.ends])
    weights = flow.gap_votes * flow.counts[flow.variant[flow.ends]]
    gap_votes = add_up(rows, weights, len(gaps.query.rungs))
    elapsed_votes = flow.elapsed_votes()
    gap_table, gap_shares = estimate(
        asked_gaps, gaps.votes, gaps.noise, gap_votes, gaps.query.targets, top
    )
    alone = np.zeros(len(elapsed_votes), dtype=np.int64)
    elapsed_table, elapsed_shares = estimate(
        asked_elapsed, elapsed.votes, elapsed.noise, elapsed_votes, alone, top
    )
    weighed_gaps, weighed = gap_table.coarser(asked_gaps.rungs, TUNING.max_weighed_rung)
    weighed_elapsed, into = elapsed_table.coarser(asked_elapsed.rungs, TUNING.max_weighed_rung)
    gap_target = gap_shares * gap_table.spread(gap_votes)
    elapsed_target = elapsed_shares * elapsed_table.spread(elapsed_votes)
    parts = [
        add_up(weighed, gap_target, len(weighed_gaps.low)),
        add_up(into, elapsed_target, len(weighed_elapsed.low)),
        fine * flow.cases,
    ]
    cells = np.concatenate(parts)
    sizes = [len(part) for part in parts]
    grips = [TUNING.grip, TUNING.grip, TUNING.cycle_time_grip]
    noise = np.repeat(np.array([gaps.noise, elapsed.noise, cycle.noise]) / grips, sizes)
    ease = np.repeat([TUNING.gap_ease, TUNING.ease, TUNING.ease], sizes)
    return Targets(
        gap_table,
        elapsed_table,
        weighed,
        weighed_elapsed,
        rows,
        gap_shares,
        elapsed_shares,
        fine_edges,
        top,
        cells,
        np.sqrt(noise**2 + ease * cells),
    )


@dataclass(frozen=True, eq=False)
class Courses:
    """One course of time for each released case; cases of a variant are together."""

    variant: Ints
    """The variant of each case."""
    offsets: Ints
    """Where the gaps of each case begin; one more for the end."""
    seconds: Floats
    """How long each gap is."""


def choose_courses(flow: ReleasedFlow, answers: TimeAnswers, uniform: Uniform) -> Courses:
    """Draw courses, and take one for each case."""
    targets = make_targets(flow, answers)
    double = Table.of((*targets.gaps.rungs, *targets.gaps.rungs))
    rows = targets.rows + len(targets.gaps.rungs) * flow.firsts
    reach = _reach(answers, targets)
    first = double.normal(np.concatenate([targets.gap_shares, targets.gap_shares * reach]))
    shares, sizes = first, _sizes(flow)
    one_round = answers.cycle_time.query.rung >= TUNING.one_round_rung
    for off in TUNING.round_tolerances[-1:] if one_round else TUNING.round_tolerances:
        pool = draw_pool(flow, sizes, rows, double, shares, uniform)
        owner = np.repeat(np.arange(len(pool.variant)), np.diff(pool.offsets))
        weights = _weigh(flow, targets, pool, owner, off)
        seen = weights[owner] * flow.gap_votes[pool.gap]
        told = add_up(pool.cells, seen, len(first))
        shares = double.normal(told + TUNING.first_shares_weight * answers.gaps.noise * first)
    order = np.lexsort((pool.totals, pool.variant))
    # One number for all: every course is taken as often as its weight, rounded up or down.
    marks = np.arange(flow.cases) + uniform(1)[0]
    places = np.cumsum(weights[order]).searchsorted(marks, side="right")
    chosen = order[np.minimum(places, len(order) - 1)]
    # Courses were taken in order of length; which case comes first must not tell.
    chosen = chosen[np.argsort(pool.variant[chosen] + uniform(len(chosen)), kind="stable")]
    return _stretched(targets, pool, chosen)


def _stretched(targets: Targets, pool: Pool, chosen: Ints) -> Courses:
    """The chosen courses, as long as cases should be."""
    many = np.diff(pool.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(many)])
    lengths = lengths_of(targets.cells[-len(targets.edges) + 1 :], targets.edges, len(chosen))
    wanted = np.empty(len(chosen))
    wanted[np.argsort(pool.totals[chosen], kind="stable")] = lengths
    seconds = np.empty(int(offsets[-1]))
    for first in range(0, len(chosen), TOGETHER):
        block = slice(first, first + TOGETHER)
        ends = offsets[first : first + TOGETHER + 1]
        drawn = pool.seconds[spread_places(pool.offsets[:-1][chosen[block]], many[block])]
        seconds[ends[0] : ends[-1]] = stretch(drawn, ends - ends[0], wanted[block])
    return Courses(pool.variant[chosen], offsets, seconds)


def spread_places(begins: Ints, lengths: Ints) -> Ints:
    """begins[i], begins[i] + 1, … so many for each i, end to end."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places: Ints = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return places


def _sizes(flow: ReleasedFlow) -> Ints:
    wanted = flow.counts * TUNING.courses_per_case
    if wanted.sum() > TUNING.max_courses:
        wanted = np.maximum(wanted * TUNING.max_courses // wanted.sum(), TUNING.courses_per_case)
    return wanted


def _reach(answers: TimeAnswers, targets: Targets) -> Floats:
    """How likely it is that an activity first happens no earlier than each gap into it ends."""
    elapsed = targets.elapsed
    reach = np.empty(len(targets.gap_shares))
    for row, activity in enumerate(answers.gaps.query.targets.tolist()):
        here = slice(int(targets.gaps.starts[row]), int(targets.gaps.starts[row + 1]))
        there = slice(int(elapsed.starts[activity]), int(elapsed.starts[activity + 1]))
        points = np.append(elapsed.low[there], elapsed.high[there][-1])
        before = np.concatenate([[0.0], np.cumsum(targets.elapsed_shares[there])])
        reach[here] = 1.0 - np.interp(
            np.log2(1.0 + targets.gaps.low[here]), np.log2(1.0 + points), before
        )
    return np.maximum(reach, TUNING.min_reach)


def _weigh(flow: ReleasedFlow, targets: Targets, pool: Pool, owner: Ints, off: float) -> Floats:
    gap_cells = len(targets.gap_shares)
    elapsed = targets.weighed_elapsed
    first_elapsed = len(targets.cells) - len(elapsed.low) - len(targets.edges) + 1
    first_total = first_elapsed + len(elapsed.low)
    totals = pool.totals
    firsts = np.flatnonzero(flow.firsts[pool.gap])
    reached = elapsed.cells(flow.ids[flow.ends[pool.gap[firsts]]], pool.since[firsts])
    took = targets.edges[1:-1].searchsorted(totals, side="right")
    votes = Votes(
        np.concatenate([owner, owner[firsts], np.arange(len(totals))]),
        np.concatenate(
            [targets.weighed[pool.cells % gap_cells], first_elapsed + reached, first_total + took]
        ),
        np.concatenate(
            [
                flow.gap_votes[pool.gap],
                flow.first_votes[pool.gap[firsts]],
                np.ones(len(totals)),
            ]
        ),
    )
    # What takes longer than any case is not taken, where the variant has anything shorter.
    start = np.where(totals > targets.top, -50.0, 0.0)
    return weigh(votes, pool.variant, flow.counts, targets.cells, targets.noise, start, off)
