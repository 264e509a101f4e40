"""Variants in the order people read them: the most frequent first, with shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

from ..kernel.variants import VariantCounts
from ..synthesis.margins import Margins

MOST_VARIANTS, MOST_STEPS = 5_000, 200_000
"""A page holds no more than this: what is left out is said, and is in the release itself."""

Sequenced = tuple[tuple[int, ...], bool, int]
"""The activities of a variant, whether it is complete, and its count."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One variant on the page."""

    ids: tuple[int, ...]
    """Its activities, by their place in the explorer's list."""
    complete: bool
    """False where the case went on but was cut."""
    count: int
    """Cases in the release."""
    original: int | None = None
    """Cases in the original, in an internal report."""
    margin: int | None = None
    """In 95 of 100 runs the count is off by no more than this; None: not known."""

    @property
    def below_margin(self) -> bool:
        """Whether it need not occur in the original."""
        return self.margin is not None and self.count <= self.margin


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """All variants of a page."""

    activities: tuple[str, ...]
    """Names, the most frequent first: the order in which colours are given."""
    rows: tuple[Row, ...]
    cases: int
    """All released cases, shown or not."""
    left_out: int
    """How many variants the page has no room for."""

    def data(self) -> dict[str, object]:
        """What the script on the page needs."""
        return {
            "activities": self.activities,
            "cases": self.cases,
            "rows": [
                [row.count, row.original, int(row.complete), row.ids, row.margin]
                for row in self.rows
            ],
        }


def list_variants(
    released: VariantCounts, original: VariantCounts | None = None, margins: Margins | None = None
) -> Explorer:
    """List the variants of a release; with an original, also those that were lost.

    Beside an original a variant that was cut is the sequence that is left of it, as it is for
    the measures.
    """
    names = _frequent_first([released] if original is None else [released, original])
    ids = {name: i for i, name in enumerate(names)}
    rows = (
        [Row(ids=s, complete=c, count=n) for s, c, n in _sequences(released, ids)]
        if original is None
        else _side_by_side(list(_sequences(released, ids)), list(_sequences(original, ids)))
    )
    rows.sort(
        key=lambda row: (-row.count, -(row.original or 0), len(row.ids), row.ids, row.complete)
    )
    events = accumulate(len(row.ids) for row in rows)
    room = sum(1 for _ in takewhile(lambda total: total <= MOST_STEPS, events))
    kept = rows[: min(room, MOST_VARIANTS)]
    shown = [_with_margin(row, names, margins or Margins()) for row in kept]
    left_out = len(rows) - len(kept)
    return Explorer(activities=names, rows=tuple(shown), cases=released.cases, left_out=left_out)


def _with_margin(row: Row, names: Sequence[str], margins: Margins) -> Row:
    """A variant with its margin, if the release has it."""
    if not row.count:
        return row
    sequence = tuple(names[i] for i in row.ids)
    return replace(row, margin=variant_margin(margins, sequence, row.complete, row.count))


def variant_margin(
    margins: Margins, names: tuple[str, ...], finished: bool, count: int
) -> int | None:
    """The margin of the cases of a variant; None where it is not known."""
    return None if margins.variants is None else margins.variants.of((names, finished), count)


def _sequences(variants: VariantCounts, ids: dict[str, int]) -> Iterator[Sequenced]:
    place = [ids.get(name, -1) for name in variants.activities]
    columns = variants.sequences(), variants.complete.tolist(), variants.counts.tolist()
    for sequence, complete, count in zip(*columns, strict=True):
        yield tuple(place[i] for i in sequence), complete, count


def _side_by_side(released: list[Sequenced], original: list[Sequenced]) -> list[Row]:
    """One row for each sequence in either log."""
    counts: dict[tuple[int, ...], list[int]] = {}
    for column, log in enumerate((released, original)):
        for sequence, _, count in log:
            counts.setdefault(sequence, [0, 0])[column] += count
    cut = {sequence for sequence, complete, _ in released if not complete}
    return [
        Row(ids=sequence, complete=sequence not in cut, count=after, original=before)
        for sequence, (after, before) in counts.items()
    ]


def _frequent_first(logs: Sequence[VariantCounts]) -> tuple[str, ...]:
    """All activities that occur, by the number of their events in the first log, then the next."""
    events: dict[str, list[int]] = {}
    for number, log in enumerate(logs):
        for sequence, count in zip(log.sequences(), log.counts.tolist(), strict=True):
            for i in sequence:
                events.setdefault(log.activities[i], [0] * len(logs))[number] += count
    return tuple(sorted(events, key=lambda name: ([-n for n in events[name]], name)))
