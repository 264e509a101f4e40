"""What a report shows of work: how long it takes, and how long cases wait for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernel.cases import MICROSECONDS, NO_TIME, CaseBatch

Floats = NDArray[np.float64]

MOST = 20
"""So many activities are listed."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The median seconds of work on an activity, and of waiting for it."""

    activity: str
    times: int
    took: float | None
    waited: float | None
    """None: the activity only begins cases."""
    before: tuple[float | None, float | None]
    """Both in the original."""


def describe_work(release: CaseBatch, original: CaseBatch | None = None) -> tuple[Work, ...]:
    """Activities by the time that work on them takes in all; none where no work was released."""
    found = _by_activity(release)
    was = {} if original is None else _by_activity(original)
    total = {name: -float(took.sum()) for name, (took, _) in found.items()}
    return tuple(
        Work(
            activity=name,
            times=len(found[name][0]),
            took=_median(found[name][0]),
            waited=_median(found[name][1]),
            before=(_median(was[name][0]), _median(was[name][1])) if name in was else (None, None),
        )
        for name in sorted(found, key=lambda name: (total[name], name))[:MOST]
    )


def _by_activity(log: CaseBatch) -> dict[str, tuple[Floats, Floats]]:
    """The seconds of work on each activity, and those that cases waited for it."""
    if log.starts is None or log.times is None:
        return {}
    known = (log.starts != NO_TIME) & (log.times != NO_TIME)
    took = np.maximum(log.times - log.starts, 0) / MICROSECONDS
    case = np.repeat(np.arange(log.cases), log.lengths)
    later = np.zeros(len(case), dtype=np.bool_)
    later[1:] = (case[1:] == case[:-1]) & known[1:] & (log.times[:-1] != NO_TIME)
    ended = np.where(later, np.roll(log.times, 1), 0)
    waited = np.where(later, np.maximum(log.starts - ended, 0), 0) / MICROSECONDS
    found = {}
    for place, name in enumerate(log.activities):
        here = known & (log.activity_ids == place)
        if here.any():
            found[name] = took[here], waited[here & later]
    return found


def _median(seconds: Floats) -> float | None:
    return float(np.median(seconds)) if len(seconds) else None
