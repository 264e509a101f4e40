"""The languages of what is allowed: everything, given steps, or given steps within rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..kernel.language import Language
from .rules import Rules
from .scoring import Scorer, scorer_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_STATES = 20_000
MAX_STEPS = 400_000
# So many steps are explored together; the automaton overshoots its bound by no more than that.
TOGETHER = 4096


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Which activities may begin a case, come directly after another, and end a case."""

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    starts: Bools
    """[a]: a case may begin with a."""
    follows: Bools
    """[a, b]: b may come directly after a."""
    ends: Bools
    """[a]: a case may end with a."""
    empty: bool = False
    """Whether a case may have no activity at all."""

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
                raise SettingError(name, f"shape {part.shape}", f"of shape {shape}")
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @classmethod
    def every(cls, activities: Sequence[str]) -> Steps:
        """Allow every step."""
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
    """Make the language of all sequences: the cells of the whole histogram."""
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
    """Make the language of all sequences that take allowed steps only."""
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
    """Make the language of all harmless sequences that take allowed steps only.

    Its automaton can be too large to make. Past a bound it is given up: the language is then that
    of the steps alone, and says so (`keeps_rules` is False).
    """
    product = _Product(steps, scorer_of(rules.project_onto(steps.activities)))
    while product.todo:
        product.explore()
        if product.states > max_states or product.steps > max_steps:
            return sequences_of_steps(steps, max_length, keeps_rules=False)
    return product.language(max_length)


class _Product:
    """The automaton of rules and steps in the making: states are (rule state, last activity)."""

    def __init__(self, steps: Steps, rules: Scorer) -> None:
        self.rules = rules
        self.names = steps.activities
        self.size = len(steps.activities)
        # The place before the first activity comes last.
        self.follows = np.concatenate([steps.follows, steps.starts[None]])
        self.ends = np.concatenate([steps.ends, [steps.empty]])
        self.ids = {rules.start() * (self.size + 1) + self.size: 0}
        self.todo = list(self.ids)
        self.ending: list[tuple[Ints, Bools]] = []
        self.found: list[tuple[Ints, Ints, Ints]] = []
        self.steps = 0

    @property
    def states(self) -> int:
        """The number of states found so far."""
        return len(self.ids)

    def explore(self) -> None:
        """Find the steps out of some of the states that were not looked at yet."""
        keys = np.array(self.todo[:TOGETHER], dtype=np.int64)
        reach = np.cumsum(self.rules.allowed_counts(keys // (self.size + 1)))
        keys = keys[: max(1, int(np.searchsorted(reach, TOGETHER)))]
        del self.todo[: len(keys)]
        sources = np.array([self.ids[key] for key in keys.tolist()], dtype=np.int64)
        state, last = np.divmod(keys, self.size + 1)
        harmless = self.rules.harmless(state)
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
        """Put together what was found."""
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
