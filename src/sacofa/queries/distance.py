"""How far two sequences are apart: edits (Levenshtein) by the longer length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ids = tuple[int, ...]
"""A sequence of activity ids."""

WHOLE = 1 << 20
"""The distance of two sequences that have nothing in common."""
# So many distances are held at once: bounds memory, not the result.
TOGETHER = 1 << 20


def distances(rows: Iterable[Ids], columns: Sequence[Ids], activities: int) -> Ints:
    """The distance of each row to each column, in whole parts of WHOLE: no two machines differ."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    left, right = _texts(rows, activities), _texts(columns, activities)
    edits = cdist(left, right, scorer=Levenshtein.distance, dtype=np.int32).astype(np.int64)
    # At least 1, so that two empty sequences are 0 apart.
    longer = np.maximum(_lengths(left)[:, None], np.maximum(_lengths(right), 1))
    result: Ints = edits * WHOLE // longer
    return result


def nearest(rows: Sequence[Ids], columns: Sequence[Ids], activities: int) -> Ints:
    """The place of the nearest column of each row: the first of those with the least distance."""
    many = max(1, TOGETHER // max(len(columns), 1))
    found = np.zeros(len(rows), dtype=np.int64)
    for start in range(0, len(rows), many):
        part = distances(rows[start : start + many], columns, activities)
        found[start : start + many] = part.argmin(axis=1)
    return found


def _lengths(texts: list[str]) -> Ints:
    return np.array([len(text) for text in texts], dtype=np.int64)


def _texts(sequences: Iterable[Ids], activities: int) -> list[str]:
    """Write each activity as one character; surrogates are left out, they are not characters."""
    if activities <= 256:
        # The same characters, made of bytes.
        return [bytes(ids).decode("latin-1") for ids in sequences]
    alphabet = [chr(i if i < 0xD800 else i + 0x800) for i in range(activities)]
    return ["".join([alphabet[i] for i in ids]) for ids in sequences]
