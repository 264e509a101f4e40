"""Languages of allowed sequences: all, those of given pairs, those of pairs within rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np

from ..errors import SettingError, Statement
from ..kernel.language import Language
from .kinds import Bools, Ints
from .rules import Rules
from .semantics import scorer_of

MAX_STATES = 20_000
MAX_STEPS = 400_000
BATCH = 256
"""Number of states that are explored together."""


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
    rule_states = scorer_of(rules.project_onto(steps.activities))
    size = len(steps.activities)
    # A state is a state of the rules and the last activity, as one number; the last row is the
    # start.
    follows = np.concatenate([steps.follows, steps.starts[None]])
    may_end = np.concatenate([steps.ends, [steps.empty]])
    ids = {rule_states.start() * (size + 1) + size: 0}
    found: list[tuple[Ints, Ints, list[int]]] = []
    ends: list[bool] = []
    while len(ends) < len(ids):
        # States are numbered as they are found, so that the next ones are those without an end.
        batch = np.fromiter(islice(ids, len(ends), len(ends) + BATCH), dtype=np.int64)
        state, last = np.divmod(batch, size + 1)
        harmless = rule_states.harmless(state)
        rows, activities = np.nonzero(harmless[:, :-1] & follows[last])
        reached = rule_states.step(state[rows], activities) * (size + 1) + activities
        targets = [ids.setdefault(key, len(ids)) for key in reached.tolist()]
        found.append((rows + len(ends), activities, targets))
        ends += (harmless[:, -1] & may_end[last]).tolist()
        if len(ids) > max_states or sum(len(part) for *_, part in found) > max_steps:
            return sequences_of_steps(steps, max_length, keeps_rules=False)
    sources, activities, ends_of_steps = (np.concatenate(part) for part in zip(*found, strict=True))
    return Language(
        activities=steps.activities,
        max_length=max_length,
        sources=sources,
        steps=activities,
        targets=ends_of_steps.astype(np.int64),
        ends=np.array(ends, dtype=np.bool_),
    )
