"""What a log looks like. All of it is secret: it comes from the log without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..variants import Variant, VariantCounts
from .source import Log
from .warnings import find_warnings

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

SHOWN_EVENTS = 100
"""So many events of a variant are shown; a case may have millions."""


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The size and the shape of a log."""

    events: int
    """How many events there are."""
    activities: int
    """How many different activities occur."""
    cases: int
    """How many cases there are."""
    variants: int
    """How many different variants there are."""
    unfinished: int
    """How many cases are marked as cut."""
    mean_length: float
    """The number of events of a case, on average."""
    lengths: dict[str, int]
    """Quantiles of the number of events of a case; "0.5" is the median."""
    unique: float
    """The share of cases that nobody else's case looks like."""
    frequent: tuple[tuple[Variant, int], ...]
    """The most frequent variants with their counts."""
    warnings: tuple[str, ...] = ()
    """What should be looked at before the log is released."""


def inspect_variants(
    variants: VariantCounts, *, frequent: int = 5, log: Log | None = None
) -> Inspection:
    """Describe a log by its variants; with the log itself, its times are looked at, too."""
    counts = variants.counts
    # Ties go by the order of the variants, so that the answer is always the same.
    top = np.argsort(-counts, kind="stable")[:frequent]
    names, steps, offsets = variants.activities, variants.activity_ids, variants.offsets
    return Inspection(
        events=variants.events,
        activities=len(np.unique(steps)),
        cases=variants.cases,
        variants=len(variants),
        unfinished=int(counts[~variants.complete].sum()),
        mean_length=variants.events / variants.cases if variants.cases else 0.0,
        lengths=_quantiles(variants.lengths, counts),
        unique=float((counts == 1).sum() / variants.cases) if variants.cases else 0.0,
        frequent=tuple(
            (tuple(names[i] for i in steps[offsets[v] : offsets[v + 1]]), int(counts[v]))
            for v in top
        ),
        warnings=find_warnings(variants, log),
    )


def shown_variants(inspection: Inspection) -> list[dict[str, Any]]:
    """The most frequent variants as they are shown: of a long one only the first events."""
    return [
        {"activities": list(variant[:SHOWN_EVENTS]), "count": count, "events": len(variant)}
        for variant, count in inspection.frequent
    ]


def _quantiles(lengths: NDArray[np.int64], counts: NDArray[np.int64]) -> dict[str, int]:
    """Give the smallest length that at least this share of the cases does not exceed."""
    if not len(lengths):
        return {}
    order = np.argsort(lengths, kind="stable")
    upto = np.cumsum(counts[order])
    ranks = np.maximum(np.ceil(np.array(QUANTILES) * upto[-1]), 1)
    at = np.searchsorted(upto, ranks, side="left")
    return {f"{q:g}": int(lengths[order[i]]) for q, i in zip(QUANTILES, at, strict=True)}
