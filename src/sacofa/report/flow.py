"""Variants and directly-follows pairs of a log, for the tables and the map of a page."""

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
"""Maximum size of a page; it reports the number of omitted variants, which the release contains."""
Medians = Mapping[Step, float]
"""The median wait of directly-follows pairs of activities, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A released count in a table."""

    count: int
    before: int | None = None
    """The count in the original; None in a publishable page."""
    margin: int | None = None
    """Margin of error (95 %) of the count; None if unknown."""

    @property
    def below_margin(self) -> bool:
        """Whether the original count may be 0."""
        return self.margin is not None and self.count <= self.margin


@dataclass(frozen=True, kw_only=True)
class Row(Line):
    """The cases of one variant."""

    ids: tuple[int, ...]
    """Its activities, as indices into the explorer's list."""
    complete: bool
    """False if the case is truncated."""


@dataclass(frozen=True, kw_only=True)
class StepLine(Line):
    """The count of a directly-follows pair."""

    first: Place
    second: Place


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """All variants of a page, the most frequent first."""

    activities: tuple[str, ...]
    """Names, the most frequent first, which is also the order of colours."""
    rows: tuple[Row, ...]
    cases: int
    """Number of all released cases, listed or not."""
    left_out: int
    """Number of variants that do not fit on the page."""

    @property
    def ids(self) -> dict[Place, int]:
        """The index of each activity on the page; the start and the end are −1."""
        return {None: -1, **{name: i for i, name in enumerate(self.activities)}}


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The frequencies of activities and directly-follows pairs."""

    activities: Mapping[str, int]
    """Number of events of each activity."""
    steps: Mapping[Step, int]
    """Directly-follows pairs with their counts, the most frequent first."""
    cases: int


def list_variants(
    released: VariantCounts, original: VariantCounts | None = None, margins: Margins | None = None
) -> Explorer:
    """List the variants of a release; with an original, also those that were lost.

    With an original, a truncated variant counts as the sequence that it has, as in the measures.
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
    """Return the counts of each variant in one log or two, and the truncated ones of the first."""
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
    """Return all activities, sorted by their events in the release, then in the original."""
    events: dict[str, list[int]] = {}
    for (variant, _), each in counts.items():
        for name in variant:
            known = events.setdefault(name, [0] * len(each))
            known[:] = map(add, known, each)
    return tuple(sorted(events, key=lambda name: ([-n for n in events[name]], name)))


def variant_margin(
    margins: Margins | None, names: tuple[str, ...], finished: bool, count: int
) -> int | None:
    """Return the margin of the cases of a variant; None if it is unknown, or if there are none."""
    known = None if margins is None else margins.variants
    return known.of((names, finished), count) if known is not None and count else None


def count_flow(variants: VariantCounts) -> Flow:
    """Count the directly-follows pairs of all cases. A truncated case has no pair with the end."""
    names, size = variants.activities, len(variants.activities)
    counts, lengths, offsets = variants.counts, variants.lengths, variants.offsets
    events = np.bincount(variants.activity_ids, np.repeat(counts, lengths), minlength=size)
    codes = np.full((2, len(variants.activity_ids) + len(variants)), size, dtype=np.int64)
    # Each variant gets an additional position: row 0 (first of a pair) begins with the start, and
    # row 1 (second of a pair) ends with the end. Both have the code `size`.
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
    """Return the data for the scripts of a page.

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
