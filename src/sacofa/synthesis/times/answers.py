"""Answers to the questions about time, as the fit reads them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.flow import VOTE_UNITS
from ...kernel.queries.times import (
    Arrivals,
    CycleTime,
    Elapsed,
    Gaps,
    ServiceTime,
    WeekHours,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Query = TypeVar("Query", bound=CycleTime | Gaps | Elapsed | Arrivals | WeekHours | ServiceTime)


@dataclass(frozen=True, eq=False)
class TimeAnswer(Generic[Query]):
    """A query with its noisy table."""

    query: Query
    """What was asked."""
    table: Ints
    """Noisy vote units."""
    epsilon: Fraction
    """What it cost, where one unit is one case: noise has the scale VOTE_UNITS / epsilon."""

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
