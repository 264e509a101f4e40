"""Distance of two sequences: Levenshtein distance over the longer length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernel.language import Ids

Ints = NDArray[np.int64]
Distances = NDArray[np.int32]
Floats = NDArray[np.float64]

WHOLE = 1 << 20
"""Distance of two sequences without common elements."""
# Numbers per block: bounds memory and fits a cache; no result depends on it.
TOGETHER = 1 << 17
SYMMETRIC_BLOCK = 1 << 9
"""Columns per block if rows and columns are the same sequences."""


def distances(rows: Iterable[Ids], columns: Sequence[Ids], activities: int) -> Distances:
    """The distance of each row to each column, in whole parts of WHOLE: no two machines differ."""
    left, right = texts(rows, activities), texts(columns, activities)
    result = np.empty((len(left), len(right)), dtype=np.int32)
    if left != right:
        for block, found in _blocks(left, right):
            result[block] = found
        return result
    # Each is as far from another as that from it: half of them are enough.
    for start in range(0, len(left), SYMMETRIC_BLOCK):
        here, on = slice(start, start + SYMMETRIC_BLOCK), slice(start, None)
        for block, found in _blocks(right[on], left[here]):
            result[on, here][block] = found
            # A block fits the cache, where a whole column of blocks would not.
            result[here, on][:, block] = found.T
    return result


def nearest(rows: Sequence[Ids], columns: Sequence[Ids], activities: int) -> Ints:
    """The place of the nearest column of each row: the first of those with the least distance."""
    found = np.zeros(len(rows), dtype=np.int64)
    right = texts(columns, activities)
    for block, part in _blocks(texts(rows, activities), right):
        # Floating point is exact for these whole numbers.
        found[block] = part.argmin(axis=1)
    return found


def _blocks(left: list[str], right: list[str]) -> Iterator[tuple[slice, Floats]]:
    """The distances of some rows at a time: whole numbers, as floating point."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    size = max(1, TOGETHER // max(len(right), 1))
    # At least 1, so that two empty sequences are 0 apart.
    wide = np.maximum([len(text) for text in right], 1)
    for start in range(0, len(left), size):
        part = left[start : start + size]
        edits = cdist(part, right, scorer=Levenshtein.distance, dtype=np.int32)
        # edits * WHOLE / longer is a multiple of 1/longer, and floating point is off by less than
        # 2^-32: it is rounded down as whole numbers are, several times as fast.
        share = edits / np.maximum.outer([len(text) for text in part], wide)
        share *= WHOLE
        yield slice(start, start + size), np.floor(share, out=share)


def texts(sequences: Iterable[Ids], activities: int) -> list[str]:
    """Write each activity as one character, without surrogates, which are not characters."""
    if activities <= 256:
        # The same characters, made of bytes.
        return [bytes(ids).decode("latin-1") for ids in sequences]
    alphabet = [chr(i if i < 0xD800 else i + 0x800) for i in range(activities)]
    return ["".join([alphabet[i] for i in ids]) for ids in sequences]
