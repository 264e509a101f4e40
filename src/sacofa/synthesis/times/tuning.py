"""Tuning parameters of released times. They concern noisy answers only, so no ε depends on them.

A value without a stated reason is empirical: no derivation of it is known. Noise scales are those
of the answer in question, in cases.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...kernel.queries.durations import DAY, HOUR


@dataclass(frozen=True, kw_only=True)
class TimeTuning:
    """How noisy answers about time are read, and how courses of time are drawn and placed."""

    rung_votes: tuple[int, ...] = (30, 300, 1_000, 3_000, 5_000, 7_000, 12_000)
    """Votes, in noise scales, from which on a row is asked on the next rung."""
    own_row_votes: float = 4.0
    """Votes of a directly-follows pair, in noise scales, from which on it has its own row."""
    cycle_time_votes: float = 2.0
    """Factor of the votes for cycle times in the choice of their bins: one row, read from coarse to
    fine, bears finer bins than others."""
    short_cases: float = 1.5
    """Noise scales that short cases need, per logarithm of the doublings they are off."""
    beyond_longest: float = 0.5
    """Share of the first bin beyond the longest that is cut to the longest bin, not dropped."""
    courses_per_case: int = 50
    """Courses drawn for a released case."""
    max_courses: int = 60_000
    """Upper bound on all courses, about: bounds time and memory."""
    round_tolerances: tuple[float, ...] = (5.0, 5.0, 0.1)
    """For each round of drawing and weighing, how far the weights may be off the best, in
    logarithms of the likelihood. Only the last are used to choose courses."""
    one_round_rung: int = 4
    """Rung of cycle times from which one round is enough, because noise is small."""
    fine_pieces: int = 4
    """Pieces into which bins of cycle times are split, by the slope between their neighbours."""
    cycle_time_grip: float = 20.0
    """How much closer than their noise cycle times are followed: random courses are no evidence."""
    grip: float = 10.0
    """The same for gaps and elapsed times."""
    ease: float = 0.02
    """Error allowed to a large cell, per tilt of its courses."""
    gap_ease: float = 0.1
    """The same for gaps: pairs that noise put together must give way."""
    min_reach: float = 0.003
    """Lower bound on the probability that elapsed times give a gap: they alone exclude nothing."""
    max_weighed_rung: int = 2
    """Finer bins are weighed together, because draws follow their shares anyway."""
    first_shares_weight: float = 2.0
    """Noise scales of the first shares that are mixed into later ones."""
    only_scaled: float = 0.02
    """Relative distance from its length below which a course is only scaled."""
    work_draws: int = 6
    """How often the duration of work is drawn until it fits its gap."""
    stretch_surplus: float = 2.0
    """Standard deviations by which another stretch of months must exceed chance."""
    week_trust: float = 1.0
    """Votes of a cell of the week, in noise scales, at which it weighs as much as the week's shape.
    """
    outside_hours: tuple[float, ...] = (0.0, 0.1, 0.3, 0.6)
    """How much happens outside of working hours, as a part of what happens inside."""
    months_around: int = 2
    """Months on either side that a month is pulled towards."""
    moments: int = 8
    """Number of moments among which the time of an event is chosen."""
    bend: int = 7
    """A gap may be longer or shorter by this part of it, to end at a likely hour."""
    max_bend: int = DAY
    """Upper bound on that, in microseconds."""
    min_bent_gap: int = 4 * HOUR
    """Shorter gaps, in microseconds, stay: people do them in one go."""
    block: int = 20_000
    """Cases that are stretched or placed at a time: bounds memory, and is faster than all at once.
    """


TUNING = TimeTuning()
"""The values of this version: releases with a seed depend on them."""
