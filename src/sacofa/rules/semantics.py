"""Automata of rules: harmless next steps of a prefix, and the number of rules that it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kinds import Bools, Ints, Semantics
from .models.automaton import ModelRules, ModelStates
from .rules import KINDS, Rules

HARMFUL = 0
"""State of every prefix that breaks a rule."""
START = 1
"""State of the empty prefix."""
UNKNOWN = -1


@dataclass(frozen=True)
class NoRules:
    """Judges every prefix as harmless."""

    activities: tuple[str, ...]
    """The activities; ids are places here."""

    def start(self) -> int:
        """The only state."""
        return 0

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """All next steps are harmless."""
        return np.ones((len(states), len(self.activities) + 1), dtype=np.bool_)

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the only state again."""
        return np.zeros_like(states)

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return 0."""
        return 0


class RuleStates:
    """Semantics of rules: a deterministic automaton, constructed as far as it is walked.

    The steps that the rules allow after a prefix depend on two sets only: the activities *seen* so
    far and those still *owed* (demanded by an *always follows* and not seen since). A state stands
    for one such pair. Every prefix with a harmful step is in one state of its own, in which nothing
    is harmless any more. It grows while it is used, and therefore belongs to one thread.
    """

    def __init__(self, rules: Rules) -> None:
        """Prepare the sets of the rules."""
        self.rules = rules
        size = len(rules.activities)
        # An activity that no rule depends on is ignored, so that it does not multiply states.
        relevant = rules.never_follows | rules.always_follows | rules.always_precedes.T
        self._marks = np.diag(relevant.any(axis=1))
        self._bars = rules.never_follows.astype(np.float32)
        self._needed_by = rules.always_precedes.T.astype(np.float32)
        self._ids: dict[bytes, int] = {}
        # [state]: the sets (seen, owed), the harmless steps, and the next states.
        self._sets = np.zeros((0, 2 * size), dtype=np.bool_)
        self._allowed = np.zeros((0, size + 1), dtype=np.bool_)
        self._next = np.zeros((0, size), dtype=np.int32)
        self._judge(np.zeros((1, 2 * size), dtype=np.bool_), START)
        # The start rule applies only here; the sets never lead back to the start.
        self._allowed[START, :size] &= rules.starts
        self._allowed[START, size] &= rules.empty
        self._next[START, ~self._allowed[START, :size]] = HARMFUL

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""
        return self.rules.activities

    def start(self) -> int:
        """Return the state of the empty prefix."""
        return START

    def harmless(self, states: Ints) -> Bools:
        """Return which next steps are harmless: a column per activity, the last for the end."""
        return self._allowed[states]

    def step(self, states: Ints, activities: Ints) -> Ints:
        """Return the state after one more activity, for each pair; HARMFUL after a harmful one."""
        unknown = self._next[states, activities] == UNKNOWN
        if unknown.any():
            size = len(self.activities)
            pairs = np.unique(states[unknown] * size + activities[unknown])
            sources, steps = np.divmod(pairs, size)
            self._next[sources, steps] = self._enter(self._sets_after(sources, steps))
        return self._next[states, activities].astype(np.int64)

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Count the distinct facts (activity, activity, kind of rule) that a prefix breaks.

        A step that *never follows* another also breaks the *never precedes* of the other
        direction. An activity that *always follows* may still come as long as the prefix is not
        finished. A wrong start is one fact, and so is an empty case if events are required.

        Args:
            prefix: Activity ids.
            finished: Whether the case ends here.

        Returns:
            The number.
        """
        rules = self.rules
        if not len(prefix):
            return int(finished and not rules.empty)
        ids, places = np.array(prefix), np.arange(len(prefix))
        first, last = np.full((2, len(self.activities)), [[len(ids)], [-1]])
        np.minimum.at(first, ids, places)
        np.maximum.at(last, ids, places)
        there = np.flatnonzero(last >= 0)
        # [a, b]: whether some b comes after, or before, the first a.
        after, before = last > first[there, None], first < first[there, None]
        broken = 2 * np.count_nonzero(rules.never_follows[there] & after)
        broken += np.count_nonzero(rules.always_precedes[there] & ~before)
        if finished:
            broken += np.count_nonzero(rules.always_follows[there] & ~after)
        return int(broken) + (not rules.starts[ids[0]])

    def _sets_after(self, states: Ints, activities: Ints) -> Bools:
        """Return the activities that are seen and owed after one more activity."""
        seen, owed = np.hsplit(self._sets[states], 2)
        marks, owes = self._marks[activities], self.rules.always_follows[activities]
        again = (seen & marks).any(axis=1, keepdims=True)
        owed[np.arange(len(owed)), activities] = False
        return np.hstack([seen | marks, owed | (owes & ~again)])

    def _enter(self, sets: Bools) -> Ints:
        """Return the states of sets, and create those that are new."""
        keys = [row.tobytes() for row in np.packbits(sets, axis=1)]
        new = {key: row for row, key in enumerate(keys) if key not in self._ids}
        begin = START + 1 + len(self._ids)
        self._ids.update(zip(new, range(begin, begin + len(new)), strict=True))
        self._judge(sets[list(new.values())], begin)
        return np.array([self._ids[key] for key in keys], dtype=np.int64)

    def _judge(self, sets: Bools, begin: int) -> None:
        """Store which steps are harmless in new states, numbered from `begin`."""
        end, size = begin + len(sets), len(self.activities)
        # There is room for twice the states, so that it rarely has to grow.
        for name in ("_sets", "_allowed", "_next"):
            old = getattr(self, name)
            if end > len(old):
                new = np.zeros((max(64, 2 * end), old.shape[1]), dtype=old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)
        seen, owed = np.hsplit(sets, 2)
        # A step b is harmful if an activity that was seen bars it, or it needs one that was not.
        harm = seen.astype(np.float32) @ self._bars + (~seen).astype(np.float32) @ self._needed_by
        self._sets[begin:end] = sets
        self._allowed[begin:end, :size] = harm == 0
        self._allowed[begin:end, size] = ~owed.any(axis=1)
        self._next[begin:end] = np.where(harm == 0, UNKNOWN, HARMFUL)


def scorer_of(rules: Rules) -> Semantics:
    """Return semantics that judge by rules, or by the language of a model if the rules have one."""
    scorer: Semantics = ModelStates(rules) if isinstance(rules, ModelRules) else RuleStates(rules)
    for kind in KINDS:
        table = rules.tables[kind.name]
        if kind.judge is not None and (table != kind.free).any():
            scorer = kind.judge(scorer, table)
    return scorer
