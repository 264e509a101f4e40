"""What a report shows of times: how long cases take, where time goes, when cases begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..cases import CaseBatch
from ..evaluation.measures.performance import bottlenecks
from ..evaluation.measures.timed import Timed
from ..privacy.accounting import Spend
from ..queries.durations import HUMAN, SECOND
from ..queries.times import Arrivals, CycleTime, Gaps
from ..release.anonymize import Release
from ..timing.ask import ReleasedFlow
from .durations import say_duration
from .mapdata import Medians
from .sureness import share_within
from .work import Work, describe_work

SURE = 20.0
"""From so many noise scales of votes on a median is taken as it is. The noise of the 14 bins of a
step adds up to about 5, which then moves it by no more than a quarter of its cases."""
MOST_MONTHS = 60
"""Where cases begin over more months, years are shown."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar of a distribution."""

    label: str
    share: float
    before: float | None = None
    """In the original; None in a page that may be published."""

    @property
    def longest(self) -> float:
        """The larger of both shares."""
        return max(self.share, self.before or 0.0)


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A step that takes much time in all."""

    source: str
    target: str
    times: int
    total: str
    median: str
    before: str | None
    """The median in the original; a dash where it has no such step."""
    rough: bool
    """Whether noise may move its median far."""


@dataclass(frozen=True, kw_only=True)
class Quartile:
    """How long the fastest quarter, half, or three quarters of cases take at most."""

    name: str
    after: str
    before: str | None


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
    cycle_within: float | None
    """In 95 of 100 runs a share of the cycle times is no further off."""
    arrivals_within: float | None
    """The same for the arrivals, month by month."""


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
    return Times(
        cycle=_cycle(after, before),
        quartiles=_quartiles(after, before),
        waits=_waits(after, before, _rough(release)),
        work=describe_work(batch, original),
        medians=tuple(_medians(log) for log in (before, after) if log is not None),
        arrivals=arrivals,
        spans=spans,
        cycle_within=share_within(release, CycleTime.what),
        arrivals_within=share_within(release, Arrivals.what) if spans == "month" else None,
    )


def _cycle(after: Timed, before: Timed | None) -> tuple[Bar, ...]:
    edges = [edge / SECOND for edge in HUMAN]
    labels = [f"{say_duration(low)} – {say_duration(high)}" for low, high in pairwise(edges)]
    labels[0] = f"under {say_duration(edges[1])}"
    labels[-1] = f"over {say_duration(edges[-2])}"

    def shares(log: Timed) -> NDArray[np.float64]:
        found = np.array(edges[1:-1]).searchsorted(log.cycle_times, side="right")
        parts: NDArray[np.float64] = np.bincount(found, minlength=len(labels)) / log.cases
        return parts

    return _bars(labels, shares(after), None if before is None else shares(before))


def _quartiles(after: Timed, before: Timed | None) -> tuple[Quartile, ...]:
    def quarters(log: Timed) -> list[str]:
        return [say_duration(each) for each in np.quantile(log.cycle_times, (0.25, 0.5, 0.75))]

    names = ("a quarter of all cases", "half of all cases", "three quarters of all cases")
    was = [None] * len(names) if before is None else quarters(before)
    return tuple(
        Quartile(name=name, after=now, before=then)
        for name, now, then in zip(names, quarters(after), was, strict=True)
    )


def _waits(after: Timed, before: Timed | None, rough: set[tuple[str, str]]) -> tuple[Wait, ...]:
    steps, gaps = after.gaps()
    old_steps, old_gaps = (steps[:0], gaps[:0]) if before is None else before.gaps()
    found = []
    for step in bottlenecks(after):
        here, there = gaps[steps == step], old_gaps[old_steps == step]
        source, target = (after.activities[i] for i in divmod(step, len(after.activities)))
        was = say_duration(float(np.median(there))) if len(there) else "–"
        found.append(
            Wait(
                source=source,
                target=target,
                times=len(here),
                total=say_duration(float(here.sum())),
                median=say_duration(float(np.median(here))),
                before=None if before is None else was,
                rough=(source, target) in rough,
            )
        )
    return tuple(found)


def _medians(log: Timed) -> dict[tuple[str, str], float]:
    steps, gaps = log.gaps()
    order = np.argsort(steps, kind="stable")
    codes, starts = np.unique(steps[order], return_index=True)
    size, parts = len(log.activities), np.split(gaps[order], starts[1:])
    return {
        (log.activities[code // size], log.activities[code % size]): float(np.median(part))
        for code, part in zip(codes.tolist(), parts, strict=False)
    }


def _rough(release: Release) -> set[tuple[str, str]]:
    """Steps that got few votes beside the noise: known from the release and its certificate."""
    certificate, names = release.certificate, release.variants.activities
    prices = [
        each.epsilon
        for each in certificate.spent
        if isinstance(each, Spend) and each.what == Gaps.what
    ]
    if not prices:
        return set()
    scale = float(prices[0] / certificate.unit.max_cases)
    votes = ReleasedFlow(release.variants).step_votes()
    thin = np.flatnonzero((votes > 0) & (votes * scale < SURE)).tolist()
    return {(names[step // len(names)], names[step % len(names)]) for step in thin}


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
    bars = _bars([str(name) for name in names], found[0], found[1] if before else None)
    return bars, "year" if unit == "M8[Y]" else "month"


def _bars(
    labels: Sequence[str], shares: NDArray[np.float64], before: NDArray[np.float64] | None
) -> tuple[Bar, ...]:
    was = [None] * len(labels) if before is None else before.tolist()
    return tuple(
        Bar(label=label, share=share, before=then)
        for label, share, then in zip(labels, shares.tolist(), was, strict=True)
    )
