"""Distances between timed logs, as Chapela-Campa et al. define them for simulated ones.

"Can I trust my simulation model?" (BPM 2023). All are Wasserstein distances in hours, of times cut
to whole hours (cycle times: to bins of one hour above the shortest of both logs). Tests compare
with the authors' package `log-distance-measures`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .timed import Floats, Ints, Timed, transport

HOUR = 3_600
LONGEST = 23.0
"""The distance of a weekday that only one of the logs has."""


@dataclass(frozen=True, kw_only=True)
class Distances:
    """How far two logs are apart in time, in hours."""

    cycle_time: float
    """CTD: how long cases take."""
    relative_events: float
    """RED: when events happen, counted from the beginning of their case."""
    absolute_events: float
    """AED: when events happen."""
    circadian_events: float
    """CED: at which hour of the day events happen, mean over the days of the week."""
    case_arrivals: float
    """CAR: when cases begin."""


def distances(original: Timed, released: Timed) -> Distances:
    """Measure all distances between two logs."""
    return Distances(
        cycle_time=cycle_time_distance(original, released),
        relative_events=_hourly(_relative(original), _relative(released)),
        absolute_events=_since_first(original.seconds, released.seconds),
        circadian_events=circadian_distance(original, released),
        case_arrivals=_since_first(original.begins, released.begins),
    )


def cycle_time_distance(original: Timed, released: Timed) -> float:
    """Compare how long cases take, in hours above the shortest of both."""
    left, right = original.cycle_times, released.cycle_times
    least = min([*left.tolist(), *right.tolist()], default=0.0)
    return _hourly(left - least, right - least)


def circadian_distance(original: Timed, released: Timed) -> float:
    """Compare hours of the day, mean over the days of the week."""
    (left_day, left_hour), (right_day, right_hour) = _week(original), _week(released)
    found = []
    for day in range(7):
        left, right = left_hour[left_day == day], right_hour[right_day == day]
        one_sided = bool(len(left)) != bool(len(right))
        found.append(LONGEST if one_sided else transport(left, right))
    return float(np.mean(found))


def _relative(log: Timed) -> Floats:
    return log.seconds - log.begins[log.case] if log.cases else log.seconds


def _since_first(left: Floats, right: Floats) -> float:
    least = min([*left.tolist(), *right.tolist()], default=0.0) // HOUR * HOUR
    return _hourly(left - least, right - least)


def _hourly(left: Floats, right: Floats) -> float:
    return transport(np.floor(left / HOUR), np.floor(right / HOUR))


def _week(log: Timed) -> tuple[Ints, Floats]:
    hours = np.floor(log.seconds / HOUR).astype(np.int64)
    return (hours // 24 + 3) % 7, (hours % 24).astype(np.float64)
