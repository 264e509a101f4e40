"""What a mechanism asks of semantics: which next steps are harmless, how bad a harmful one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Semantics(Protocol):
    """Judges prefixes as they grow; states are small integers that stand for what was seen so far.

    Any object with these members can be given to a mechanism, from outside the package too.
    """

    @property
    def activities(self) -> tuple[str, ...]:
        """The activities; ids are places here."""

    def start(self) -> int:
        """The state of the empty prefix."""

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which next steps are harmless in each state: a column per activity, the last the end."""

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The state after one more activity, for each pair."""

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """The number of rules that a prefix of activity ids breaks."""
