"""The section of a report on times: durations of cases, waits, work and arrivals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluate.measures.times import Timed, bottlenecks
from ..kernel.cases import MICROSECONDS, NO_TIME, CaseBatch
from ..kernel.queries.durations import HUMAN, SECOND
from ..kernel.statements import Statement
from ..release.anonymize import Release
from ..synthesis.margins import ShareMargin, Step
from .flow import Medians
from .page import say_duration
from .promise import margins_of

Floats = NDArray[np.float64]

MOST_MONTHS, MONTHS_A_YEAR = 60, 12
"""If cases begin in more months than this, arrivals are grouped by year."""
UNKNOWN = 0.5
"""A median whose rank may be off by half of all waits is unknown."""
MAX_LISTED_WORK = 20
"""Upper bound on the listed activities."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar of a distribution."""

    label: str
    share: float
    before: float | None = None
    """The share in the original; None in a publishable page."""
    values: int = 1
    """The number of values or declared bins in the bar."""
    margin: float | None = None
    """Margin of error (95 %) of the share; None if unknown."""

    @property
    def below_margin(self) -> bool:
        """Whether the original share may be 0."""
        return self.margin is not None and self.share <= self.margin

    @property
    def longest(self) -> float:
        """The larger of both shares."""
        return max(self.share, self.before or 0.0)


@dataclass(frozen=True, kw_only=True)
class Wait:
    """The wait of a directly-follows pair in seconds; 95 % confidence interval of the median."""

    times: int
    total: float
    median: float
    low: float | None
    high: float | None
    """None: the margin of error is unknown, and the median may be any value."""
    before: float | None = None
    """The median in the original; None if it has no such pair."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The median seconds of work on an activity, and of waiting for it."""

    activity: str
    times: int
    took: float | None
    waited: float | None
    """None: cases only begin with the activity."""
    before: tuple[float | None, float | None]
    """Both medians in the original."""


class Quartile(NamedTuple):
    """The maximum seconds of the fastest quarter, half, or three quarters of cases."""

    after: float
    before: float | None = None


@dataclass(frozen=True, kw_only=True)
class Times:
    """The times of a release, in an internal report with those of the original."""

    cycle: tuple[Bar, ...]
    quartiles: tuple[Quartile, ...]
    waits: dict[Step, Wait]
    """The directly-follows pairs with the largest total time."""
    work: tuple[Work, ...]
    """Durations of work; empty if starts are unknown."""
    medians: tuple[Medians, ...]
    """Median waits of directly-follows pairs: in the original, if given, and in the release."""
    arrivals: tuple[Bar, ...]
    spans: str
    """The unit of the bars of arrivals."""


def with_margins(bars: Sequence[Bar], margin: ShareMargin | None) -> tuple[Bar, ...]:
    """Add the margins to bars, if known."""
    if margin is None:
        return tuple(bars)
    return tuple(replace(bar, margin=margin.of(bar.share, bar.values)) for bar in bars)


def describe_times(release: Release, original: CaseBatch | None = None) -> Times | None:
    """Describe times; None if they are artificial, or if there are no events."""
    batch = release.by_case
    if batch is None or not len(batch.activity_ids):
        return None
    waits, logs = median_waits(release), [Timed.of(batch, batch.activities)]
    medians: list[Medians] = [{step: wait.median for step, wait in waits.items()}]
    was: Medians = {}
    if original is not None:
        before, after = Timed.both(original, batch)
        logs = [after, before] if before.cases else [after]
        if before.cases:
            was = {step: float(np.median(some)) for step, some in before.waits().items()}
            medians.insert(0, was)
    quartiles = [np.quantile(log.cycle_times, (0.25, 0.5, 0.75)).tolist() for log in logs]
    arrivals, spans = _arrivals(logs)
    margins = margins_of(release)
    return Times(
        cycle=_cycle(logs, margins.cycle_time),
        quartiles=tuple(map(Quartile, *quartiles)),
        waits={step: replace(waits[step], before=was.get(step)) for step in bottlenecks(logs[0])},
        work=_work(batch, original),
        medians=tuple(medians),
        arrivals=with_margins(arrivals, margins.begin),
        spans=spans,
    )


def median_waits(release: Release) -> dict[Step, Wait]:
    """Return the waits of each directly-follows pair; empty if times are artificial."""
    batch, margins = release.by_case, margins_of(release)
    found: dict[Step, Wait] = {}
    if batch is None or not len(batch.activity_ids):
        return found
    for step, waits in Timed.of(batch, batch.activities).waits().items():
        off = margins.waits.get(step, UNKNOWN)
        shares = (max(0.5 - off, 0), 0.5, min(0.5 + off, 1))
        low, median, high = np.quantile(waits, shares).tolist()
        known = (low, high) if off < UNKNOWN else (None, None)
        found[step] = Wait(
            times=len(waits), total=float(waits.sum()), median=median, low=known[0], high=known[1]
        )
    return found


def _bars(labels: Iterable[object], shares: Sequence[Floats], values: int = 1) -> list[Bar]:
    """Return the bars of the release, with the shares of the original if they are given."""
    return [
        Bar(label=str(label), share=now, before=then[0] if then else None, values=values)
        for label, now, *then in zip(labels, *(each.tolist() for each in shares), strict=True)
    ]


def _cycle(logs: Sequence[Timed], margins: tuple[float, ...]) -> tuple[Bar, ...]:
    edges = [edge / SECOND for edge in HUMAN]
    labels = [f"{say_duration(low)} – {say_duration(high)}" for low, high in pairwise(edges)]
    labels[0] = str(Statement("report.under", limit=say_duration(edges[1])))
    labels[-1] = str(Statement("report.over", limit=say_duration(edges[-2])))
    places = (np.array(edges[1:-1]).searchsorted(log.cycle_times, side="right") for log in logs)
    counts = (np.bincount(place, minlength=len(labels)) for place in places)
    bars = _bars(labels, [count / log.cases for count, log in zip(counts, logs, strict=True)])
    if len(margins) != len(bars):
        return tuple(bars)
    return tuple(replace(bar, margin=size) for bar, size in zip(bars, margins, strict=True))


def _arrivals(logs: Sequence[Timed]) -> tuple[list[Bar], str]:
    months = [(log.begins * 1e6).astype("M8[us]").astype("M8[M]") for log in logs]
    # The release alone selects the range, because the original may have any dates.
    first, last = months[0].min(), months[0].max()
    by_year = int((last - first).astype(int)) >= MOST_MONTHS
    unit: Literal["Y", "M"] = "Y" if by_year else "M"
    spans = [each.astype(f"M8[{unit}]") for each in months]
    names = np.arange(spans[0].min(), spans[0].max() + np.timedelta64(1, unit))
    shares = []
    for each in spans:
        at = (each - names[0]).astype(int)
        inside = (at >= 0) & (at < len(names))
        shares.append(np.bincount(at[inside], minlength=len(names)) / max(len(each), 1))
    return _bars(names, shares, MONTHS_A_YEAR if by_year else 1), "year" if by_year else "month"


def _work(release: CaseBatch, original: CaseBatch | None) -> tuple[Work, ...]:
    """Return activities by total time of work; empty if no work was released."""
    found = _by_activity(release)
    was = {} if original is None else _by_activity(original)
    order = sorted(found, key=lambda name: (-float(found[name][0].sum()), name))[:MAX_LISTED_WORK]

    def medians(seconds: tuple[Floats, Floats] | None) -> tuple[float | None, float | None]:
        took, waited = (float(np.median(e)) if len(e) else None for e in seconds or ((), ()))
        return took, waited

    return tuple(
        Work(
            activity=name,
            times=len(found[name][0]),
            took=medians(found[name])[0],
            waited=medians(found[name])[1],
            before=medians(was.get(name)),
        )
        for name in order
    )


def _by_activity(log: CaseBatch) -> dict[str, tuple[Floats, Floats]]:
    """Return the seconds of work on each activity, and those that cases waited for it."""
    if log.starts is None or log.times is None:
        return {}
    known = (log.starts != NO_TIME) & (log.times != NO_TIME)
    took = np.maximum(log.times - log.starts, 0) / MICROSECONDS
    case = np.repeat(np.arange(log.cases), log.lengths)
    later = np.zeros(len(case), dtype=np.bool_)
    later[1:] = (case[1:] == case[:-1]) & known[1:] & (log.times[:-1] != NO_TIME)
    ended = np.where(later, np.roll(log.times, 1), 0)
    waited = np.where(later, np.maximum(log.starts - ended, 0), 0) / MICROSECONDS
    places = [known & (log.activity_ids == place) for place in range(len(log.activities))]
    return {
        name: (took[here], waited[here & later])
        for name, here in zip(log.activities, places, strict=True)
        if here.any()
    }
