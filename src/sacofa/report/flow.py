"""Variants and directly-follows pairs of a log, as the tables and the map of a page show them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add

import numpy as np

from ..kernel.variants import VariantCounts
from ..synthesis.margins import Margins, Place, Step, Variant

MOST_VARIANTS, MOST_STEPS = 5_000, 200_000
"""A page holds no more than this: what is left out is said, and is in the release itself."""
Medians = Mapping[Step, float]
"""The median wait of directly-follows pairs of activities, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A released count in a table."""

    count: int
    before: int | None = None
    """The count in the original; None in a page that may be published."""
    margin: int | None = None
    """In 95 of 100 runs the count is off by no more than this; None: not known."""

    @property
    def below_margin(self) -> bool:
        """Whether the original may have none of it."""
        return self.margin is not None and self.count <= self.margin


@dataclass(frozen=True, kw_only=True)
class Row(Line):
    """The cases of one variant."""

    ids: tuple[int, ...]
    """Its activities, by their place in the explorer's list."""
    complete: bool
    """False where the case went on but was cut."""


@dataclass(frozen=True, kw_only=True)
class StepLine(Line):
    """How often one activity directly follows another."""

    first: Place
    second: Place


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """All variants of a page, the most frequent first."""

    activities: tuple[str, ...]
    """Names, the most frequent first: the order in which colours are given."""
    rows: tuple[Row, ...]
    cases: int
    """All released cases, shown or not."""
    left_out: int
    """How many variants the page has no room for."""

    @property
    def ids(self) -> dict[Place, int]:
        """The number of each activity on the page; the start and the end are −1."""
        return {None: -1, **{name: i for i, name in enumerate(self.activities)}}


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How often each activity occurred, and how often one directly followed another."""

    activities: Mapping[str, int]
    """Events of each activity."""
    steps: Mapping[Step, int]
    """Directly-follows pairs with their counts, the most frequent first."""
    cases: int
    """The number of cases."""


def list_variants(
    released: VariantCounts, original: VariantCounts | None = None, margins: Margins | None = None
) -> Explorer:
    """List the variants of a release; with an original, also those that were lost.

    Next to an original a variant that was cut is the sequence that is left of it, as it is for
    the measures.
    """
    counts, cut = _side_by_side((released,) if original is None else (released, original))
    names = _frequent_first(counts)
    place_of = {name: i for i, name in enumerate(names)}.__getitem__
    places = {key: tuple(map(place_of, key[0])) for key in counts}
    order = sorted(
        counts, key=lambda key: ([-n for n in counts[key]], len(key[0]), places[key], key[1])
    )
    room = bisect_right(list(accumulate(len(variant) for variant, _ in order)), MOST_STEPS)
    rows = tuple(
        Row(
            ids=places[key],
            complete=key not in cut,
            count=counts[key][0],
            before=next(iter(counts[key][1:]), None),
            margin=variant_margin(margins, key[0], key not in cut, counts[key][0]),
        )
        for key in order[: min(room, MOST_VARIANTS)]
    )
    left_out = len(counts) - len(rows)
    return Explorer(activities=names, rows=rows, cases=released.cases, left_out=left_out)


def _side_by_side(logs: Sequence[VariantCounts]) -> tuple[dict[Variant, list[int]], set[Variant]]:
    """The counts of each variant in one log or two, and which of the first log were cut."""
    counts: dict[Variant, list[int]] = {}
    cut = set()
    for number, log in enumerate(logs):
        for (variant, count), complete in zip(log, log.complete.tolist(), strict=True):
            key = variant, complete or len(logs) > 1
            counts.setdefault(key, [0] * len(logs))[number] += count
            if not (number or complete):
                cut.add(key)
    return counts, cut


def _frequent_first(counts: Mapping[Variant, Sequence[int]]) -> tuple[str, ...]:
    """All activities, by the number of their events in the release, then in the original."""
    events: dict[str, list[int]] = {}
    for (variant, _), each in counts.items():
        for name in variant:
            known = events.setdefault(name, [0] * len(each))
            known[:] = map(add, known, each)
    return tuple(sorted(events, key=lambda name: ([-n for n in events[name]], name)))


def variant_margin(
    margins: Margins | None, names: tuple[str, ...], finished: bool, count: int
) -> int | None:
    """The margin of the cases of a variant; None where it is not known, or there are none."""
    known = None if margins is None else margins.variants
    return known.of((names, finished), count) if known is not None and count else None


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


def list_steps(
    flow: Flow, before: Flow | None = None, margins: Mapping[Step, int] | None = None
) -> tuple[StepLine, ...]:
    """List all directly-follows pairs, the most frequent first, with those of the original."""
    new, old, known = flow.steps, {} if before is None else before.steps, margins or {}
    steps = sorted({**new, **old}, key=lambda step: -max(new.get(step, 0), old.get(step, 0)))
    return tuple(
        StepLine(first=a, second=b, count=new.get((a, b), 0), before=old.get((a, b), 0),
                 margin=known.get((a, b)))
        for a, b in steps
    )  # fmt: skip


def page_data(
    explorer: Explorer, flows: Sequence[Flow], margins: Margins, medians: Sequence[Medians]
) -> dict[str, object]:
    """What the scripts of a page need: they choose what is shown, and where.

    The flows are those of the release, or of the original and the release.
    """
    activities, ids = explorer.activities, explorer.ids
    waits = medians if len(medians) == len(flows) else [{}] * len(flows)
    return {
        "activities": activities,
        "cases": explorer.cases,
        "rows": [
            [row.count, row.before, int(row.complete), row.ids, row.margin] for row in explorer.rows
        ],
        "flows": [
            {
                "cases": flow.cases,
                "events": [flow.activities.get(name, 0) for name in activities],
                "steps": [
                    [ids[a], ids[b], count, round(times[a, b], 1) if (a, b) in times else None]
                    for (a, b), count in flow.steps.items()
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
