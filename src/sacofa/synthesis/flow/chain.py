"""Sequences sampled step by step, each step given the last activity, within public rules.

Many are sampled at once: each round draws the next activity of all that have not ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np

from ...base.distance import TOGETHER
from ...kernel.language import Ids
from ...rules.rules import Rules
from ...rules.semantics import scorer_of
from ..numerics import Bools, Floats, Ints, Uniform
from .steps import KeptSteps


class RuleWalker:
    """Walks the automaton of rules one activity at a time, and remembers where it was."""

    def __init__(self, rules: Rules) -> None:
        self.states = states = scorer_of(rules)
        self._end = len(rules.activities)

        @cache
        def allowed(state: int) -> list[int]:
            found: list[int] = np.flatnonzero(states.harmless(np.array([state]))[0]).tolist()
            return found

        @cache
        def step(state: int, activity: int) -> int:
            return int(states.step(np.array([state]), np.array([activity]))[0])

        self._allowed, self._step = allowed, step

    def keeps(self, sequence: Sequence[int], finished: bool) -> bool:
        """Whether a sequence is harmless as a whole."""
        state = self.states.start()
        for activity in sequence:
            if activity not in self._allowed(state):
                return False
            state = self._step(state, activity)
        return not finished or self._end in self._allowed(state)


class Chain:
    """Samples sequences; the end is the number of activities."""

    def __init__(
        self,
        steps: KeptSteps,
        max_length: int,
        uniform: Uniform,
        rules: Rules | None = None,
        once: frozenset[int] = frozenset(),
    ) -> None:
        """Sample from kept steps; with rules, only what is harmless as far as there is a way.

        Without rules, activities that happen `once` are not repeated.
        """
        self.max_length = max_length
        self.end = len(steps.weights) - 1
        self.once = once
        self.walker = None if rules is None else RuleWalker(rules)
        self._uniform = uniform
        # [a, i]: the i-th activity that may come directly after a, and its weight. After the last
        # one comes the end, which is chosen if there is no other.
        most = int(np.count_nonzero(steps.weights, axis=1).max()) + 1
        after = np.argsort(steps.weights == 0, axis=1, kind="stable")[:, :most]
        self._weights = np.take_along_axis(steps.weights, after, axis=1).astype(np.float64)
        self._after = np.where(self._weights > 0, after, self.end)
        # What leads nowhere ends, also where rules could go on.
        self._weights[self._weights[:, 0] == 0, 0] = 1

    def draw(self, number: int, *, guided: bool = True) -> list[Ids]:
        """Sample sequences; unguided ones are any that rules allow, whatever the steps are."""
        part = max(TOGETHER // (self.end + 1), 1)
        if number > part:
            rest = self.draw(number - part, guided=guided)
            return self.draw(part, guided=guided) + rest
        active, last = np.arange(number), np.full(number, self.end)
        states = np.full(number, 0 if self.walker is None else self.walker.states.start())
        allowed = np.ones((number, self.end + 1), dtype=np.bool_)
        owners, events = [active[:0]], [active[:0]]
        for _ in range(self.max_length):
            if self.walker is not None:
                allowed = self.walker.states.harmless(states)
            last = self._next(last, allowed, guided)
            goes = last < self.end
            active, last, states, allowed = active[goes], last[goes], states[goes], allowed[goes]
            if not len(active):
                break
            owners.append(active)
            events.append(last)
            if self.walker is not None:
                states = self.walker.states.step(states, last)
            else:
                allowed[np.arange(len(last)), last] = ~np.isin(last, list(self.once))
        whose = np.concatenate(owners)
        found = iter(np.concatenate(events)[np.argsort(whose, kind="stable")].tolist())
        return [tuple(islice(found, n)) for n in np.bincount(whose, minlength=number).tolist()]

    def _next(self, last: Ints, allowed: Bools, guided: bool) -> Ints:
        """Draw what comes after each of the last activities."""
        options = self._after[last]
        weights = self._weights[last] * np.take_along_axis(allowed, options, axis=1) * guided
        following = options[np.arange(len(last)), self._pick(weights)]
        if self.walker is not None:
            # Steps that passed come first; else whatever is harmless has the same chance.
            stuck = ~weights.any(axis=1)
            following[stuck] = self._pick(allowed[stuck].astype(np.float64))
        return following

    def _pick(self, weights: Floats) -> Ints:
        """Draw a place of each row by weight; the last one if none has weight."""
        sums = weights.cumsum(axis=1)
        drawn = self._uniform(len(weights)) * sums[:, -1]
        places: Ints = (sums[:, :-1] <= drawn[:, None]).sum(axis=1)
        return places
