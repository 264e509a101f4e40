"""Votes become whole numbers of cases that add up to the size of the log."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids

Ints = NDArray[np.int64]

FIXED = 1 << 20
"""Fitted numbers are kept to such parts of a case."""


def apportion(votes: Ints, threshold: int, size: int) -> Ints:
    """Share out `size` cases over the cells with at least so many votes; all others get none.

    Noise makes the votes of the kept cells add up to more or less than the size. Too many are
    lowered all by the same amount, not below 0 (the nearest point in the Euclidean sense); too few
    are scaled up. If no cell is kept, the first of those with the most votes is.
    """
    shares = np.zeros(len(votes), dtype=np.int64)
    kept = np.flatnonzero(votes >= max(threshold, 1))
    if not len(kept):
        kept = np.array([int(votes.argmax())])
    values = [max(value, 1) for value in votes[kept].tolist()]
    total = sum(values)
    if total <= size:
        parts, whole = [value * size for value in values], total
    else:
        parts, whole = _lowered(values, size)
    shares[kept] = _rounded(parts, whole, size)
    return shares


def _lowered(values: list[int], size: int) -> tuple[list[int], int]:
    """Lower all values by one amount, not below 0, so that they add up: as parts of a whole."""
    excess, number = -size, 0
    for i, value in enumerate(sorted(values, reverse=True), start=1):
        if i * value <= excess + value:
            break
        excess, number = excess + value, i
    number = max(number, 1)
    return [max(value * number - excess, 0) for value in values], number


def _rounded(parts: list[int], whole: int, size: int) -> list[int]:
    """Round fractions (parts of a whole) so that the sum is kept: largest remainders go up."""
    floors = [part // whole for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(parts[i] % whole), i))
    for i in by_remainder[: size - sum(floors)]:
        floors[i] += 1
    return floors


def round_to(numbers: Mapping[Ids, float], size: int) -> dict[Ids, int]:
    """Scale fitted numbers to add up to `size`, and round them; who gets none is left out."""
    # Fixed places make equal what differs by the last bits of a floating-point number.
    parts = [round(number * FIXED) for number in numbers.values()]
    if not any(parts):
        parts = [1] * len(parts)
    cells = _rounded([part * size for part in parts], sum(parts), size)
    return {ids: n for ids, n in zip(numbers, cells, strict=True) if n}
