"""Sequences sampled step by step, each step given the last activity.

All weights are whole numbers, so a draw is a look-up of one uniform number.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from ...kernel.language import Ids
from ...rules.rules import Rules
from .rule_walker import RuleWalker
from .sampler import UniformSampler
from .steps import KeptSteps

Choices = tuple[list[int], list[int]]
"""What may come next, and the running sums of its weights."""


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
        self._sampler = sampler
        self._weights = steps.weights
        self._after: dict[int, Choices] = {}
        self.walker = None if rules is None else RuleWalker(rules)
        self._once = once

    def draw(self) -> Ids:
        """Sample a sequence."""
        path = [self.end]
        # Walking the automaton of rules costs time that a chain without rules need not spend.
        if self.walker is not None:
            return self._draw_within_rules(path, self.walker, guided=True)
        done: set[int] = set()
        for _ in range(self.max_length):
            following = self._next(path[-1])
            if following in done:
                following = self._next_but(path[-1], done)
            if following == self.end:
                break
            path.append(following)
            if following in self._once:
                done.add(following)
        return tuple(path[1:])

    def _next_but(self, activity: int, done: set[int]) -> int:
        """Sample what comes next, but nothing that is done; the end where nothing else is left."""
        options, sums = self._steps_after(activity)
        weights = [b - a for a, b in zip([0, *sums], sums, strict=False)]
        left = {i: w for i, w in zip(options, weights, strict=True) if i not in done}
        return self._sampler.pick(_summed(left)) if left else self.end

    def draw_anything(self) -> Ids | None:
        """Draw a sequence that rules allow, whatever the steps are; None: there are no rules."""
        if self.walker is None:
            return None
        return self._draw_within_rules([self.end], self.walker, guided=False)

    def _draw_within_rules(self, path: list[int], walker: RuleWalker, *, guided: bool) -> Ids:
        state = walker.start
        for activity in path[1:]:
            state = walker.step(state, activity)
        while len(path) <= self.max_length:
            allowed = walker.allowed(state)
            following = self._next(path[-1]) if guided else None
            if following not in allowed:
                # Steps that passed come first; else whatever is harmless has the same chance.
                weights = [int(self._weights[path[-1], b]) for b in allowed]
                choices = _choices(weights if guided and any(weights) else [1] * len(allowed))
                following = allowed[self._sampler.pick(choices)] if allowed else self.end
            if following is None or following == self.end:
                break
            path.append(following)
            state = walker.step(state, following)
        return tuple(path[1:])

    def _next(self, activity: int) -> int:
        choices = self._steps_after(activity)
        return self._sampler.pick(choices) if choices[0] else self.end

    def _steps_after(self, activity: int) -> Choices:
        """What may come directly after an activity; worked out when it is first asked for."""
        choices = self._after.get(activity)
        if choices is None:
            choices = self._after[activity] = _choices(self._weights[activity].tolist())
        return choices


def _choices(weights: list[int]) -> Choices:
    return _summed({i: weight for i, weight in enumerate(weights) if weight > 0})


def _summed(weights: Mapping[int, int]) -> Choices:
    # Running sums turn a draw by weight into one bisection.
    return list(weights), list(accumulate(weights.values()))
