"""What a report shows of attributes: how values are spread, and for events by activity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..kernel.released import ReleasedColumn
from ..release.anonymize import Release
from .sureness import margins_of
from .times import Bar, with_margins

MOST = 12
"""So many values are shown, the most frequent ones; numbers are shown in as many stretches."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ActivityValues:
    """The most frequent values of an attribute at one activity."""

    activity: str
    events: int
    """How many events have a value."""
    values: str
    """The values with their shares."""


@dataclass(frozen=True, kw_only=True)
class AttributeView:
    """An attribute of a release."""

    name: str
    of_case: bool
    bars: tuple[Bar, ...]
    """How values are spread."""
    by_activity: tuple[ActivityValues, ...]
    """For events, the same within each activity."""


def describe_attributes(release: Release) -> tuple[AttributeView, ...]:
    """Everything about attributes: from the release and its certificate alone."""
    return tuple(_describe(release, column) for column in release.columns)


def _describe(release: Release, column: ReleasedColumn) -> AttributeView:
    margin = margins_of(release).attributes.get(column.key)
    labels, codes = _grouped(column, () if margin is None else margin.edges)
    return AttributeView(
        name=column.key,
        of_case=column.of_case,
        bars=with_margins(_bars(labels, codes), margin),
        by_activity=() if column.of_case else _by_activity(release, labels, codes),
    )


def _grouped(column: ReleasedColumn, asked: tuple[float, ...]) -> tuple[list[str], Ints]:
    """Values as they are shown: many different numbers in the ranges that were asked for.

    Where these are not known, or too many, they are in ranges of one width.
    """
    codes = column.codes.astype(np.int64)
    texts = list(column.texts)
    if column.kind not in ("int", "float") or len(texts) <= MOST:
        order = sorted(range(len(texts)), key=lambda i: _order(column, texts[i]))
        place = np.empty(len(texts) + 1, dtype=np.int64)
        place[order] = np.arange(len(texts))
        place[-1] = -1
        return [texts[i] for i in order], place[codes]
    numbers = np.array([float(text) for text in texts])
    values = np.append(numbers, np.nan)[codes]
    known = values[codes >= 0]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    edges = np.array(asked)
    if not 2 <= len(edges) <= MOST + 1:
        edges = _edges(float(low), float(high))
    found = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    names = [f"{a:.4g} – {b:.4g}" for a, b in pairwise(edges)]
    return names, np.where(codes >= 0, found, -1)


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Where stretches begin and end: at most MOST of one round width, at its multiples."""
    least = max((high - low) / (MOST - 1), 1e-12)
    power = 10.0 ** np.floor(np.log10(least))
    width = next(m * power for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-9))
    first = np.floor(low / width)
    edges: NDArray[np.float64] = width * np.arange(first, np.floor(high / width) + 2)
    return edges


def _order(column: ReleasedColumn, text: str) -> tuple[float, str]:
    return (float(text), "") if column.kind in ("int", "float") else (0.0, text)


def _bars(labels: list[str], codes: Ints) -> tuple[Bar, ...]:
    """The most frequent values, and all others together."""
    known = codes[codes >= 0]
    many = np.bincount(known, minlength=len(labels)) if len(labels) else np.zeros(0)
    total = max(len(known), 1)
    kept = sorted(np.argsort(-many, kind="stable")[:MOST].tolist())
    shown = [Bar(label=labels[i], share=float(many[i]) / total) for i in kept if many[i]]
    rest = 1 - sum(bar.share for bar in shown)
    if rest <= 1e-9 or not shown:
        return tuple(shown)
    others = int((many > 0).sum()) - len(shown)
    return (*shown, Bar(label="all others", share=rest, values=others))


def _by_activity(release: Release, labels: list[str], codes: Ints) -> tuple[ActivityValues, ...]:
    variants = release.variants
    which = np.repeat(np.arange(len(variants)), variants.counts)
    lengths = variants.lengths[which]
    start = np.repeat(variants.offsets[:-1][which], lengths)
    place = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ids = variants.activity_ids[start + place]
    found = []
    for i, name in enumerate(variants.activities):
        here = codes[(ids == i) & (codes >= 0)]
        if len(here):
            many = np.bincount(here, minlength=len(labels))
            top = np.argsort(-many, kind="stable")[:3].tolist()
            shown = [v for v in top if 200 * many[v] >= len(here)]
            words = [
                f"{labels[v]}: {100 * many[v] / len(here):.0f}\N{NO-BREAK SPACE}%" for v in shown
            ]
            found.append(ActivityValues(activity=name, events=len(here), values=", ".join(words)))
    return tuple(sorted(found, key=lambda one: -one.events))
