"""The orderly core of a log, chosen by one filter whatever mechanism released the log.

The filter is the one that `certified` marks its releases with at ε = 1 without times. It reads
variants and their counts only, so it applies to any log, the original included. A release of
`certified` at a smaller ε marks its core more strictly (`case:sacofa:core`): comparisons need the
same filter on both sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernel.unit import ONE_CASE
from ...kernel.variants import VariantCounts
from ...mechanisms.certified import Certified

FILTER = Certified(epsilon=1, time=False)
MAX_VARIANTS = 2_000
"""Only that many of the most frequent variants are considered: the filter compares each with each,
32 MB at 2,000. Releases with more variants hold thousands that occur once or twice."""


def orderly_core(log: VariantCounts) -> VariantCounts:
    """The variants that represent the others and hardly contradict each other's order."""
    if not log.cases:
        return log
    frequent = np.zeros(len(log), dtype=np.bool_)
    frequent[np.argsort(-log.counts, kind="stable")[:MAX_VARIANTS]] = True
    considered = replace(log.where(frequent), unit=ONE_CASE)
    return considered.where(FILTER.mark_core(considered))
