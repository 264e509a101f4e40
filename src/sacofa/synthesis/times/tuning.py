"""Tuning parameters of released times. They concern noisy answers only, so no ε depends on them.

A value without a stated reason is empirical: no derivation of it is known. Noise scales are those
of the answer in question, in cases.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...kernel.queries.durations import DAY, HOUR


@dataclass(frozen=True, kw_only=True)
class TimeTuning:
    """How noisy answers about time are read, and how courses of time are drawn and placed.

    Attributes:
        own_row_votes: Votes of a directly-follows pair, in noise scales, from which on it has a
            row of its own.
        cycle_time_votes: Factor of the votes for cycle times in the choice of their bins. They are
            one row, read from coarse to fine, which bears finer bins than other rows.
        hump_widths: Widths of the humps that a row of durations may have, in doublings.
        zero_shares: Shares of zeros that such a row may have.
        mass_factors: Votes that a row may have, as factors of those that the released flow gives.
        row_trust: Votes of a row, in noise scales, at which the row and its shape weigh the same.
        short_cases: Noise scales that short cases need, per logarithm of the doublings they are
            off.
        beyond_longest: Share of the first bin beyond the longest that is taken to be cases; they
            are cut to the longest bin.
        courses_per_case: Courses drawn for a released case.
        max_courses: Upper bound on all courses, about: bounds time and memory.
        round_tolerances: For each round of drawing and weighing, how far the weights may be off
            the best, in logarithms of the likelihood. Only the last are used to choose courses, the
            others to draw the next.
        one_round_rung: Rung of cycle times from which one round is enough, because noise is small.
        fine_pieces: Pieces into which bins of cycle times are split, by the slope between their
            neighbours.
        cycle_time_grip: How much closer than their noise cycle times are followed: random courses
            are no knowledge of their own.
        grip: The same for gaps and elapsed times.
        ease: What a large cell may be off, per tilt of its courses: other answers say as well where
            a case stands after many steps.
        gap_ease: The same for gaps: pairs that noise put together must give way.
        min_reach: Lower bound on the probability that elapsed times give a gap, so that they alone
            rule out nothing.
        max_weighed_rung: Finer bins than on this rung are weighed together, because draws follow
            their shares anyway.
        first_shares_weight: Noise scales of the first shares that are mixed into later ones.
        max_weighing_rounds: Upper bound on the steps of L-BFGS.
        max_raises: Upper bound on how often the longest gap of a course is raised; about five are
            needed.
        only_scaled: Relative distance from its length below which a course is only scaled.
        work_draws: How often the duration of work is drawn until it fits its gap.
        stretch_surplus: Standard deviations by which another stretch of months must exceed chance.
        week_trust: Votes of a cell of the week, in noise scales, at which it weighs as much as the
            shape of the week.
        moments: Number of moments among which the time of an event is chosen.
        bend: A gap may be longer or shorter by this part of it, to end at a likely hour.
        max_bend: Upper bound on that, in microseconds.
        min_bent_gap: Shorter gaps, in microseconds, stay: people do them in one go.
    """

    own_row_votes: float = 4.0
    cycle_time_votes: float = 2.0
    hump_widths: tuple[float, ...] = (0.7, 1.5, 3.0)
    zero_shares: tuple[float, ...] = (0.0, 0.15, 0.35, 0.6, 0.85, 0.97)
    mass_factors: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.4)
    row_trust: float = 2.0
    short_cases: float = 1.5
    beyond_longest: float = 0.5
    courses_per_case: int = 50
    max_courses: int = 60_000
    round_tolerances: tuple[float, ...] = (5.0, 5.0, 0.1)
    one_round_rung: int = 4
    fine_pieces: int = 4
    cycle_time_grip: float = 20.0
    grip: float = 10.0
    ease: float = 0.02
    gap_ease: float = 0.1
    min_reach: float = 0.003
    max_weighed_rung: int = 2
    first_shares_weight: float = 2.0
    max_weighing_rounds: int = 60
    max_raises: int = 20
    only_scaled: float = 0.02
    work_draws: int = 6
    stretch_surplus: float = 2.0
    week_trust: float = 1.0
    moments: int = 8
    bend: int = 7
    max_bend: int = DAY
    min_bent_gap: int = 4 * HOUR


TUNING = TimeTuning()
"""The values of this version: releases with a seed depend on them."""
