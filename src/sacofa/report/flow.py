"""Which activity directly follows which, how often, and what of it to show at which detail."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..kernel.variants import VariantCounts
from ..synthesis.margins import Place, Step

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""How much of all that happened the levels of detail show at least."""
MOST_STEPS = 80
"""A map with more arrows than this says nothing any more."""

GROWTH = 1.35
"""By how much a level has more arrows than the one before, at least."""


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How often each activity occurred, and how often one directly followed another."""

    activities: Mapping[str, int]
    """Events of each activity."""
    steps: Mapping[Step, int]
    """Steps from one place to the next, the most frequent first."""
    cases: int
    """The number of cases."""


@dataclass(frozen=True, kw_only=True)
class StepLine:
    """One step in a table."""

    first: Place
    second: Place
    count: int
    before: int
    """How often the original has it; 0 where there is no original."""
    margin: int | None = None
    """In 95 of 100 runs the count is off by no more than this; None: not known."""

    @property
    def below_margin(self) -> bool:
        """Whether the original may have none of it."""
        return self.margin is not None and self.count <= self.margin


def list_steps(
    flow: Flow, before: Flow | None = None, margins: Mapping[Step, int] | None = None
) -> tuple[StepLine, ...]:
    """List all steps, the most frequent first; with an original, those that vanished too."""
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
    """Count the steps of all cases; a case that was cut has no step to the end."""
    names, size = variants.activities, len(variants.activities)
    counts, lengths, offsets = variants.counts, variants.lengths, variants.offsets
    events = np.bincount(variants.activity_ids, np.repeat(counts, lengths), minlength=size)
    codes = np.full((2, len(variants.activity_ids) + len(variants)), size, dtype=np.int64)
    # Every variant is written with one more place in front (the start) and one behind (the end).
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


def choose_levels(*flows: Flow) -> tuple[frozenset[Step], ...]:
    """Choose what to show at each level of detail, so that each shows more than the one before.

    A level holds the most frequent steps that make up its share of all steps, and for every
    activity among them its widest way from the start and to the end, so that nothing floats.
    Several flows share their levels: what one of them shows, all show.
    """
    levels: list[frozenset[Step]] = []
    for share in SHARES:
        shown = _show_all(flows, share, None)
        if len(shown) > MOST_STEPS:
            break
        if levels and len(shown) < GROWTH * len(levels[-1]):
            levels[-1] = shown
        elif shown:
            levels.append(shown)
    if levels or not any(flow.steps for flow in flows):
        return tuple(levels)
    # Steps are so many and so even that no share of them can be shown: a few must do.
    few = (_show_all(flows, 1.0, most) for most in (MOST_STEPS // 2**n for n in range(1, 7)))
    return (next((shown for shown in few if len(shown) <= MOST_STEPS), _show_all(flows, 1.0, 1)),)


def _show_all(flows: Iterable[Flow], share: float, most: int | None) -> frozenset[Step]:
    return frozenset[Step]().union(*(_show(flow, share, most) for flow in flows))


def _show(flow: Flow, share: float, most: int | None) -> set[Step]:
    total = sum(flow.steps.values())
    kept: set[Step] = set()
    mass = 0
    for step, count in flow.steps.items():
        if mass >= share * total or len(kept) == most:
            break
        kept.add(step)
        mass += count
    places = {place for step in kept for place in step if place is not None}
    return (
        kept
        | widest_ways(flow.steps, places, back=False)
        | widest_ways(flow.steps, places, back=True)
    )


def widest_ways(steps: Mapping[Step, int], places: Iterable[str], *, back: bool) -> set[Step]:
    """Find the steps of the widest path from the start to each place or, with back, to the end.

    `widestWays` in templates/choose.js finds the same steps when readers move the sliders.
    """
    onward: dict[Place, list[tuple[Place, int]]] = {}
    for (first, second), count in steps.items():
        here, there = (second, first) if back else (first, second)
        if there is not None:
            onward.setdefault(here, []).append((there, count))
    came: dict[str, Place] = {}
    queue: list[tuple[int, int, str, str, Place]] = []

    def push(here: Place, width: int) -> None:
        for there, count in onward.get(here, ()):
            if there is not None and there not in came:
                # Of two ways that are as wide, the one whose last step is more frequent is shown.
                heapq.heappush(queue, (-min(width, count), -count, there, here or "", here))

    push(None, sum(steps.values()))
    while queue:
        width, _, place, _, before = heapq.heappop(queue)
        if place not in came:
            came[place] = before
            push(place, -width)
    ways: set[Step] = set()
    for place in places:
        at: Place = place
        while at is not None and at in came:
            before = came[at]
            ways.add((at, before) if back else (before, at))
            at = before
    return ways
