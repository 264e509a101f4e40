"""Times for all events of a release, made of noisy answers and of random draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from .answers import TimeAnswers
from .ask import ReleasedFlow
from .calendar import estimate_months, estimate_week
from .courses import choose_courses
from .place import choose_months, place_events
from .pool import Uniform
from .released import ReleasedTimes
from .service import draw_starts
from .settings import TimeSettings

Ints = NDArray[np.int64]

FINE = 53
"""Bits of a number from 0 to 1."""


class Sampler(Protocol):
    """Gives uniform whole numbers."""

    def below(self, bound: int, size: int) -> Ints:
        """So many numbers from 0 to bound − 1."""


def fit_times(
    answers: TimeAnswers, variants: VariantCounts, settings: TimeSettings, sampler: Sampler
) -> ReleasedTimes:
    """Give every event of every released case a time, so that all answers hold at once."""
    uniform = _uniform(sampler)
    flow = ReleasedFlow(variants)
    courses = choose_courses(flow, answers, uniform)
    variant = courses.variant
    lengths = flow.lengths[variant]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    gaps = np.multiply(courses.seconds, 1e6, out=courses.seconds).astype(np.int64)

    arrivals, week = answers.arrivals, answers.week
    months = estimate_months(arrivals.votes, arrivals.noise, flow.cases)
    begins = choose_months(months, arrivals.query.first, len(variant), uniform)
    hours = estimate_week(week.votes, week.noise, flow.cases)
    times = place_events(begins, lengths, gaps, hours, settings.unit, uniform)
    fitted = ReleasedTimes(variant, offsets, flow, times)
    if answers.service is None:
        return fitted
    starts = draw_starts(answers.service, fitted, settings.unit, uniform)
    return replace(fitted, starts=starts)


def _uniform(sampler: Sampler) -> Uniform:
    return lambda size: sampler.below(1 << FINE, size) / float(1 << FINE)
