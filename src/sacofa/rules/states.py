"""Rules as a deterministic automaton, constructed as far as it is walked.

The steps that the rules allow after a prefix depend on two sets only: the activities *seen* so far
and those still *owed* (demanded by an *always follows* and not seen since). A state stands for one
such pair. Every prefix with a harmful step is in one state of its own, in which nothing is harmless
any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .rules import Rules

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
"""Sets of activities, one per row, as the bits of machine words."""

HARMFUL = 0
"""State of every prefix that breaks a rule."""
START = 1
"""State of the empty prefix."""
FIRST = 2
UNKNOWN = -1
# This many (state, activity) cells are judged together: bounds memory, not the result.
CELLS = 1 << 20


class RuleStates:
    """Semantics of rules. Keeps everything that it finds out about a state.

    It grows while it is used, and therefore belongs to one thread.
    """

    def __init__(self, rules: Rules) -> None:
        """Take rules."""
        self.rules = rules
        size = len(rules.activities)
        self._bits = _words(np.eye(size, dtype=np.bool_))
        # An activity that no rule depends on leaves no mark, so that it makes no states.
        relevant = rules.never_follows | rules.always_follows | rules.always_precedes.T
        self._marks = self._bits * relevant.any(axis=1, keepdims=True)
        self._owes = _words(rules.always_follows)
        self._barred_by = _words(rules.never_precedes)
        self._needs = _words(rules.always_precedes)
        self._ids: dict[bytes, int] = {}
        self._sets = np.zeros((0, 2 * self._bits.shape[1]), dtype=np.uint64)
        self._allowed = np.zeros((0, size + 1), dtype=np.bool_)
        self._next = np.zeros((0, size), dtype=np.int32)
        self._known = START + 1
        self._judge(np.zeros((1, self._sets.shape[1]), dtype=np.uint64), START)
        # The start rule applies only here; the sets never lead back to the start.
        self._allowed[START, :size] &= rules.starts
        self._allowed[START, size] &= rules.empty
        self._next[START, ~self._allowed[START, :size]] = HARMFUL
        self._violations: Violations | None = None

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""
        return self.rules.activities

    def __len__(self) -> int:
        """The number of states so far, with the harmful one."""
        return self._known

    def start(self) -> int:
        """Return the state of the empty prefix."""
        return START

    def harmless(self, states: Ints) -> Bools:
        """Return which next steps are harmless: a column per activity, the last for the end."""
        return self._allowed[states]

    def step(self, states: Ints, activities: Ints) -> Ints:
        """Return the state after one more activity, for each pair; HARMFUL after a harmful one."""
        pairs = states * len(self.activities) + activities
        reached: Ints = self._next.reshape(-1)[pairs].astype(np.int64)
        unknown = reached < 0
        if unknown.any():
            self._explore(pairs[unknown])
            reached = self._next.reshape(-1)[pairs].astype(np.int64)
        return reached

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return the number of rules that a prefix of activity ids breaks."""
        if self._violations is None:
            self._violations = Violations(self.rules)
        return self._violations.count(prefix, finished)

    def _explore(self, pairs: Ints) -> None:
        """Find the target of pairs of a state and an activity that are asked for the first time."""
        # To take one of each set of equal pairs without sorting, all write their place into the
        # table, and the place that remains is taken.
        places = np.arange(len(pairs))
        table = self._next.reshape(-1)
        table[pairs] = places
        pairs = pairs[table[pairs] == places]
        found = self._enter(self._sets_after(*np.divmod(pairs, len(self.activities))))
        self._next.reshape(-1)[pairs] = found

    def _sets_after(self, states: Ints, activities: Ints) -> Words:
        width = self._bits.shape[1]
        seen, owed = self._sets[states, :width], self._sets[states, width:]
        marks = self._marks[activities]
        known = (seen & marks).any(axis=1, keepdims=True)
        owes = np.where(known, 0, self._owes[activities])
        rest = owed & ~self._bits[activities]
        return np.concatenate([seen | marks, rest | owes], axis=1)

    def _enter(self, sets: Words) -> Ints:
        """Return the states of sets, and create those that are new."""
        ids = self._ids
        keys = np.ascontiguousarray(sets).view(f"V{8 * sets.shape[1]}").ravel().tolist()
        before = self._known
        found = np.array([ids.setdefault(key, len(ids) + FIRST) for key in keys], dtype=np.int64)
        self._known = len(ids) + FIRST
        if self._known > before:
            new = np.flatnonzero(found >= before)
            one = np.zeros(self._known - before, dtype=np.int64)
            one[found[new] - before] = new
            self._judge(sets[one], before)
        return found

    def _judge(self, sets: Words, at: int) -> None:
        """Store which steps are harmless in new states, numbered from `at`."""
        size, width = len(self.activities), self._bits.shape[1]
        self._grow(self._known)
        here = slice(at, self._known)
        self._sets[here] = sets
        many = max(1, CELLS // max(size, 1))
        for begin in range(0, len(sets), many):
            # A step b is harmful if an activity that was seen bars it, or it needs one that was
            # not seen.
            part = sets[begin : begin + many, :width, None]
            harm = np.zeros((len(part), size), dtype=np.uint64)
            for word in range(width):
                seen = part[:, word]
                harm |= (seen & self._barred_by[:, word]) | (~seen & self._needs[:, word])
            self._allowed[at + begin : at + begin + len(part), :size] = harm == 0
        self._allowed[here, size] = ~sets[:, width:].any(axis=1)
        self._next[here] = np.where(self._allowed[here, :size], UNKNOWN, HARMFUL)

    def _grow(self, number: int) -> None:
        """Make room for twice a number of states, so that it rarely has to grow."""
        if number <= len(self._sets):
            return
        for name in ("_sets", "_allowed", "_next"):
            old = getattr(self, name)
            new = np.zeros((max(64, 2 * number), *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


class Violations:
    """Counts broken rules: the continuous score of the SaCoFa paper.

    A set of activities is a whole number with one bit per activity.
    """

    def __init__(self, rules: Rules) -> None:
        """Take rules."""
        self._barred_by = _numbers(rules.never_precedes)
        self._owes = _numbers(rules.always_follows)
        self._needs = _numbers(rules.always_precedes)
        self._starts = rules.starts.tolist()
        self._empty = rules.empty

    def count(self, prefix: Sequence[int], finished: bool) -> int:
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
        seen = 0
        lacking = 0
        barred: dict[int, int] = {}
        for b in prefix:
            barred[b] = barred.get(b, 0) | (seen & self._barred_by[b])
            if not seen >> b & 1:
                lacking += (self._needs[b] & ~seen).bit_count()
            seen |= 1 << b
        broken = lacking + 2 * sum(facts.bit_count() for facts in barred.values())
        if (not self._starts[prefix[0]]) if len(prefix) else (finished and not self._empty):
            broken += 1
        return broken + (self._still_owed(prefix) if finished else 0)

    def _still_owed(self, prefix: Sequence[int]) -> int:
        later = 0
        after_first: dict[int, int] = {}
        for a in reversed(prefix):
            after_first[a] = later
            later |= 1 << a
        return sum((self._owes[a] & ~then).bit_count() for a, then in after_first.items())


def _numbers(rows: Bools) -> list[int]:
    """Each row of a matrix as a whole number whose bits are its cells."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _words(rows: Bools) -> Words:
    """Pack each row of a matrix into machine words, at least one."""
    packed = np.packbits(rows, axis=1)
    words = max(1, -(-packed.shape[1] // 8))
    padded = np.zeros((len(rows), 8 * words), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
