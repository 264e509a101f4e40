"""The figures of a release as a table: counts, shares and median waits, with their margins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..release.anonymize import Release
from .attributes import describe_attributes
from .flow import count_flow
from .sureness import margins_of, variant_margin
from .times import Bar, describe_times, median_waits

Kind = Literal["cases", "variant", "activity", "step", "wait", "cycle time", "begin", "attribute"]


@dataclass(frozen=True, kw_only=True)
class ReleasedFigure:
    """One figure of a release; in 95 of 100 runs it is off by no more than its margin."""

    kind: Kind
    """What it is about: all cases, a variant, the events of an activity, a directly-follows pair,
    the median wait of such a pair, or a share."""
    name: str | None = None
    """The attribute; None for all else."""
    value: str | None = None
    """The value of an attribute, the range of cycle times, or when cases begin."""
    activities: tuple[str | None, ...] | None = None
    """The variant, the activity, or the two of a pair, of which None is the start or the end."""
    finished: bool | None = None
    """Of a variant: False where its cases went on and were cut."""
    count: int | None = None
    """How many; None for what was asked as a share."""
    count_margin: int | None = None
    """The margin of the count; None: not known."""
    share: float | None = None
    """What part of all cases; of all events for an activity and for the value of an event, of all
    directly-follows pairs for one of them."""
    share_margin: float | None = None
    """The margin of the share; None: not known."""
    seconds: float | None = None
    """A median wait."""
    seconds_low: float | None = None
    """The median wait is no shorter; None: not known."""
    seconds_high: float | None = None
    """The median wait is no longer; None: not known."""
    below_margin: bool = False
    """Whether the figure is no larger than its margin: there may be none of it in the original."""


def list_figures(release: Release) -> list[ReleasedFigure]:
    """List what a report shows, and all variants: from the release and its certificate alone."""
    variants, margins = release.variants, margins_of(release)
    if not variants.cases:
        return []
    flow, cases = count_flow(variants), variants.cases
    steps = sum(flow.steps.values())
    rows = zip(variants, variants.complete.tolist(), strict=True)
    return [
        _counted("cases", cases, cases, margins.cases),
        *(
            _counted(
                "variant", count, cases, variant_margin(margins, names, finished, count),
                names, finished,
            )
            for (names, count), finished in sorted(rows, key=lambda row: (-row[0][1], row))
        ),
        *(
            _counted("activity", count, variants.events, margins.activities.get(name), (name,))
            for name, count in sorted(flow.activities.items(), key=lambda one: (-one[1], one))
        ),
        *(
            _counted("step", count, steps, margins.steps.get(step), step)
            for step, count in flow.steps.items()
        ),
        *_waits(release),
        *_shares(release),
    ]  # fmt: skip


def _counted(
    kind: Kind,
    count: int,
    total: int,
    margin: int | None,
    activities: tuple[str | None, ...] | None = None,
    finished: bool | None = None,
) -> ReleasedFigure:
    return ReleasedFigure(
        kind=kind,
        activities=activities,
        finished=finished,
        count=count,
        count_margin=margin,
        share=count / total,
        # All cases are all cases, however many they are.
        share_margin=None if margin is None or kind == "cases" else min(margin / total, 1.0),
        below_margin=margin is not None and count <= margin,
    )


def _waits(release: Release) -> Iterator[ReleasedFigure]:
    """The median wait of each pair of activities, where times were released."""
    for step, wait in median_waits(release).items():
        yield ReleasedFigure(
            kind="wait",
            activities=step,
            seconds=wait.median,
            seconds_low=wait.low,
            seconds_high=wait.high,
            below_margin=wait.rough,
        )


def _shares(release: Release) -> Iterator[ReleasedFigure]:
    """What was asked as shares: cycle times, beginnings, values of attributes."""
    times = describe_times(release)
    if times is not None:
        yield from _bars("cycle time", None, times.cycle)
        yield from _bars("begin", None, times.arrivals)
    for view in describe_attributes(release):
        yield from _bars("attribute", view.name, view.bars)


def _bars(kind: Kind, name: str | None, bars: tuple[Bar, ...]) -> Iterator[ReleasedFigure]:
    for bar in bars:
        yield ReleasedFigure(
            kind=kind,
            name=name,
            value=bar.label,
            share=bar.share,
            share_margin=bar.margin,
            below_margin=bar.below_margin,
        )
