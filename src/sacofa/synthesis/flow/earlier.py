"""Candidates from earlier releases of the same process: public by now, so they cost nothing.

What was found out month by month need not be found out again. Earlier variants join the first list
that cases vote on; which of them stay is decided by the votes, as for every candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...kernel.language import Ids
from ...kernel.variants import VariantCounts

MOST_KNOWN = 500
"""So many earlier variants are taken at most, the most frequent first."""


def known_candidates(
    earlier: VariantCounts, activities: Sequence[str], max_length: int
) -> list[Ids]:
    """Earlier variants over these activities, the most frequent first, truncated like cases."""
    moved = earlier.project_onto(activities).truncate(max_length)
    order = sorted(range(len(moved)), key=lambda i: (-int(moved.counts[i]), i))
    sequences = list(moved.sequences())
    return list(dict.fromkeys(sequences[i] for i in order))[:MOST_KNOWN]


def join_known(known: Iterable[Ids], found: Iterable[Ids]) -> list[Ids]:
    """One list of both, without repeats."""
    return list(dict.fromkeys([*known, *found]))
