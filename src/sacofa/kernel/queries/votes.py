"""Votes in a table: whole numbers at places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def add_votes(cells: int, places: Ints, votes: Ints | int) -> Ints:
    """Make a table of so many cells, with votes added up at their places."""
    table = np.zeros(cells, dtype=np.int64)
    np.add.at(table, places, votes)
    return table
