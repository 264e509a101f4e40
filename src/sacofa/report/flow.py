"""Directly-follows counts of a log, as the table and the process map of a report show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernel.variants import VariantCounts
from ..synthesis.margins import Margins, Place, Step

Medians = Mapping[Step, float]
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
    """List all directly-follows pairs, the most frequent first, with those of the original."""
    new, old, known = flow.steps, {} if before is None else before.steps, margins or {}
    lines = [
        StepLine(
            first=step[0],
            second=step[1],
            count=new.get(step, 0),
            before=old.get(step, 0),
            margin=known.get(step),
        )
        for step in {**new, **old}
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


def map_data(
    flows: Sequence[Flow], margins: Margins, activities: Sequence[str], medians: Sequence[Medians]
) -> dict[str, object]:
    """What the script of a page draws the process map of: it chooses what is shown, and where.

    The flows are those of the release, or of the original and the release. The script uses the
    places of activities on the page as their numbers; the start and the end are −1.
    """
    ids: dict[Place, int] = {None: -1, **{name: i for i, name in enumerate(activities)}}
    waits = medians if len(medians) == len(flows) else [{}] * len(flows)
    return {
        "flows": [
            {
                "cases": flow.cases,
                "events": [flow.activities.get(name, 0) for name in activities],
                "steps": [
                    [ids[first], ids[second], count, _rounded(times.get((first, second)))]
                    for (first, second), count in flow.steps.items()
                ],
            }
            for flow, times in zip(flows, waits, strict=True)
        ],
        "margins": {
            "events": [margins.activities.get(name) for name in activities],
            "steps": [
                [ids[first], ids[second], size]
                for (first, second), size in margins.steps.items()
                if {first, second} <= ids.keys()
            ],
        },
    }


def _rounded(wait: float | None) -> float | None:
    return None if wait is None else round(wait, 1)
