"""Sequences sampled step by step, each step given the last activity, within public rules.

All weights are whole numbers, so a draw is a look-up of one uniform number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Protocol

import numpy as np

from ...kernel.language import Ids
from ...rules.rules import Rules
from ...rules.semantics import scorer_of
from ..numerics import Floats, Ints
from .steps import KeptSteps

WIDTH = 62
"""The bits of a drawn number."""
FRACTION = 53
"""The bits of a floating-point number that lie below its exponent."""
FIRST, MOST = 64, 4096
"""Numbers that are drawn together, at first and at most."""
NONE = -1
"""No activity."""
Choices = tuple[list[int], list[int]]
"""What may come next, and the running sums of its weights."""


class UniformSource(Protocol):
    """Draws uniform whole numbers in bulk, as `kernel.noise.Noise` does."""

    def below(self, bound: int, size: int) -> Ints:
        """Draw whole numbers from 0 to bound − 1."""


class UniformSampler:
    """Draws uniform numbers for what is made of noisy values, in bulk, hence fast."""

    def __init__(self, noise: UniformSource) -> None:
        self._noise = noise
        self._bulk = FIRST
        self._numbers: list[int] = []

    def uniform(self, size: int) -> Floats:
        """Numbers from 0 to 1."""
        result: Floats = self._noise.below(1 << FRACTION, size) / float(1 << FRACTION)
        return result

    def pick(self, choices: Choices) -> int:
        """One of the choices, by weight."""
        if not self._numbers:
            # Small runs need few, large ones many.
            self._numbers = self._noise.below(1 << WIDTH, self._bulk).tolist()
            self._bulk = min(2 * self._bulk, MOST)
        options, sums = choices
        # The scaled number is uniform but for 2^-62 times the bound: no count depends on it.
        return options[bisect_right(sums, (self._numbers.pop() * sums[-1]) >> WIDTH)]


class RuleWalker:
    """Walks the automaton of rules one activity at a time, and remembers where it was."""

    def __init__(self, rules: Rules) -> None:
        states = scorer_of(rules)
        self._end = len(rules.activities)
        self.start = states.start()

        @cache
        def allowed(state: int) -> list[int]:
            found: list[int] = np.flatnonzero(states.harmless(np.array([state]))[0]).tolist()
            return found

        @cache
        def step(state: int, activity: int) -> int:
            return int(states.step(np.array([state]), np.array([activity]))[0])

        self.allowed, self.step = allowed, step
        """The harmless next activities in a state, where the number of activities is the end; and
        the state after one more activity."""

    def keeps(self, sequence: Sequence[int], finished: bool) -> bool:
        """Whether a sequence is harmless as a whole."""
        state = self.start
        for activity in sequence:
            if activity not in self.allowed(state):
                return False
            state = self.step(state, activity)
        return not finished or self._end in self.allowed(state)


class Chain:
    """Samples sequences; the end is the number of activities."""

    def __init__(
        self,
        steps: KeptSteps,
        max_length: int,
        sampler: UniformSampler,
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
        self._sampler = sampler
        self._weights = steps.weights
        self._after = cache(lambda a: _choices(dict(enumerate(steps.weights[a].tolist()))))
        """What may come directly after an activity."""

    def draw(self) -> Ids:
        """Sample a sequence."""
        # Walking the automaton of rules costs time that a chain without rules need not spend.
        if self.walker is not None:
            return self._draw_within_rules(self.walker, guided=True)
        path, done = [self.end], set[int]()
        while len(path) <= self.max_length:
            choices = self._after(path[-1])
            following = self._sampler.pick(choices) if choices[0] else self.end
            if following in done:
                weights = np.diff(choices[1], prepend=0).tolist()
                left = {i: n for i, n in zip(choices[0], weights, strict=True) if i not in done}
                following = self._sampler.pick(_choices(left)) if left else self.end
            if following == self.end:
                break
            path.append(following)
            if following in self.once:
                done.add(following)
        return tuple(path[1:])

    def draw_anything(self) -> Ids:
        """Draw a sequence that rules allow, whatever the steps are; () without rules."""
        return () if self.walker is None else self._draw_within_rules(self.walker, guided=False)

    def _draw_within_rules(self, walker: RuleWalker, *, guided: bool) -> Ids:
        path, state = [self.end], walker.start
        while len(path) <= self.max_length:
            allowed, following = walker.allowed(state), NONE
            if guided:
                choices = self._after(path[-1])
                following = self._sampler.pick(choices) if choices[0] else self.end
            if following not in allowed:
                # Steps that passed come first; else whatever is harmless has the same chance.
                weights = {b: int(self._weights[path[-1], b]) if guided else 1 for b in allowed}
                if not any(weights.values()):
                    weights = dict.fromkeys(allowed, 1)
                following = self._sampler.pick(_choices(weights)) if allowed else self.end
            if following == self.end:
                break
            path.append(following)
            state = walker.step(state, following)
        return tuple(path[1:])


def _choices(weights: Mapping[int, int]) -> Choices:
    # Running sums turn a draw by weight into one bisection.
    some = {option: weight for option, weight in weights.items() if weight > 0}
    return list(some), list(accumulate(some.values()))
