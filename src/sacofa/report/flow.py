"""Directly-follows counts of a log, as the table and the process map of a report show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernel.variants import VariantCounts
from ..synthesis.margins import Margins, Place, Step

Medians = Mapping[tuple[str, str], float]
"""The median wait of directly-follows pairs of activities, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How often each activity occurred, and how often one directly followed another."""

    activities: Mapping[str, int]
    """Events of each activity."""
    steps: Mapping[Step, int]
    """Directly-follows pairs with their counts, the most frequent first."""
    cases: int
    """The number of cases."""


@dataclass(frozen=True, kw_only=True)
class StepLine:
    """One directly-follows pair in a table."""

    first: Place
    second: Place
    count: int
    before: int
    """The count in the original. 0 without an original."""
    margin: int | None = None
    """The margin of error of the count. None: not known."""

    @property
    def below_margin(self) -> bool:
        """Whether the original may have none of it."""
        return self.margin is not None and self.count <= self.margin


def list_steps(
    flow: Flow, before: Flow | None = None, margins: Mapping[Step, int] | None = None
) -> tuple[StepLine, ...]:
    """List all directly-follows pairs, the most frequent first.

    Args:
        flow: The release.
        before: The original, whose pairs are listed even if the release has none of them.
        margins: The margins of error of the released counts, as far as they are known.

    Returns:
        One line for each pair.
    """
    old = {} if before is None else before.steps
    lines = [
        StepLine(
            first=step[0],
            second=step[1],
            count=flow.steps.get(step, 0),
            before=old.get(step, 0),
            margin=(margins or {}).get(step),
        )
        for step in {**flow.steps, **old}
    ]
    return tuple(sorted(lines, key=lambda line: -max(line.count, line.before)))


def count_flow(variants: VariantCounts) -> Flow:
    """Count the directly-follows pairs of all cases. A truncated case has no pair to the end."""
    names, size = variants.activities, len(variants.activities)
    counts, lengths, offsets = variants.counts, variants.lengths, variants.offsets
    events = np.bincount(variants.activity_ids, np.repeat(counts, lengths), minlength=size)
    codes = np.full((2, len(variants.activity_ids) + len(variants)), size, dtype=np.int64)
    # Each variant gets one more place: row 0 (first of a pair) begins with the start, and row 1
    # (second of a pair) ends with the end. Both have the code `size`.
    shift = np.repeat(np.arange(len(variants)), lengths)
    codes[0, np.arange(len(variants.activity_ids)) + shift + 1] = variants.activity_ids
    codes[1, np.arange(len(variants.activity_ids)) + shift] = variants.activity_ids
    weights = np.repeat(counts, lengths + 1)
    weights[(offsets[1:] + np.arange(len(variants)))[~variants.complete]] = 0
    both = np.bincount(codes[0] * (size + 1) + codes[1], weights, minlength=(size + 1) ** 2)
    places: tuple[Place, ...] = (*names, None)
    order = np.argsort(-both, kind="stable")[: int((both > 0).sum())]
    return Flow(
        activities={name: int(n) for name, n in zip(names, events, strict=True) if n},
        steps={(places[i // (size + 1)], places[i % (size + 1)]): int(both[i]) for i in order},
        cases=variants.cases,
    )


@dataclass(frozen=True, kw_only=True)
class ProcessMap:
    """The process map of a report, and the table under it.

    The script on the page chooses what is shown, and where it goes.
    """

    steps: tuple[StepLine, ...]
    """All directly-follows pairs, the most frequent first."""
    has_margins: bool
    """Whether margins of error are known."""
    timed: bool
    """Whether median waits are known."""
    waits: Medians
    """The median waits in the release."""
    data: Mapping[str, object]
    """The flows and margins for the script, with numbers for activities."""


def describe_map(
    flows: Sequence[Flow],
    margins: Margins,
    activities: Sequence[str],
    medians: Sequence[Medians] = (),
) -> ProcessMap:
    """Prepare the process map.

    Args:
        flows: The release, or the original and the release.
        margins: The margins of error of the release.
        activities: The names on the page. Their places are the numbers that the script uses; the
            start and the end are −1.
        medians: The median waits of each flow. Empty without times.

    Returns:
        What the template and the script need.
    """
    ids = {name: i for i, name in enumerate(activities)}
    waits = medians if len(medians) == len(flows) else [{}] * len(flows)
    return ProcessMap(
        steps=list_steps(flows[-1], flows[0] if len(flows) > 1 else None, margins.steps),
        has_margins=bool(margins.steps),
        timed=bool(medians),
        waits=medians[-1] if medians else {},
        data={
            "flows": [
                _flow_data(flow, ids, times) for flow, times in zip(flows, waits, strict=True)
            ],
            "margins": {
                "events": [margins.activities.get(name) for name in ids],
                "steps": [
                    [_id(first, ids), _id(second, ids), size]
                    for (first, second), size in margins.steps.items()
                    if {first, second} - {None} <= ids.keys()
                ],
            },
        },
    )


def _flow_data(flow: Flow, ids: Mapping[str, int], medians: Medians) -> dict[str, object]:
    return {
        "cases": flow.cases,
        "events": [flow.activities.get(name, 0) for name in ids],
        "steps": [
            [_id(first, ids), _id(second, ids), count, _wait((first, second), medians)]
            for (first, second), count in flow.steps.items()
        ],
    }


def _id(name: Place, ids: Mapping[str, int]) -> int:
    return -1 if name is None else ids[name]


def _wait(step: Step, medians: Medians) -> float | None:
    first, second = step
    if first is None or second is None or (first, second) not in medians:
        return None
    return round(medians[first, second], 1)
