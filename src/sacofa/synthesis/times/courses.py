"""Courses of time for released cases, chosen so that all answers hold at once.

1. Rows of the noisy tables become shares (`rows`).
2. For every variant many courses are drawn, gap by gap. A first event of an activity cannot come
   later after the event before than after the beginning: so its gap is drawn with an eye on how
   long it takes to get there.
3. The courses are weighed so that cycle times, gaps and elapsed times all come near their answers;
   gaps are drawn anew by what the weights say, and weighed again.
4. As many courses as there are cases are taken by weight, and stretched where no weights could
   bring the cycle times near their answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from ...kernel.queries.flow import VOTE_UNITS
from ...kernel.queries.times import Arrivals, CycleTime, Elapsed, Gaps, ServiceTime, WeekHours
from ..numerics import (
    LITTLE,
    MAX_ROUNDS,
    NEGLIGIBLE,
    Floats,
    Ints,
    Uniform,
    add_up,
    minimize_convex,
    spread_places,
)
from .ask import ReleasedFlow
from .rows import Table, read_rows, read_totals
from .tuning import TUNING

Query = TypeVar("Query", bound=CycleTime | Gaps | Elapsed | Arrivals | WeekHours | ServiceTime)


@dataclass(frozen=True, eq=False)
class TimeAnswer(Generic[Query]):
    """A query with its noisy table."""

    query: Query
    """What was asked."""
    table: Ints
    """Noisy vote units."""
    epsilon: Fraction
    """Its ε, where one unit is one case: noise has the scale VOTE_UNITS / epsilon."""

    @property
    def votes(self) -> Floats:
        """Noisy votes, in cases."""
        return self.table / VOTE_UNITS

    @property
    def noise(self) -> float:
        """The scale of the noise, in cases."""
        return float(1 / self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeAnswers:
    """All that was answered about time."""

    cycle_time: TimeAnswer[CycleTime]
    gaps: TimeAnswer[Gaps]
    elapsed: TimeAnswer[Elapsed]
    arrivals: TimeAnswer[Arrivals]
    week: TimeAnswer[WeekHours]
    service: TimeAnswer[ServiceTime] | None = None
    """None where the log has no start times."""


@dataclass(frozen=True, eq=False)
class Votes:
    """What courses vote for, and what their votes should come near; each course has a vote."""

    course: Ints
    cell: Ints
    """The cell of all tables, end to end, that is voted for."""
    part: Floats
    """The part of a vote."""
    goal: Floats
    """What each cell should hold."""
    noise: Floats
    """How far each may be off."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """Courses of time, those of a variant together."""

    variant: Ints
    """The variant of each course."""
    offsets: Ints
    """Where the gaps of each course begin; one more for the end."""
    owner: Ints
    """The course of each gap."""
    gap: Ints
    """The place of each gap among the gaps of all variants."""
    seconds: Floats
    """How long each gap is."""
    since: Floats
    """How long after the beginning each gap ends."""
    cells: Ints
    """The cell of each gap in its table."""
    totals: Floats
    """How long each course takes."""


class Targets:
    """What the courses should add up to: gaps, elapsed and cycle times, end to end."""

    def __init__(self, flow: ReleasedFlow, answers: TimeAnswers) -> None:
        cycle, gaps, elapsed = answers.cycle_time, answers.gaps, answers.elapsed
        single = float(flow.counts[flow.lengths <= 1].sum())
        shares, kept = read_totals(cycle.votes, cycle.noise, float(max(flow.cases, 1)), single)
        self.flow = flow
        self.top = float(Table.of((0,)).high[kept - 1])
        """No case takes longer, in seconds."""
        pieces = TUNING.fine_pieces if cycle.query.rung < 2 else 1
        self.edges, self.totals = Table.of((cycle.query.rung,)).refine(shares, pieces)
        """The edges of the fine bins of cycle times, in seconds, and their shares."""

        self.rows = gaps.query.row_of(flow.ids[flow.ends - 1], flow.ids[flow.ends])
        """The row of each gap of the flow."""
        weights = flow.gap_votes * flow.counts[flow.owner]
        gap_votes = add_up(self.rows, weights, len(gaps.query.rungs))
        elapsed_votes = flow.elapsed_votes()
        asked_gaps, asked_elapsed = Table.of(gaps.query.rungs), Table.of(elapsed.query.rungs)
        self.gaps, self.gap_shares = read_rows(
            asked_gaps, gaps.votes, gap_votes, gaps.query.targets, gaps.noise, self.top
        )
        alike = np.zeros(flow.activities, dtype=np.int64)
        self.elapsed, self.elapsed_shares = read_rows(
            asked_elapsed, elapsed.votes, elapsed_votes, alike, elapsed.noise, self.top
        )
        rough_gaps, self.weighed = self.gaps.coarser(asked_gaps.rungs, TUNING.max_weighed_rung)
        """For each cell of the gaps, the cell that it is weighed in."""
        self.rough, into = self.elapsed.coarser(asked_elapsed.rungs, TUNING.max_weighed_rung)
        """The bins in which elapsed times are weighed."""
        gap_target = self.gap_shares * self.gaps.spread(gap_votes)
        elapsed_target = self.elapsed_shares * self.elapsed.spread(elapsed_votes)
        parts = [
            add_up(self.weighed, gap_target, len(rough_gaps.low)),
            add_up(into, elapsed_target, len(self.rough.low)),
            self.totals * flow.cases,
        ]
        sizes, cells = [len(part) for part in parts], np.concatenate(parts)
        grips = [TUNING.grip, TUNING.grip, TUNING.cycle_time_grip]
        noise = np.repeat(np.array([gaps.noise, elapsed.noise, cycle.noise]) / grips, sizes)
        ease = np.repeat([TUNING.gap_ease, TUNING.ease, TUNING.ease], sizes)
        self.goal, self.noise = cells, np.sqrt(noise**2 + ease * cells)
        self.first_elapsed, self.first_total = sizes[0], sizes[0] + sizes[1]

    def reach(self, targets: Ints) -> Floats:
        """How likely it is that an activity first happens no earlier than each gap into it ends."""
        reach = np.empty(len(self.gap_shares))
        for row, activity in enumerate(targets.tolist()):
            here = slice(*self.gaps.starts[row : row + 2].tolist())
            there = slice(*self.elapsed.starts[activity : activity + 2].tolist())
            points = np.append(self.elapsed.low[there], self.elapsed.high[there][-1])
            before = np.concatenate([[0.0], np.cumsum(self.elapsed_shares[there])])
            reach[here] = 1.0 - np.interp(
                np.log2(1.0 + self.gaps.low[here]), np.log2(1.0 + points), before
            )
        return np.maximum(reach, TUNING.min_reach)

    def weigh(self, pool: Pool, off: float) -> Floats:
        """Weigh the courses of a pool."""
        flow = self.flow
        firsts = np.flatnonzero(flow.firsts[pool.gap])
        reached = self.rough.cells(flow.ids[flow.ends[pool.gap[firsts]]], pool.since[firsts])
        took = self.edges[1:-1].searchsorted(pool.totals, side="right")
        cells = (
            self.weighed[pool.cells % len(self.gap_shares)],
            self.first_elapsed + reached,
            self.first_total + took,
        )
        parts = flow.gap_votes[pool.gap], flow.first_votes[pool.gap[firsts]], np.ones(len(took))
        votes = Votes(
            np.concatenate([pool.owner, pool.owner[firsts], np.arange(len(took))]),
            np.concatenate(cells),
            np.concatenate(parts),
            self.goal,
            self.noise,
        )
        # What takes longer than any case is not taken, where the variant has anything shorter.
        start = np.where(pool.totals > self.top, np.log(LITTLE), 0.0)
        return weigh(votes, pool.variant, flow.counts, start, off)


def choose_courses(
    flow: ReleasedFlow, answers: TimeAnswers, uniform: Uniform
) -> tuple[Ints, Ints, Floats]:
    """Draw courses, and take one for each case; cases of a variant are together.

    Returns:
        The variant of each case; where the gaps of each case begin, and one more for the end; how
        long each gap is, in seconds.
    """
    targets = Targets(flow, answers)
    double = Table.of((*targets.gaps.rungs, *targets.gaps.rungs))
    rows = targets.rows + len(targets.gaps.rungs) * flow.firsts
    reach = targets.reach(answers.gaps.query.targets)
    first = double.normal(np.concatenate([targets.gap_shares, targets.gap_shares * reach]))
    shares = first
    one_round = answers.cycle_time.query.rung >= TUNING.one_round_rung
    for off in TUNING.round_tolerances[-1:] if one_round else TUNING.round_tolerances:
        pool = draw_pool(flow, rows, double, shares, uniform)
        weights = targets.weigh(pool, off)
        told = add_up(pool.cells, weights[pool.owner] * flow.gap_votes[pool.gap], len(first))
        shares = double.normal(told + TUNING.first_shares_weight * answers.gaps.noise * first)
    order = np.lexsort((pool.totals, pool.variant))
    # One number for all: every course is taken as often as its weight, rounded up or down.
    marks = np.arange(flow.cases) + uniform(1)[0]
    places = np.cumsum(weights[order]).searchsorted(marks, side="right")
    chosen = order[np.minimum(places, len(order) - 1)]
    # Courses were taken in order of length; which case comes first must not tell.
    chosen = chosen[np.argsort(pool.variant[chosen] + uniform(len(chosen)), kind="stable")]

    wanted = np.empty(len(chosen))
    lengths = lengths_of(targets.goal[targets.first_total :], targets.edges, len(chosen))
    wanted[np.argsort(pool.totals[chosen], kind="stable")] = lengths
    many = np.diff(pool.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(many)])
    drawn = pool.seconds[spread_places(pool.offsets[:-1][chosen], many)]
    for start in range(0, len(chosen), TUNING.block):
        ends = offsets[start : start + TUNING.block + 1]
        block = slice(ends[0], ends[-1])
        drawn[block] = stretch(drawn[block], ends - ends[0], wanted[start : start + TUNING.block])
    return pool.variant[chosen], offsets, drawn


def draw_pool(
    flow: ReleasedFlow, rows: Ints, table: Table, shares: Floats, uniform: Uniform
) -> Pool:
    """Draw courses for each variant, every gap by the shares of its row."""
    sizes = flow.counts * TUNING.courses_per_case
    if sizes.sum() > TUNING.max_courses:
        sizes = np.maximum(sizes * TUNING.max_courses // sizes.sum(), TUNING.courses_per_case)
    variant = np.repeat(np.arange(len(sizes)), sizes)
    many = np.maximum(flow.lengths - 1, 0)
    gap = spread_places((np.cumsum(many) - many)[variant], many[variant])
    cells, seconds = table.draw(shares, rows[gap], uniform)
    offsets = np.concatenate([[0], np.cumsum(many[variant])])
    owner = np.repeat(np.arange(len(variant)), many[variant])
    running = np.concatenate([[0.0], np.cumsum(seconds)])
    since = running[1:] - running[offsets[:-1]][owner]
    totals = np.zeros(len(variant))
    there = np.flatnonzero(many[variant])
    totals[there] = since[offsets[1:][there] - 1]
    return Pool(
        variant=variant, offsets=offsets, owner=owner, gap=gap, seconds=seconds, since=since,
        cells=cells, totals=totals,
    )  # fmt: skip


def weigh(votes: Votes, group: Ints, sizes: Ints, start: Floats, off: float) -> Floats:
    """Weigh courses so that those of a group add up to its size and votes come near a goal.

    Of all weights that explain the answers, these are nearest to the ones the courses were drawn
    with (least relative entropy): a product of one factor for each cell that a course votes for.
    The factors are found by climbing the dual, which is smooth and concave.

    Args:
        votes: The votes of the courses, in any order, and their goal.
        group: The group of each course, in order; none is empty.
        sizes: The size of each group.
        start: Logarithms of weights to begin with.
        off: The climb ends about that far off its top, in logarithms of the likelihood.
    """
    courses, target, noise = len(group), votes.goal, votes.noise
    if not courses:
        return np.zeros(0)
    order = np.argsort(votes.course, kind="stable")
    course, cell, part = votes.course[order], votes.cell[order], votes.part[order]
    first_votes = np.flatnonzero(np.diff(course, prepend=-1))
    each = np.empty(len(cell))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    width = np.diff(starts, append=courses)

    def weights(factors: Floats) -> tuple[Floats, Floats]:
        # All cells are there; to be told so, instead of looking again, takes half the time.
        np.take(factors, cell, mode="clip", out=each)
        np.multiply(each, part, out=each)
        lift = start + np.add.reduceat(each, first_votes)
        top = np.maximum.reduceat(lift, starts)
        lifted = np.exp(lift - np.repeat(top, width))
        sums = np.add.reduceat(lifted, starts)
        return lifted * np.repeat(sizes / sums, width), top + np.log(sums / width)

    def value(factors: Floats) -> tuple[float, Floats]:
        found, logs = weights(factors)
        np.take(found, course, mode="clip", out=each)
        np.multiply(each, part, out=each)
        told = add_up(cell, each, len(target))
        slack = noise**2 * factors
        loss = float(sizes @ logs - factors @ target + slack @ factors / 2)
        return loss, told - target + slack

    # Cells with little noise and many votes bend the slope most: reckon in units in which all bend
    # alike.
    told = value(np.zeros(len(target)))[1] + target
    unit = 1.0 / np.sqrt(noise**2 + np.maximum(target, told) + NEGLIGIBLE)

    def scaled(x: Floats) -> tuple[float, Floats]:
        loss, slope = value(x * unit)
        return loss, slope * unit

    zeros = np.zeros(len(target))
    best = minimize_convex(scaled, zeros, least_gain=off)
    return weights(best * unit)[0]


def lengths_of(shares: Floats, edges: Floats, cases: int) -> Floats:
    """How long so many cases take, shortest first, given the edges of bins and their shares."""
    if not cases:
        return np.zeros(0)
    low, high = edges[:-1], edges[1:]
    ends = np.cumsum(shares)
    marks = (np.arange(cases) + 1 / 2) / cases * ends[-1]
    cell = np.minimum(ends.searchsorted(marks, side="right"), np.flatnonzero(shares)[-1])
    within = (marks - ends[cell] + shares[cell]) / np.maximum(shares[cell], LITTLE)
    below = np.where(low[cell] > 0, low[cell], 1.0)
    return np.where(low[cell] > 0, below * (high[cell] / below) ** np.clip(within, 0.0, 1.0), 0.0)


def stretch(gaps: Floats, offsets: Ints, wanted: Floats) -> Floats:
    """Change the gaps of each course so that they add up to what is wanted of it.

    Weights alone cannot do that: where noise gave the flow too many cases that come back after
    months, or lost the activity that does, no choice among drawn courses has the right lengths. So
    the longest course becomes as long as the longest case should be, and so on. What is missing or
    too much is the matter of a course's longest gaps: short ones keep their times.
    """
    courses = len(offsets) - 1
    owner = np.repeat(np.arange(courses), np.diff(offsets))
    totals = add_up(owner, gaps, courses)
    ratio = np.where(totals > 0, wanted / np.maximum(totals, LITTLE), 1.0)
    # Longer courses: each gap grows in proportion to its square.
    squares = gaps * gaps
    rate = (wanted - totals) / np.maximum(add_up(owner, squares, courses), LITTLE)
    changed: Floats = np.where(
        (ratio > 1 + TUNING.only_scaled)[owner], gaps + rate[owner] * squares, gaps * ratio[owner]
    )
    # Shorter ones: the longest gaps are cut.
    shorter = np.flatnonzero((ratio < 1 - TUNING.only_scaled)[owner])
    changed[shorter] = _capped(gaps[shorter], owner[shorter], wanted)
    return changed


def _capped(gaps: Floats, owner: Ints, wanted: Floats) -> Floats:
    """Cut the longest gaps of each course until they add up to what is wanted."""
    many = np.bincount(owner, minlength=len(wanted))
    cap = wanted / np.maximum(many, 1)
    for _ in range(MAX_ROUNDS):
        # Gaps below the cap stay; the others share what is left, so that the cap only rises.
        above = gaps > cap[owner]
        sharing = np.bincount(owner[above], minlength=len(wanted))
        left = wanted - add_up(owner, np.where(above, 0.0, gaps), len(wanted))
        higher = left / np.maximum(sharing, 1)
        rises = (sharing > 0) & (higher > cap)
        if not rises.any():
            break
        cap[rises] = higher[rises]
    cut = np.minimum(gaps, cap[owner])
    # What is left to share is too little to see, but every course is as long as it should be.
    sums = add_up(owner, cut, len(wanted))
    exact = np.divide(wanted, sums, out=np.ones(len(wanted)), where=sums > 0)
    return cut * exact[owner]
