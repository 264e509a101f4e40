"""The sampling limit: what two random halves of the same log show of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .timed import Timed

Figures = TypeVar("Figures")

SPLITS = 5
"""How many splits a limit is the middle of."""


def sampling_limits(
    log: Timed, measure: Callable[[Timed, Timed], Figures], *, seed: int = 0, splits: int = SPLITS
) -> list[Figures]:
    """Measure one half of a log against the other, for several random splits.

    No release needs to come closer to the log than a second sample of the same process would.
    """
    draws = np.random.default_rng(seed)
    found = []
    for _ in range(splits):
        chosen = draws.permutation(log.cases) < log.cases // 2
        found.append(measure(log.half(chosen), log.half(~chosen)))
    return found
