"""The figures of a release as a table: every count and share, each with how far noise moves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..release.anonymize import Release
from .attributes import attribute_within, describe_attributes
from .flow import count_flow
from .sureness import find_within
from .times import Bar, describe_times

Kind = Literal["cases", "variant", "activity", "step", "cycle time", "begin", "attribute"]


@dataclass(frozen=True, kw_only=True)
class ReleasedFigure:
    """One figure of a release. In 95 of 100 runs noise moves it by no more than its `…_within`."""

    kind: Kind
    """What it is about: all cases, a variant, the events of an activity, a step, or a share."""
    name: str | None = None
    """The attribute; None for all else."""
    value: str | None = None
    """The value of an attribute, the range of cycle times, or when cases begin."""
    activities: tuple[str | None, ...] | None = None
    """The variant, the activity, or the two of a step, of which None is the start or the end."""
    finished: bool | None = None
    """Of a variant: False where its cases went on and were cut."""
    count: int | None = None
    """How many; None for what was asked as a share."""
    count_within: int | None = None
    """How far noise moves the count; None: not known."""
    share: float
    """What part of all cases; of all events for an activity and for the value of an event, of all
    steps for a step."""
    share_within: float | None = None
    """How far noise moves the share; None: not known."""


def list_figures(release: Release) -> list[ReleasedFigure]:
    """List what a report shows, and all variants: from the release and its certificate alone."""
    variants, within = release.variants, find_within(release)
    if not variants.cases:
        return []
    flow, cases = count_flow(variants), variants.cases
    steps = sum(flow.steps.values())
    rows = zip(variants, variants.complete.tolist(), strict=True)
    return [
        _counted("cases", cases, cases, within.cases),
        *(
            _counted("variant", count, cases, within.variant, names, finished)
            for (names, count), finished in sorted(rows, key=lambda row: (-row[0][1], row))
        ),
        *(
            _counted("activity", count, variants.events, within.activity, (name,))
            for name, count in sorted(flow.activities.items(), key=lambda one: (-one[1], one))
        ),
        *(_counted("step", count, steps, within.step, step) for step, count in flow.steps.items()),
        *_shares(release),
    ]


def _counted(
    kind: Kind,
    count: int,
    total: int,
    within: int | None,
    activities: tuple[str | None, ...] | None = None,
    finished: bool | None = None,
) -> ReleasedFigure:
    return ReleasedFigure(
        kind=kind,
        activities=activities,
        finished=finished,
        count=count,
        count_within=within,
        share=count / total,
        # All cases are all cases, however many they are.
        share_within=None if within is None or kind == "cases" else within / total,
    )


def _shares(release: Release) -> Iterator[ReleasedFigure]:
    """What was asked as shares: cycle times, beginnings, values of attributes."""
    times = describe_times(release)
    if times is not None:
        yield from _bars("cycle time", None, times.cycle, times.cycle_within)
        yield from _bars("begin", None, times.arrivals, times.arrivals_within)
    for column, view in zip(release.columns, describe_attributes(release), strict=True):
        yield from _bars("attribute", view.name, view.bars, attribute_within(release, column))


def _bars(
    kind: Kind, name: str | None, bars: tuple[Bar, ...], within: float | None
) -> Iterator[ReleasedFigure]:
    for bar in bars:
        yield ReleasedFigure(
            kind=kind, name=name, value=bar.label, share=bar.share, share_within=within
        )
