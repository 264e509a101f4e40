"""Public rules at work while a sequence is drawn: which steps are harmless after a prefix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...rules.rules import Rules
from ...rules.scoring import scorer_of

NONE = -1
"""The state after a harmful step."""


class RuleWalker:
    """Walks the automaton of rules one activity at a time, and remembers where it was."""

    def __init__(self, rules: Rules) -> None:
        self._states = scorer_of(rules)
        self._end = len(rules.activities)
        self._allowed: dict[int, list[int]] = {}
        self._next: dict[tuple[int, int], int] = {}
        self._harmless: dict[tuple[int, int], int] = {}
        self.start = self._states.start()

    def allowed(self, state: int) -> list[int]:
        """The harmless next activities; the number of activities stands for the end."""
        if state not in self._allowed:
            row = self._states.harmless(np.array([state]))[0]
            self._allowed[state] = np.flatnonzero(row).tolist()
        return self._allowed[state]

    def step(self, state: int, activity: int) -> int:
        """The state after one more activity."""
        key = (state, activity)
        if key not in self._next:
            reached = self._states.step(np.array([state]), np.array([activity]))
            self._next[key] = int(reached[0])
        return self._next[key]

    def keeps(self, sequence: Sequence[int], finished: bool) -> bool:
        """Whether a sequence is harmless as a whole."""
        state, known = self.start, self._harmless
        for activity in sequence:
            reached = known.get((state, activity))
            if reached is None:
                there = activity in self.allowed(state)
                reached = known[state, activity] = self.step(state, activity) if there else NONE
            if reached == NONE:
                return False
            state = reached
        return not finished or self._end in self.allowed(state)
