"""What is left out of a release after the noise, which spends no privacy budget.

Cases without events, which most programs cannot read, and whatever exceeds a public bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import SettingError, is_whole
from ..mechanisms.released import ReleasedLog

MAX_RELEASED_EVENTS = 100_000_000
"""About 14 GB as XES. With very little ε the noise alone can be a million times as much."""


def drop_empty_cases(log: ReleasedLog) -> tuple[ReleasedLog, tuple[str, ...]]:
    """Drop released cases without events, and note how many there were."""
    variants = log.variants
    empty = variants.lengths == 0
    if not empty.any():
        return log, ()
    dropped = int(variants.counts[empty].sum())
    note = f"Cases without events were left out of the release: {dropped:,}, counted with noise."
    return log.with_counts(np.where(empty, 0, variants.counts)), (note,)


def bound_events(log: ReleasedLog, most: int) -> tuple[ReleasedLog, tuple[str, ...]]:
    """Scale released counts down if they hold more events than `most`, and note that.

    Only noisy counts and a public bound decide. Of each variant the first cases stay. The orderly
    core is no longer marked: the smaller counts would have another one.
    """
    # In Python's own numbers: a product of two large ones would not fit into 64 bits.
    counts, lengths = log.variants.counts.tolist(), log.variants.lengths.tolist()
    total = sum(count * length for count, length in zip(counts, lengths, strict=True))
    if total <= most:
        return log, ()
    scaled = np.array([count * most // total for count in counts], dtype=np.int64)
    note = (
        f"The release was scaled down: it would hold {total:,} events, more than the public bound "
        f"of {most:,}. Every count was multiplied by the same factor and rounded down."
    )
    return replace(log.with_counts(scaled), core=None), (note,)


def check_bound(most: int) -> None:
    """Refuse a bound that is not a whole number of 1 or more."""
    if not (is_whole(most) and most >= 1):
        raise SettingError("max_released_events", most, "a whole number, 1 or more")
