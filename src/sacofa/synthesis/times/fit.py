"""Times for all events of a release, made of noisy answers and of random draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import sqrt

import numpy as np

from ...kernel.queries.durations import DAY, SECOND
from ...kernel.queries.times import SLOTS, WEEK, ServiceTime, week_slot
from ...kernel.variants import VariantCounts
from ..numerics import (
    LITTLE,
    NEGLIGIBLE,
    Floats,
    Ints,
    Uniform,
    add_up,
    project_to_total,
    spread_places,
)
from .ask import ReleasedFlow, TimeSettings
from .courses import TimeAnswer, TimeAnswers, choose_courses
from .rows import Table, longest, middles, read_rows
from .tuning import TUNING


@dataclass(frozen=True, eq=False)
class ReleasedTimes:
    """Released cases with times; those of a variant are together, variants in their order."""

    variant: Ints
    """The variant of each case."""
    offsets: Ints
    """Case i has the events offsets[i] … offsets[i + 1] − 1."""
    flow: ReleasedFlow
    """The variants."""
    times: Ints
    """Microseconds since 1970 (UTC) of each event; never less than those of the event before."""
    starts: Ints | None = None
    """When the work on each event began; None where that was not asked."""

    @cached_property
    def activity_ids(self) -> Ints:
        """The activities of all events, end to end."""
        begins, lengths = self.flow.offsets[:-1][self.variant], self.flow.lengths[self.variant]
        return self.flow.ids[spread_places(begins, lengths)]


def fit_times(
    answers: TimeAnswers, variants: VariantCounts, settings: TimeSettings, uniform: Uniform
) -> ReleasedTimes:
    """Give every event of every released case a time, so that all answers hold at once."""
    flow = ReleasedFlow(variants, euclidean=answers.gaps.query.euclidean)
    unit = settings.unit
    variant, gap_offsets, seconds = choose_courses(flow, answers, uniform)
    lengths = flow.lengths[variant]
    gaps = np.multiply(seconds, SECOND, out=seconds).astype(np.int64)
    arrivals, week = answers.arrivals, answers.week
    shares = estimate_months(arrivals.votes, arrivals.noise, flow.cases)
    months = choose_months(shares, arrivals.query.first, len(variant), uniform)
    hours = estimate_week(week.votes, week.noise, flow.cases)
    # Dates have no hours: only the days of the week are left to choose by.
    if unit >= DAY:
        hours = np.repeat(hours.reshape(WEEK, SLOTS).sum(axis=1), SLOTS)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    times = np.empty(int(offsets[-1]), dtype=np.int64)
    for first in range(0, len(lengths), TUNING.block):
        last = min(first + TUNING.block, len(lengths))
        waits = gaps[gap_offsets[first] : gap_offsets[last]]
        times[offsets[first] : offsets[last]] = _place(
            months[first:last], lengths[first:last], waits, hours, unit, uniform
        )
    fitted = ReleasedTimes(variant, offsets, flow, times)
    if answers.service is None:
        return fitted
    return replace(fitted, starts=_draw_starts(answers.service, fitted, unit, uniform))


def _place(
    months: Ints, lengths: Ints, gaps: Ints, week: Floats, unit: int, uniform: Uniform
) -> Ints:
    """Times of all events of some cases, end to end, given their gaps; in order, in whole units."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    times = np.zeros(int(offsets[-1]), dtype=np.int64)
    gap_offsets = np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))])
    there = np.flatnonzero(lengths > 0)
    begin, end = (
        (months[there] + add).astype("M8[M]").astype("M8[us]").astype(np.int64) for add in (0, 1)
    )
    offers = uniform(TUNING.moments * len(there)).reshape(-1, TUNING.moments)
    moments = begin[:, None] + (offers * (end - begin)[:, None]).astype(np.int64)
    times[offsets[there]] = _likely(moments, week, uniform) // unit * unit
    for place in range(1, int(lengths.max(initial=0))):
        there = there[lengths[there] > place]
        at = offsets[there] + place
        wait = gaps[gap_offsets[there] + place - 1]
        times[at] = times[at - 1] + wait
        far = np.flatnonzero(wait >= TUNING.min_bent_gap)
        shifts = 2.0 * uniform(TUNING.moments * len(far)).reshape(-1, TUNING.moments) - 1.0
        bends = np.minimum(wait[far] // TUNING.bend, TUNING.max_bend)[:, None] * shifts
        moments = times[at[far]][:, None] + bends.astype(np.int64)
        times[at[far]] = _likely(moments, week, uniform)
    begins = np.repeat(times[offsets[:-1][lengths > 0]], lengths[lengths > 0])
    # To the nearest unit, counted from the beginning: order stays, and gaps are not shortened.
    whole: Ints = begins + (times - begins + unit // 2) // unit * unit
    return whole


def _likely(moments: Ints, week: Floats, uniform: Uniform) -> Ints:
    """Choose one moment of each row, by how much happens at its time of the week."""
    if not len(moments):
        return np.zeros(0, dtype=np.int64)
    chances = np.cumsum(week[week_slot(moments)] + NEGLIGIBLE, axis=1)
    marks = uniform(len(moments)) * chances[:, -1]
    chosen = np.minimum((chances <= marks[:, None]).sum(axis=1), moments.shape[1] - 1)
    likely: Ints = moments[np.arange(len(moments)), chosen]
    return likely


def choose_months(shares: Floats, first: int, cases: int, uniform: Uniform) -> Ints:
    """A month for each case, counted from January 1970, in random order."""
    if not cases:
        return np.zeros(0, dtype=np.int64)
    marks = (np.arange(cases) + uniform(1)[0]) / cases
    months = np.cumsum(shares).searchsorted(marks * shares.sum(), side="right")
    last = int(np.flatnonzero(shares > 0)[-1])
    dealt: Ints = first + np.minimum(months, last)[np.argsort(uniform(cases), kind="stable")]
    return dealt


def estimate_months(noisy: Floats, noise: float, cases: float) -> Floats:
    """Shares of the months: the stretches in which cases begin are found first, then smoothed.

    Noise alone would fill a century with cases. A stretch of months is believed if its sum stands
    out from noise as no stretch of a calendar of only noise would.
    """
    deviation = np.sqrt(2.0) * noise
    left = np.asarray(noisy, dtype=np.float64).copy()
    chance = np.sqrt(2.0 * np.log(max(len(left), 2) ** 2)) + TUNING.stretch_surplus
    inside = np.zeros(len(left), dtype=np.bool_)
    while not inside.all():
        first, last, score = _best_stretch(left, deviation)
        if inside.any() and score < chance:
            break
        inside[first:last] = True
        left[first:last] = -np.inf
    # Months are pulled towards those around them, as much as their differences look like noise.
    # Not mode="same": a calendar may have fewer months than the window.
    values, half = np.where(inside, noisy, 0.0), TUNING.months_around
    window = np.ones(2 * half + 1)
    around = np.maximum(np.convolve(inside.astype(np.float64), window)[half:-half], 1.0)
    near = np.convolve(values, window)[half:-half] / around
    # A month is part of its own average, which reduces its noise in the difference.
    excess = float(np.mean((values - near)[inside] ** 2))
    by_noise = (1 - 1 / len(window)) * deviation**2
    kept = 1.0 - by_noise / excess if excess > by_noise else 0.0
    smooth = near + kept * (values - near)
    shares = np.zeros(len(left))
    shares[inside] = project_to_total(smooth[inside], max(cases, 1.0))
    whole: Floats = shares / shares.sum()
    return whole


def _best_stretch(noisy: Floats, deviation: float) -> tuple[int, int, float]:
    """The stretch of months whose sum stands out most, and by how many standard deviations."""
    months = len(noisy)
    # What was taken already weighs so much that no stretch goes across it.
    taken = -2 * float(np.abs(noisy[np.isfinite(noisy)]).sum() + deviation)
    sums = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(noisy), noisy, taken))])
    best = (0, months, -np.inf)
    most = float((sums[1:] - np.minimum.accumulate(sums)[:-1]).max())
    for width in range(1, months + 1):
        if most > 0 and most / (deviation * sqrt(width)) <= best[2]:
            # No stretch of this width, or of a larger one, stands out more.
            break
        stretches = sums[width:] - sums[:-width]
        score = float(stretches.max()) / (deviation * sqrt(width))
        if score > best[2]:
            place = int(stretches.argmax())
            best = (place, place + width, score)
    return best


def estimate_week(noisy: Floats, noise: float, cases: float) -> Floats:
    """Shares of the cells of the week, Monday first.

    They are explained by weeks that organisations have: which days, which hours, and how much
    happens outside.
    """
    every = [np.full(WEEK * SLOTS, 1.0)]
    for days, first, width, outside in product(
        range(WEEK - 2, WEEK + 1), range(SLOTS), range(2, SLOTS + 1), TUNING.outside_hours
    ):
        hours = np.full(SLOTS, outside)
        hours[(first + np.arange(width)) % SLOTS] = 1.0
        open_days = np.where(np.arange(WEEK) < days, 1.0, outside)
        every.append(np.outer(open_days, hours).ravel())
    shapes = np.array(every) / np.array(every).sum(axis=1, keepdims=True)
    off = np.abs(noisy - cases * shapes).sum(axis=1) / noise
    weights = np.exp(off.min() - off)
    shape = weights @ shapes / weights.sum()
    own = project_to_total(np.asarray(noisy, dtype=np.float64), max(cases, 1.0))
    own /= own.sum()
    part = TUNING.week_trust * noise / (TUNING.week_trust * noise + cases / len(noisy))
    week: Floats = (1 - part) * own + part * shape
    return week


def _draw_starts(
    answer: TimeAnswer[ServiceTime], released: ReleasedTimes, unit: int, uniform: Uniform
) -> Ints:
    """When the work on each event began.

    Work that began after the event before is no longer than the gap between the two, other work
    is. A duration is drawn until that holds, and else takes just the gap.
    """
    flow, times, ids = released.flow, released.times, released.activity_ids
    table = Table.of((*answer.query.rungs, *answer.query.rungs))
    seen = np.maximum(table.sums(answer.votes), 0.0).reshape(2, -1)
    # Work is said to overlap where that stands out from the noise of all bins of a row.
    sure = 2.0 * answer.noise * np.sqrt(2.0 * np.diff(table.starts)[: seen.shape[1]])
    overlapping = np.where(seen[1] > sure, seen[1] / np.maximum(seen.sum(axis=0), LITTLE), 0.0)
    votes = flow.event_votes()
    masses = np.concatenate([votes * (1 - overlapping), votes * overlapping])
    # The longest work, by all rows taken together on the lowest rung.
    high = Table.of((0,)).high
    lowest = add_up(high.searchsorted(table.high), answer.votes, len(high))
    kept = longest(lowest, answer.noise, float(max(flow.cases, 1)), middles())
    kin, top = np.repeat([0, 1], seen.shape[1]), float(high[kept - 1])
    _, shares = read_rows(table, answer.votes, masses, kin, answer.noise, top)

    first = np.zeros(len(times), dtype=np.bool_)
    first[released.offsets[:-1][np.diff(released.offsets) > 0]] = True
    gap = np.where(first, np.iinfo(np.int64).max, np.diff(times, prepend=times[:1])) / SECOND
    overlaps = ~first & (uniform(len(ids)) < overlapping[ids])
    rows = ids + len(answer.query.rungs) * overlaps
    took = np.full(len(ids), -1.0)
    for _ in range(TUNING.work_draws):
        left = np.flatnonzero(took < 0)
        _, drawn = table.draw(shares, rows[left], uniform)
        fits = (drawn > gap[left]) == overlaps[left]
        took[left[fits]] = drawn[fits]
    took = np.where(took < 0, gap, took)
    whole = (took * SECOND + unit / 2).astype(np.int64) // unit * unit
    return times - whole
