"""Similarity: 1 − the earth mover's distance between two distributions of variants.

The distance between two variants is their Levenshtein distance divided by the longer length, as
the literature on private event logs does. It breaks the triangle inequality (ab and ba are 1
apart, but 1/3 + 1/3 by way of aba), so that leaving mass in place where both distributions have it
need not be the cheapest: the whole problem is solved, not only what differs.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from ..extras import optional_module
from ..sequences import share_activities, shares

PIVOTS = 50_000_000
"""More steps than the network simplex ever needs here; it must not stop short of the optimum."""


def similarity(original: VariantCounts, released: VariantCounts) -> float:
    """1 for equal distributions, 0 for no common activity in any position or an empty release."""
    if not original.cases or not released.cases:
        return 0.0
    left, right = share_activities(original, released)
    transport = optional_module("ot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distance = transport.emd2(
            shares(left), shares(right), _distances(left, right), numItermax=PIVOTS
        )
    return min(1.0, max(0.0, 1.0 - float(distance)))


def _distances(left: VariantCounts, right: VariantCounts) -> NDArray[np.float64]:
    process = optional_module("rapidfuzz.process")
    levenshtein = optional_module("rapidfuzz.distance").Levenshtein
    edits = process.cdist(_texts(left), _texts(right), scorer=levenshtein.distance, dtype=np.int32)
    longer = np.maximum.outer(left.lengths, right.lengths)
    distances: NDArray[np.float64] = edits / np.maximum(longer, 1)
    return distances


def _texts(counts: VariantCounts) -> list[str]:
    """Write each activity as one character; surrogates are left out, they are not characters."""
    alphabet = [chr(i if i < 0xD800 else i + 0x800) for i in range(len(counts.activities))]
    if len(alphabet) + 0x800 > sys.maxunicode:  # pragma: no cover
        raise OverflowError("more activities than characters")
    return ["".join(alphabet[i] for i in ids) for ids in counts.sequences()]
