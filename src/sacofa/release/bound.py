"""What is left out of a release after the noise, and so at no cost.

Cases without events, which most programs cannot read, and whatever exceeds a public bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError, is_whole
from ..kernel.released import Columns
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome

Times = NDArray[np.int64] | None
"""When each released event happened, case by case; None: times are made up."""

MAX_RELEASED_EVENTS = 100_000_000
"""About 14 GB as XES. With very little ε the noise alone can be a million times as much."""


def drop_empty_cases(outcome: Outcome) -> Outcome:
    """Drop released cases without events, and say how many there were."""
    variants = outcome.variants
    kept = variants.lengths > 0
    if kept.all():
        return outcome
    of_cases = np.repeat(kept, variants.counts) if outcome.columns else kept
    dropped = int(variants.counts[~kept].sum())
    note = f"Cases without events were left out of the release: {dropped:,}, counted with noise."
    return replace(
        outcome,
        variants=variants.where(kept),
        core=None if outcome.core is None else outcome.core[kept],
        columns=tuple(
            replace(each, codes=each.codes[of_cases]) if each.of_case else each
            for each in outcome.columns
        ),
        notes=(*outcome.notes, note),
    )


def bound_events(
    variants: VariantCounts, most: int, times: Times = None, starts: Times = None
) -> tuple[VariantCounts, Times, Times, tuple[str, ...]]:
    """Scale released counts down where they hold more events than `most`; and say so.

    Only noisy counts and a public bound are looked at. Of `times` and `starts`, those of the first
    cases of each variant stay.
    """
    total = _events(variants)
    if total <= most:
        return variants, times, starts, ()
    counts = _scaled(variants, total, most)
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
    if times is not None or starts is not None:
        stay = _firsts(variants.counts, counts, variants.lengths)
        times = None if times is None else times[stay]
        starts = None if starts is None else starts[stay]
    return scaled, times, starts, (note,)


def bound_columns(columns: Columns, variants: VariantCounts, most: int) -> Columns:
    """Keep the attributes of the cases that `bound_events` keeps."""
    total = _events(variants)
    # Without columns nothing is laid out case by case: there may be more cases than memory.
    if not columns or total <= most:
        return columns
    counts = _scaled(variants, total, most)
    ones = np.ones(len(variants), dtype=np.int64)
    kept = {
        of_case: _firsts(variants.counts, counts, ones if of_case else variants.lengths)
        for of_case in (False, True)
    }
    return tuple(replace(each, codes=each.codes[kept[each.of_case]]) for each in columns)


def _events(variants: VariantCounts) -> int:
    """How many events all cases have."""
    # In Python's own numbers: a product of two large ones would not fit into 64 bits.
    lengths = variants.lengths.tolist()
    return sum(a * b for a, b in zip(variants.counts.tolist(), lengths, strict=True))


def _scaled(variants: VariantCounts, total: int, most: int) -> NDArray[np.int64]:
    return np.array([count * most // total for count in variants.counts.tolist()], dtype=np.int64)


def _firsts(
    before: NDArray[np.int64], after: NDArray[np.int64], each: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """What stays of a list that lies case by case, where of each variant the first cases stay.

    `before` and `after` count the cases of each variant, `each` what one case has in the list.
    """
    many = before * each
    place = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    kept: NDArray[np.bool_] = place < np.repeat(after * each, many)
    return kept


def check_bound(most: int) -> None:
    """Refuse a bound that cannot be."""
    if not (is_whole(most) and most >= 1):
        raise SettingError("max_released_events", most, "a whole number, 1 or more")
