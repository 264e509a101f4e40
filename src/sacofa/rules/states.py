"""Rules as a deterministic automaton, made as far as it is walked.

What the rules allow after a prefix depends on two sets only: the activities *seen* so far and those
still *owed* (demanded by an *always follows* and not seen since). A state stands for
one such pair; every prefix with a harmful step is in one state of its own, from which nothing
is harmless any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .rules import Rules
from .violations import Violations

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
"""Sets of activities, one per row, as the bits of machine words."""

HARMFUL = 0
"""The state of every prefix that breaks a rule."""
START = 1
"""The state of the empty prefix."""
FIRST = 2
UNKNOWN = -1
# So many (state, activity) cells are judged together: bounds memory, not the result.
CELLS = 1 << 20


class RuleStates:
    """Judges prefixes by rules; whatever it worked out about a state it keeps.

    It grows while it is asked, so it belongs to one thread.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        size = len(rules.activities)
        self._bits = _words(np.eye(size, dtype=np.bool_))
        # Whether an activity was seen matters only if some rule asks; else it makes no states.
        asked = rules.never_follows | rules.always_follows | rules.always_precedes.T
        self._marks = self._bits * asked.any(axis=1, keepdims=True)
        self._owes = _words(rules.always_follows)
        self._barred_by = _words(rules.never_precedes)
        self._needs = _words(rules.always_precedes)
        self._ids: dict[bytes, int] = {}
        self._sets = np.zeros((0, 2 * self._bits.shape[1]), dtype=np.uint64)
        self._allowed = np.zeros((0, size + 1), dtype=np.bool_)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._next = np.zeros((0, size), dtype=np.int32)
        self._known = START + 1
        self._judge(np.zeros((1, self._sets.shape[1]), dtype=np.uint64), START)
        # Only here does the start rule hold, so the start is never found again by its sets.
        self._allowed[START, :size] &= rules.starts
        self._allowed[START, size] &= rules.empty
        self._numbers[START] = self._allowed[START].sum()
        self._next[START, ~self._allowed[START, :size]] = HARMFUL
        self._broken: Violations | None = None

    @property
    def activities(self) -> tuple[str, ...]:
        """The activities; ids are places here."""
        return self.rules.activities

    def __len__(self) -> int:
        """The number of states met so far, the harmful one among them."""
        return self._known

    def start(self) -> int:
        """The state of the empty prefix."""
        return START

    def harmless(self, states: Ints) -> Bools:
        """Which next steps are harmless in each state: a column per activity, the last the end."""
        return self._allowed[states]

    def allowed_counts(self, states: Ints) -> Ints:
        """For each state, how many next steps are harmless, the end counted too."""
        return self._numbers[states]

    def step(self, states: Ints, activities: Ints) -> Ints:
        """The state after one more activity, for each pair; a harmful step leads to HARMFUL."""
        pairs = states * len(self.activities) + activities
        reached: Ints = self._next.reshape(-1)[pairs].astype(np.int64)
        unknown = reached < 0
        if unknown.any():
            self._explore(pairs[unknown])
            reached = self._next.reshape(-1)[pairs].astype(np.int64)
        return reached

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """The number of rules that a prefix of activity ids breaks."""
        if self._broken is None:
            self._broken = Violations(self.rules)
        return self._broken.count(prefix, finished)

    def _explore(self, pairs: Ints) -> None:
        """Work out where pairs of a state and an activity lead that nobody asked for before."""
        # One of each set of equal pairs is taken by writing all their places over one another
        # and keeping the place that remained: no sorting.
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
        """Find the states of sets, making those that are new."""
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
        """Write down what is harmless in new states, numbered from `at`."""
        size, width = len(self.activities), self._bits.shape[1]
        self._grow(self._known)
        here = slice(at, self._known)
        self._sets[here] = sets
        many = max(1, CELLS // max(size, 1))
        for begin in range(0, len(sets), many):
            # A step b is harmful where a seen a bars it, or where it needs an unseen c.
            part = sets[begin : begin + many, :width, None]
            harm = np.zeros((len(part), size), dtype=np.uint64)
            for word in range(width):
                seen = part[:, word]
                harm |= (seen & self._barred_by[:, word]) | (~seen & self._needs[:, word])
            self._allowed[at + begin : at + begin + len(part), :size] = harm == 0
        self._allowed[here, size] = ~sets[:, width:].any(axis=1)
        self._numbers[here] = self._allowed[here].sum(axis=1)
        self._next[here] = np.where(self._allowed[here, :size], UNKNOWN, HARMFUL)

    def _grow(self, number: int) -> None:
        """Make room for a number of states; twice what is needed, so that growing is rare."""
        if number <= len(self._sets):
            return
        for name in ("_sets", "_allowed", "_numbers", "_next"):
            old = getattr(self, name)
            new = np.zeros((max(64, 2 * number), *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


def _words(rows: Bools) -> Words:
    """Pack each row of a matrix into machine words, at least one."""
    packed = np.packbits(rows, axis=1)
    words = max(1, -(-packed.shape[1] // 8))
    padded = np.zeros((len(rows), 8 * words), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
