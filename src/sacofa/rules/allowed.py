"""Languages of allowed sequences: all, those of given steps, those of steps within rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError, Statement
from ..kernel.language import Language
from .protocol import Semantics
from .rules import Rules
from .scoring import scorer_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_STATES = 20_000
MAX_STEPS = 400_000
BATCH_STEPS = 4096
"""Number of steps that are explored together; the automaton exceeds its bound by at most that."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Activities that may begin a case, directly follow another, and end a case.

    Attributes:
        activities: Names of activities; the id of an activity is its place here.
        starts: [a]: a case may begin with a.
        follows: [a, b]: b may directly follow a.
        ends: [a]: a case may end with a.
        empty: Whether a case may have no activity.
    """

    activities: tuple[str, ...]
    starts: Bools
    follows: Bools
    ends: Bools
    empty: bool = False

    @cached_property
    def _key(self) -> tuple[object, ...]:
        parts = (self.starts, self.follows, self.ends)
        return (self.activities, *(part.tobytes() for part in parts), self.empty)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Steps) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __post_init__(self) -> None:
        size = len(self.activities)
        for name, shape in (("starts", (size,)), ("follows", (size, size)), ("ends", (size,))):
            part = np.array(getattr(self, name), dtype=np.bool_)
            if part.shape != shape:
                raise SettingError(name, part.shape, Statement("must.of_shape", shape=str(shape)))
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @classmethod
    def every(cls, activities: Sequence[str]) -> Steps:
        """Return steps that allow everything."""
        size = len(activities)
        return cls(
            activities=tuple(activities),
            starts=np.ones(size, dtype=np.bool_),
            follows=np.ones((size, size), dtype=np.bool_),
            ends=np.ones(size, dtype=np.bool_),
            empty=True,
        )


@lru_cache(maxsize=8)
def all_sequences(activities: tuple[str, ...], max_length: int) -> Language:
    """Return the language of all sequences: the cells of the whole histogram."""
    steps = np.arange(len(activities))
    return Language(
        activities=activities,
        max_length=max_length,
        sources=np.zeros_like(steps),
        steps=steps,
        targets=np.zeros_like(steps),
        ends=np.ones(1, dtype=np.bool_),
    )


def sequences_of_steps(steps: Steps, max_length: int, keeps_rules: bool = True) -> Language:
    """Return the language of all sequences that take allowed steps only."""
    sources, activities = np.nonzero(np.concatenate([steps.starts[None], steps.follows]))
    return Language(
        activities=steps.activities,
        max_length=max_length,
        sources=sources,
        steps=activities,
        targets=activities + 1,
        ends=np.concatenate([[steps.empty], steps.ends]),
        keeps_rules=keeps_rules,
    )


def sequences_within_rules(
    steps: Steps,
    rules: Rules,
    max_length: int,
    *,
    max_states: int = MAX_STATES,
    max_steps: int = MAX_STEPS,
) -> Language:
    """Return the language of all harmless sequences that take allowed steps only.

    Args:
        steps: Allowed steps.
        rules: Rules.
        max_length: Length of the longest sequence.
        max_states: Upper bound on the states of its automaton.
        max_steps: Upper bound on the edges of its automaton.

    Returns:
        The language. If its automaton exceeds a bound, the language of the steps alone, with
        `keeps_rules` False.
    """
    product = _Product(steps, scorer_of(rules.project_onto(steps.activities)))
    while product.todo:
        product.explore()
        if product.states > max_states or product.steps > max_steps:
            return sequences_of_steps(steps, max_length, keeps_rules=False)
    return product.language(max_length)


class _Product:
    """Constructs the product automaton of rules and steps; states: (rule state, last activity)."""

    def __init__(self, steps: Steps, rules: Semantics) -> None:
        self.rules = rules
        self.names = steps.activities
        self.size = len(steps.activities)
        # The last row is the start.
        self.follows = np.concatenate([steps.follows, steps.starts[None]])
        self.ends = np.concatenate([steps.ends, [steps.empty]])
        self.ids = {rules.start() * (self.size + 1) + self.size: 0}
        self.todo = list(self.ids)
        self.ending: list[tuple[Ints, Bools]] = []
        self.found: list[tuple[Ints, Ints, Ints]] = []
        self.steps = 0

    @property
    def states(self) -> int:
        """The number of states so far."""
        return len(self.ids)

    def explore(self) -> None:
        """Find the steps out of some states that were not explored yet."""
        keys = np.array(self.todo[:BATCH_STEPS], dtype=np.int64)
        state, last = np.divmod(keys, self.size + 1)
        harmless = self.rules.harmless(state)
        many = max(1, int(np.searchsorted(harmless.sum(axis=1).cumsum(), BATCH_STEPS)))
        keys, last, state, harmless = keys[:many], last[:many], state[:many], harmless[:many]
        del self.todo[:many]
        sources = np.array([self.ids[key] for key in keys.tolist()], dtype=np.int64)
        self.ending.append((sources, harmless[:, -1] & self.ends[last]))
        rows, activities = np.nonzero(harmless[:, :-1] & self.follows[last])
        reached = self.rules.step(state[rows], activities) * (self.size + 1) + activities
        targets = []
        for key in reached.tolist():
            known = len(self.ids)
            targets.append(self.ids.setdefault(key, known))
            if len(self.ids) > known:
                self.todo.append(key)
        self.found.append((sources[rows], activities, np.array(targets, dtype=np.int64)))
        self.steps += len(rows)

    def language(self, max_length: int) -> Language:
        """Return the language of the states and steps that were found."""
        sources, activities, targets = (
            np.concatenate(part) for part in zip(*self.found, strict=True)
        )
        ends = np.zeros(self.states, dtype=np.bool_)
        for states, ending in self.ending:
            ends[states] = ending
        return Language(
            activities=self.names,
            max_length=max_length,
            sources=sources,
            steps=activities,
            targets=targets,
            ends=ends,
        )
