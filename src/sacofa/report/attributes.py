"""The section of a report on attributes: distributions of values, and for events by activity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.batches import cases_of
from ..kernel.statements import Statement
from ..release.anonymize import Release
from ..synthesis.released import ReleasedColumn
from .promise import margins_of
from .times import Bar, with_margins

MAX_BARS = 12
"""Upper bound on the values or ranges of numbers that get a bar of their own."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ActivityValues:
    """The most frequent values of an attribute at one activity."""

    activity: str
    events: int
    """Number of events with a value."""
    values: str
    """The values and their shares."""


@dataclass(frozen=True, kw_only=True)
class AttributeView:
    """An attribute of a release."""

    name: str
    of_case: bool
    bars: tuple[Bar, ...]
    """The distribution of values."""
    by_activity: tuple[ActivityValues, ...]
    """For events, the distribution within each activity."""


class _Groups(NamedTuple):
    """The values of an attribute, grouped into the bars of a report."""

    labels: list[str]
    codes: Ints
    """The group of each case or event; -1 if it has no value."""
    sizes: Ints
    """The number of declared values or bins in each group."""


def describe_attributes(release: Release) -> tuple[AttributeView, ...]:
    """Describe all attributes of a release, from the release and its certificate alone."""
    found = []
    for column in release.columns:
        margin = margins_of(release).attributes.get(column.key)
        groups = _grouped(column, () if margin is None else margin.edges)
        view = AttributeView(
            name=column.key,
            of_case=column.of_case,
            bars=with_margins(_bars(groups), margin),
            by_activity=() if column.of_case else _by_activity(release, groups),
        )
        found.append(view)
    return tuple(found)


def _grouped(column: ReleasedColumn, edges: tuple[float, ...]) -> _Groups:
    """Group numbers by their declared bins, or by round ranges if none were declared.

    Few distinct values, and values that are not numbers, get a bar each.
    """
    codes, texts = column.codes.astype(np.int64), list(column.texts)
    keys: list[tuple[float, str]] = [(0.0, text) for text in texts]
    if column.kind in ("int", "float"):
        keys = [(float(text), "") for text in texts]
        # The last index, which -1 selects, stands for a missing value.
        values = np.array([*map(float, texts), np.nan])[codes]
        if edges and (codes >= 0).any():
            return _by_declared_bins(values, edges, whole=column.kind == "int")
        if len(texts) > MAX_BARS:
            return _by_round_ranges(values)
    order = sorted(range(len(texts)), key=keys.__getitem__)
    place = np.full(len(texts) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(texts))
    return _Groups([texts[i] for i in order], place[codes], np.ones(len(texts), dtype=np.int64))


def _by_declared_bins(values: Floats, edges: tuple[float, ...], *, whole: bool) -> _Groups:
    """Merge adjacent declared bins into a few groups that cover all values."""
    bins = _bin_of(values, edges)
    low, high = int(bins[bins >= 0].min()), int(bins.max())
    round_sizes = (digit * 10**power for power in count() for digit in (1, 2, 5))
    size = next(size for size in round_sizes if high // size - low // size < MAX_BARS)
    begins = np.arange(low // size, high // size + 1) * size
    ends = np.minimum(begins + size, len(edges) - 1)
    limits = [(edges[a], edges[b]) for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    # 15 digits are exact for all decimal numbers that doubles distinguish. A range is written as
    # its lower limit alone if it contains no other whole number.
    labels = [
        f"{a:.15g}" if whole and a.is_integer() and b - a <= 1 else f"{a:.15g} – {b:.15g}"
        for a, b in limits
    ]
    return _Groups(labels, np.where(bins >= 0, bins // size - low // size, -1), ends - begins)


def _by_round_ranges(values: Floats) -> _Groups:
    """Make at most MAX_BARS ranges of one round width, at its multiples."""
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    least = max((high - low) / (MAX_BARS - 1), 1e-12)
    power = 10.0 ** np.floor(np.log10(least))
    width = next(m * power for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-9))
    edges = width * np.arange(np.floor(low / width), np.floor(high / width) + 2)
    labels = [f"{a:.4g} – {b:.4g}" for a, b in pairwise(edges)]
    return _Groups(labels, _bin_of(values, edges), np.ones(len(labels), dtype=np.int64))


def _bin_of(values: Floats, edges: Sequence[float] | Floats) -> Ints:
    """Return the bin of each value; outer bins include all beyond, -1 is a missing value."""
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return np.where(np.isnan(values), -1, bins)


def _bars(groups: _Groups) -> list[Bar]:
    """Return the most frequent groups, and a bar for all others together."""
    known = groups.codes[groups.codes >= 0]
    many = np.bincount(known, minlength=len(groups.labels))
    kept = sorted(np.argsort(-many, kind="stable")[:MAX_BARS].tolist())
    shown = [
        Bar(label=groups.labels[i], share=float(many[i]) / len(known), values=int(groups.sizes[i]))
        for i in kept
        if many[i]
    ]
    rest = 1 - sum(bar.share for bar in shown)
    if rest <= 1e-9 or not shown:
        return shown
    others = int(groups.sizes[many > 0].sum()) - sum(bar.values for bar in shown)
    return [*shown, Bar(label=str(Statement("report.others")), share=rest, values=others)]


def _by_activity(release: Release, groups: _Groups) -> tuple[ActivityValues, ...]:
    ids, codes = cases_of(release.variants, None).activity_ids, groups.codes
    found = []
    for i, name in enumerate(release.variants.activities):
        here = codes[(ids == i) & (codes >= 0)]
        if len(here):
            many = np.bincount(here, minlength=len(groups.labels))
            words = [
                f"{groups.labels[v]}: {100 * many[v] / len(here):.0f}\N{NO-BREAK SPACE}%"
                for v in np.argsort(-many, kind="stable")[:3].tolist()
                if 200 * many[v] >= len(here)
            ]
            found.append(ActivityValues(activity=name, events=len(here), values=", ".join(words)))
    return tuple(sorted(found, key=lambda one: -one.events))
