"""Conversions between batches of cases and counted variants, and merging of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..kernel.cases import CaseBatch, Parts
from ..kernel.unit import ONE_CASE, Unit
from ..kernel.variants import VariantCounts

Ints = NDArray[np.int64]


def gather(parts: Parts) -> CaseBatch:
    """Collect all parts in memory, as one batch."""
    return concatenate(parts.map_parts(lambda number, batch: batch))


def concatenate(batches: Sequence[CaseBatch]) -> CaseBatch:
    """Concatenate batches over the same activities and unit.

    The result has times, or starts, if all batches do.
    """
    ends = np.cumsum([0, *(len(batch.activity_ids) for batch in batches)])
    offsets = [batch.offsets[1:] + end for batch, end in zip(batches, ends, strict=False)]

    def joined(parts: Sequence[Ints | None]) -> Ints | None:
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None

    attributes = zip(*(batch.attributes for batch in batches), strict=True)
    return replace(
        batches[0],
        activity_ids=np.concatenate([batch.activity_ids for batch in batches]),
        offsets=np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
        complete=np.concatenate([batch.complete for batch in batches]),
        times=joined([batch.times for batch in batches]),
        starts=joined([batch.starts for batch in batches]),
        attributes=tuple(
            replace(each[0], cells=np.concatenate([part.cells for part in each]))
            for each in attributes
        ),
    )


def cases_of(variants: VariantCounts, times: Ints | None, starts: Ints | None = None) -> CaseBatch:
    """Expand variants into single cases, one after the other, with the times of their events."""
    which = np.repeat(np.arange(len(variants)), variants.counts)
    lengths = variants.lengths[which]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return CaseBatch(
        activities=variants.activities,
        activity_ids=variants.activity_ids[np.repeat(variants.offsets[which], lengths) + place],
        offsets=offsets,
        complete=variants.complete[which],
        times=times,
        starts=starts,
        unit=variants.unit,
    )


def join_variants(parts: Sequence[VariantCounts], unit: Unit = ONE_CASE) -> VariantCounts:
    """Merge the variants of several logs; activities are in name order."""
    names = sorted({name for part in parts for name in part.activities})
    moved = [part.project_onto(names) for part in parts]
    return VariantCounts.from_arrays(
        names,
        np.concatenate([part.activity_ids for part in moved]),
        np.concatenate([part.lengths for part in moved]),
        np.concatenate([part.counts for part in moved]),
        np.concatenate([part.complete for part in moved]),
        unit,
    )
