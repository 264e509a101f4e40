"""What the script on the page needs to draw process maps of all cases, or of chosen variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..synthesis.margins import Margins, Step
from .flow import Flow

Medians = Mapping[tuple[str, str], float]
"""For steps between activities the median time, in seconds."""


def map_data(
    flows: Sequence[Flow], ids: Mapping[str, int], medians: Sequence[Medians | None]
) -> list[dict[str, object]]:
    """Give each flow as numbers: an activity is its place, −1 is the start or the end."""
    return [
        {
            "cases": flow.cases,
            "events": [flow.activities.get(name, 0) for name in ids],
            "steps": [
                [_place(step[0], ids), _place(step[1], ids), count, _median(step, times)]
                for step, count in flow.steps.items()
            ],
        }
        for flow, times in zip(flows, medians, strict=True)
    ]


def map_margins(margins: Margins, ids: Mapping[str, int]) -> dict[str, object]:
    """Give the margins of activities and steps, as a map shows them."""
    return {
        "events": [margins.activities.get(name) for name in ids],
        "steps": [
            [_place(a, ids), _place(b, ids), size]
            for (a, b), size in margins.steps.items()
            if {a, b} - {None} <= ids.keys()
        ],
    }


def _place(name: str | None, ids: Mapping[str, int]) -> int:
    return -1 if name is None else ids[name]


def _median(step: Step, medians: Medians | None) -> float | None:
    if medians is None or step[0] is None or step[1] is None:
        return None
    found = medians.get((step[0], step[1]))
    return None if found is None else round(found, 1)
