"""Semantics that know nothing: every step is harmless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NoRules:
    """Judges every prefix as harmless."""

    activities: tuple[str, ...]
    """The activities; ids are places here."""

    def start(self) -> int:
        """The only state."""
        return 0

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Everything is."""
        return np.ones((len(states), len(self.activities) + 1), dtype=np.bool_)

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The only state again."""
        return np.zeros_like(states)

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """None."""
        return 0
