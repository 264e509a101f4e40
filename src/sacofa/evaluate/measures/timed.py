"""Cases with times, in the form that the measures of time use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import NO_TIME

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class TimedLog(Protocol):
    """A log or a release with times."""

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""

    @property
    def activity_ids(self) -> NDArray[np.int32]:
        """Activities of all events, end to end."""

    @property
    def offsets(self) -> Ints:
        """Case i has the events offsets[i] … offsets[i + 1] − 1."""

    @property
    def times(self) -> Ints | None:
        """Microseconds since 1970 of each event, or NO_TIME."""


@dataclass(frozen=True, eq=False)
class Timed:
    """The events of a log whose times are known.

    Attributes:
        activities: Names of activities; the id of an activity is its place here.
        ids: Activities of all events, end to end.
        offsets: Case i has the events offsets[i] … offsets[i + 1] − 1; no case is empty.
        seconds: Time of each event in seconds since 1970.
    """

    activities: tuple[str, ...]
    ids: Ints
    offsets: Ints
    seconds: Floats

    @classmethod
    def of(cls, log: TimedLog, names: Sequence[str]) -> Timed:
        """Take the events with known times.

        Args:
            log: A log.
            names: Names of activities; every activity of the log is among them.

        Returns:
            The events, over these names.
        """
        place = {name: i for i, name in enumerate(names)}
        to_new = np.array([place[name] for name in log.activities], dtype=np.int64)
        case = np.repeat(np.arange(len(log.offsets) - 1), np.diff(log.offsets))
        times = np.full(len(case), NO_TIME) if log.times is None else log.times
        known = times != NO_TIME
        lengths = np.bincount(case[known], minlength=1)
        ids = to_new[log.activity_ids[known]] if known.any() else np.zeros(0, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths[lengths > 0])]).astype(np.int64)
        return cls(tuple(names), ids, offsets, times[known] / 1e6)

    @classmethod
    def both(cls, one: TimedLog, other: TimedLog) -> tuple[Timed, Timed]:
        """Take two logs over the names of both."""
        names = sorted({*one.activities, *other.activities})
        return cls.of(one, names), cls.of(other, names)

    @property
    def cases(self) -> int:
        """Number of cases with any known time."""
        return len(self.offsets) - 1

    @property
    def case(self) -> Ints:
        """Case of each event."""
        return np.repeat(np.arange(self.cases), np.diff(self.offsets))

    @property
    def begins(self) -> Floats:
        """Earliest time of each case."""
        return np.minimum.reduceat(self.seconds, self.offsets[:-1]) if self.cases else self.seconds

    @property
    def cycle_times(self) -> Floats:
        """Cycle time of each case in seconds."""
        if not self.cases:
            return self.seconds
        return np.maximum.reduceat(self.seconds, self.offsets[:-1]) - self.begins

    def gaps(self) -> tuple[Ints, Floats]:
        """Return each directly-follows pair as one number, and the seconds between its events."""
        case = self.case
        place = np.flatnonzero(case[1:] == case[:-1]) + 1
        pairs = self.ids[place - 1] * len(self.activities) + self.ids[place]
        # A clock that runs backwards is not a wait.
        return pairs, np.maximum(self.seconds[place] - self.seconds[place - 1], 0.0)


def transport(left: Floats, right: Floats) -> float:
    """Return the Wasserstein distance between two samples; infinite if one of them is empty."""
    if not len(left) or not len(right):
        return 0.0 if len(left) == len(right) else float("inf")
    left, right = np.sort(left), np.sort(right)
    points = np.concatenate([left, right])
    points.sort(kind="stable")
    below_left = left.searchsorted(points[:-1], side="right") / len(left)
    below_right = right.searchsorted(points[:-1], side="right") / len(right)
    return float(np.sum(np.abs(below_left - below_right) * np.diff(points)))
