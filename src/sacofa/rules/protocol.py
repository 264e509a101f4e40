"""Semantics: which next steps of a prefix are harmless, and how many rules a prefix breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Semantics(Protocol):
    """Judges prefixes as they grow. States are small integers that stand for the events so far.

    A mechanism accepts any object with these members, also from outside the package.
    """

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""

    def start(self) -> int:
        """Return the state of the empty prefix."""

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which next steps are harmless: a column per activity, the last for the end."""

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the state after one more activity, for each pair."""

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return the number of rules that a prefix of activity ids breaks."""
