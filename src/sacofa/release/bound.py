"""What is left out of a release after the noise, which spends no privacy budget.

Cases without events, which most programs cannot read, and whatever exceeds a public bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Statement
from ..mechanisms.released import ReleasedLog

MAX_RELEASED_EVENTS = 100_000_000
"""About 14 GB as XES. With very little ε the noise alone can be a million times as much."""


def drop_empty_cases(log: ReleasedLog) -> tuple[ReleasedLog, tuple[Statement, ...]]:
    """Drop released cases without events, and note how many there were."""
    variants = log.variants
    empty = variants.lengths == 0
    if not empty.any():
        return log, ()
    dropped = int(variants.counts[empty].sum())
    note = Statement("note.empty_cases", cases=dropped)
    return log.with_counts(np.where(empty, 0, variants.counts)), (note,)


def bound_events(log: ReleasedLog, most: int) -> tuple[ReleasedLog, tuple[Statement, ...]]:
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
    note = Statement("note.scaled_events", events=total, bound=most)
    return replace(log.with_counts(scaled), core=None), (note,)
