"""Overlap: how much of the original is in the release, how much is invented, and the sizes."""

from __future__ import annotations

from ...kernel.variants import VariantCounts
from ..sequences import name_sequences


def mass_kept(original: VariantCounts, released: VariantCounts) -> float:
    """The share of the original cases whose variant is in the release."""
    return _share_known(original, released)


def invented(original: VariantCounts, released: VariantCounts) -> float:
    """The share of the released cases whose variant is not in the original; 0 where none are."""
    return 1.0 - _share_known(released, original) if released.cases else 0.0


def size_error(original: VariantCounts, released: VariantCounts) -> float:
    """How far the number of cases is off, relative to the original."""
    return abs(released.cases - original.cases) / original.cases


def _share_known(counts: VariantCounts, reference: VariantCounts) -> float:
    known = name_sequences(reference)
    sequences = name_sequences(counts)
    return sum(n for sequence, n in sequences.items() if sequence in known) / counts.cases
