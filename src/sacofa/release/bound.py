"""How much is released at most: a public bound, kept after the noise and so free of charge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..variants import VariantCounts

Times = NDArray[np.int64] | None
"""When each released event happened, case by case; None: times are made up."""

MAX_RELEASED_EVENTS = 100_000_000
"""About 14 GB as XES. With very little ε the noise alone can be a million times as much."""


def bound_events(
    variants: VariantCounts, most: int, times: Times = None
) -> tuple[VariantCounts, Times, tuple[str, ...]]:
    """Scale released counts down where they hold more events than `most`; and say so.

    Only noisy counts and a public bound are looked at. A case without events counts as one, as it
    takes a row. Of `times`, those of the first cases of each variant stay.
    """
    rows = np.maximum(variants.lengths, 1)
    # In Python's own numbers: a product of two large ones would not fit into 64 bits.
    total = sum(a * b for a, b in zip(variants.counts.tolist(), rows.tolist(), strict=True))
    if total <= most:
        return variants, times, ()
    counts = np.array([count * most // total for count in variants.counts.tolist()], dtype=np.int64)
    kept = counts > 0
    scaled = VariantCounts.from_arrays(
        variants.activities,
        variants.activity_ids[np.repeat(kept, variants.lengths)],
        variants.lengths[kept],
        counts[kept],
        variants.complete[kept],
        variants.unit,
    )
    note = (
        f"The release was scaled down: it would hold {total:,} events, more than the public bound "
        f"of {most:,}. Every count was multiplied by the same factor and rounded down."
    )
    if times is not None:
        # Times lie case by case: of each variant, as many as its events times its cases.
        lengths, before = variants.lengths, variants.counts
        kept_events, events = np.repeat(counts * lengths, before * lengths), before * lengths
        place = np.arange(len(times)) - np.repeat(np.cumsum(events) - events, events)
        times = times[place < kept_events]
    return scaled, times, (note,)


def check_bound(most: int) -> None:
    """Refuse a bound that cannot be."""
    if most < 1:
        raise SettingError("max_released_events", most, "1 or more")
