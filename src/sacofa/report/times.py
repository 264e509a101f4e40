"""What a report shows of times: how long cases take, where time goes, when cases begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..evaluate.measures.times import Timed, bottlenecks
from ..kernel.cases import CaseBatch
from ..kernel.queries.durations import HUMAN, SECOND
from ..kernel.statements import Statement
from ..release.anonymize import Release
from ..synthesis.margins import ShareMargin
from .durations import say_duration
from .flow import Medians
from .sureness import margins_of
from .work import Work, describe_work

MOST_MONTHS = 60
"""Where cases begin over more months, years are shown."""


MONTHS_A_YEAR = 12
UNKNOWN = 0.5
"""A median that may be off by half of all waits is not known."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar of a distribution."""

    label: str
    share: float
    before: float | None = None
    """In the original; None in a page that may be published."""
    values: int = 1
    """The number of values or declared bins that it stands for."""
    margin: float | None = None
    """In 95 of 100 runs the share is off by no more than this; None: not known."""

    @property
    def below_margin(self) -> bool:
        """Whether there may be none of it in the original."""
        return self.margin is not None and self.share <= self.margin

    @property
    def longest(self) -> float:
        """The larger of both shares."""
        return max(self.share, self.before or 0.0)


@dataclass(frozen=True, kw_only=True)
class MedianWait:
    """A median wait in seconds, with the range that it is in with 95 % confidence."""

    median: float
    low: float | None
    high: float | None
    """None: the margin of error is not known."""

    @property
    def rough(self) -> bool:
        """Whether it may be anything from next to nothing to the longest."""
        return self.high is None


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A directly-follows pair that takes much time in total, in seconds."""

    source: str
    target: str
    times: int
    total: float
    median: MedianWait
    before: float | None
    """The median in the original. None: it has no such pair."""


@dataclass(frozen=True, kw_only=True)
class Quartile:
    """The seconds that the fastest quarter, half, or three quarters of cases take at most."""

    after: float
    before: float | None


@dataclass(frozen=True, kw_only=True)
class Times:
    """The times of a release, beside those of the original in an internal report."""

    cycle: tuple[Bar, ...]
    quartiles: tuple[Quartile, ...]
    waits: tuple[Wait, ...]
    work: tuple[Work, ...]
    """How long work takes; empty where it is not known when work began."""
    medians: tuple[Medians, ...]
    """How long each step takes: in the original, where there is one, and in the release."""
    arrivals: tuple[Bar, ...]
    spans: str
    """What a bar of the arrivals stands for."""


def with_margins(bars: tuple[Bar, ...], margin: ShareMargin | None) -> tuple[Bar, ...]:
    """Bars with their margins, where these are known."""
    if margin is None:
        return bars
    return tuple(replace(bar, margin=margin.of(bar.share, bar.values)) for bar in bars)


def describe_times(release: Release, original: CaseBatch | None = None) -> Times | None:
    """Work out what is shown; nothing where times are made up, or there is no event."""
    batch = release.by_case
    if batch is None or not len(batch.activity_ids):
        return None
    if original is None:
        after, before = Timed.of(batch, batch.activities), None
    else:
        before, after = Timed.both(original, batch)
        before = before if before.cases else None
    arrivals, spans = _arrivals(after, before)
    margins = margins_of(release)
    return Times(
        cycle=_cycle(after, before, margins.cycle_time),
        quartiles=_quartiles(after, before),
        waits=_waits(after, before, median_waits(release)),
        work=describe_work(batch, original),
        medians=tuple(_medians(log) for log in (before, after) if log is not None),
        arrivals=with_margins(arrivals, margins.begin),
        spans=spans,
    )


def _cycle(after: Timed, before: Timed | None, margins: tuple[float, ...]) -> tuple[Bar, ...]:
    edges = [edge / SECOND for edge in HUMAN]
    labels = [f"{say_duration(low)} – {say_duration(high)}" for low, high in pairwise(edges)]
    labels[0] = str(Statement("report.under", limit=say_duration(edges[1])))
    labels[-1] = str(Statement("report.over", limit=say_duration(edges[-2])))

    def shares(log: Timed) -> NDArray[np.float64]:
        found = np.array(edges[1:-1]).searchsorted(log.cycle_times, side="right")
        parts: NDArray[np.float64] = np.bincount(found, minlength=len(labels)) / log.cases
        return parts

    bars = _bars(labels, shares(after), None if before is None else shares(before))
    if len(margins) != len(bars):
        return bars
    return tuple(replace(bar, margin=size) for bar, size in zip(bars, margins, strict=True))


def _quartiles(after: Timed, before: Timed | None) -> tuple[Quartile, ...]:
    now, then = (
        [None] * 3 if log is None else np.quantile(log.cycle_times, (0.25, 0.5, 0.75)).tolist()
        for log in (after, before)
    )
    return tuple(Quartile(after=a, before=b) for a, b in zip(now, then, strict=True))


def _waits(
    after: Timed, before: Timed | None, medians: Mapping[tuple[str, str], MedianWait]
) -> tuple[Wait, ...]:
    waits = after.waits()
    old = {} if before is None else _medians(before)
    found = []
    for step in bottlenecks(after):
        here, (source, target) = waits[step], step
        found.append(
            Wait(
                source=source,
                target=target,
                times=len(here),
                total=float(here.sum()),
                median=medians[step],
                before=old.get(step),
            )
        )
    return tuple(found)


def _medians(log: Timed) -> dict[tuple[str, str], float]:
    return {step: float(np.median(waits)) for step, waits in log.waits().items()}


def median_waits(release: Release) -> dict[tuple[str, str], MedianWait]:
    """The median wait of each directly-follows pair, with where it lies in 95 of 100 runs."""
    batch, margins = release.by_case, margins_of(release)
    if batch is None or not len(batch.activity_ids):
        return {}
    found = {}
    for step, waits in Timed.of(batch, batch.activities).waits().items():
        off = margins.waits.get(step, UNKNOWN)
        low, median, high = np.quantile(waits, (max(0.5 - off, 0), 0.5, min(0.5 + off, 1)))
        known = off < UNKNOWN
        found[step] = MedianWait(
            median=float(median),
            low=float(low) if known else None,
            high=float(high) if known else None,
        )
    return found


def _arrivals(after: Timed, before: Timed | None) -> tuple[tuple[Bar, ...], str]:
    logs = [after] if before is None else [after, before]
    months = [(log.begins * 1e6).astype("M8[us]").astype("M8[M]") for log in logs]
    # The original may be of any date: what is shown is chosen by the release alone.
    first, last = months[0].min(), months[0].max()
    unit = "M8[Y]" if int((last - first).astype(int)) >= MOST_MONTHS else "M8[M]"
    names = np.arange(first.astype(unit), last.astype(unit) + 1)
    found = []
    for each in months:
        at = (each.astype(unit) - names[0]).astype(int)
        inside = (at >= 0) & (at < len(names))
        found.append(np.bincount(at[inside], minlength=len(names)) / max(len(each), 1))
    values = MONTHS_A_YEAR if unit == "M8[Y]" else 1
    bars = _bars([str(name) for name in names], found[0], found[1] if before else None)
    bars = tuple(replace(bar, values=values) for bar in bars)
    return bars, "year" if unit == "M8[Y]" else "month"


def _bars(
    labels: Sequence[str], shares: NDArray[np.float64], before: NDArray[np.float64] | None
) -> tuple[Bar, ...]:
    was = [None] * len(labels) if before is None else before.tolist()
    return tuple(
        Bar(label=label, share=share, before=then)
        for label, share, then in zip(labels, shares.tolist(), was, strict=True)
    )
