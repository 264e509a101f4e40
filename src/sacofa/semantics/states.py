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

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

HARMFUL = 0
"""The state of every prefix that breaks a rule."""
START = 1
"""The state of the empty prefix."""
UNKNOWN = -1


class RuleStates:
    """Judges prefixes by rules; whatever it worked out about a state it keeps.

    It grows while it is asked, so it belongs to one thread.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        size = len(rules.activities)
        self._bits = np.packbits(np.eye(size, max(size, 1), dtype=np.bool_), axis=1)
        self._owes = np.packbits(rules.always_follows, axis=1)
        # How many rules the next step b breaks: those that a seen a brings (b never follows a)
        # and those that an unseen c leaves open (c always precedes b). Linear in the seen set, so
        # one matrix product judges many states; float32 is exact for whole numbers this small.
        precedes = rules.always_precedes.T.astype(np.float32)
        self._harm = rules.never_follows.astype(np.float32) - precedes
        self._harm_at_start = precedes.sum(axis=0)
        self._ids: dict[bytes, int] = {}
        self._sets = np.zeros((0, 2 * self._bits.shape[1]), dtype=np.uint8)
        self._allowed = np.zeros((0, size + 1), dtype=np.bool_)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._next = np.zeros((0, size), dtype=np.int32)
        self._known = START
        self._enter(np.zeros((1, self._sets.shape[1]), dtype=np.uint8))
        self._allowed[START, :size] &= rules.starts
        self._numbers[START] = self._allowed[START].sum()
        self._next[START, ~self._allowed[START, :size]] = HARMFUL
        self._rows: _Rows | None = None

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
        """The number of rules that a prefix of activity ids breaks.

        Counted are different facts (activity, activity, kind of rule), and the start rule. A step
        that *never follows* another breaks the *never precedes* of the other direction too. What
        always follows may still come as long as the prefix is not finished.
        """
        if self._rows is None:
            self._rows = _Rows(self.rules)
        return self._rows.violations(prefix, finished)

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

    def _sets_after(self, states: Ints, activities: Ints) -> NDArray[np.uint8]:
        width = self._bits.shape[1]
        seen, owed = self._sets[states, :width], self._sets[states, width:]
        bits = self._bits[activities]
        new = (seen & bits).max(axis=1, keepdims=True) == 0
        owes = self._owes[activities] * new
        return np.concatenate([seen | bits, (owed & ~bits) | owes], axis=1)

    def _enter(self, sets: NDArray[np.uint8]) -> Ints:
        """Find the states of sets, making those that are new."""
        ids = self._ids
        keys = np.ascontiguousarray(sets).view(f"V{sets.shape[1]}").ravel().tolist()
        before = self._known
        found = np.array([ids.setdefault(key, len(ids) + START) for key in keys], dtype=np.int64)
        self._known = len(ids) + START
        if self._known > before:
            new = np.flatnonzero(found >= before)
            one = np.zeros(self._known - before, dtype=np.int64)
            one[found[new] - before] = new
            self._judge(sets[one], before)
        return found

    def _judge(self, sets: NDArray[np.uint8], at: int) -> None:
        """Write down what is harmless in new states, numbered from `at`."""
        size, width = len(self.activities), self._bits.shape[1]
        self._grow(self._known)
        here = slice(at, self._known)
        seen = np.unpackbits(sets[:, :width], axis=1, count=size).astype(np.float32)
        self._sets[here] = sets
        self._allowed[here, :size] = seen @ self._harm + self._harm_at_start == 0
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


class _Rows:
    """The rules as one bit set (a whole number) per activity, to count what a prefix breaks."""

    def __init__(self, rules: Rules) -> None:
        self.never_after = _numbers(rules.never_precedes)
        self.owes = _numbers(rules.always_follows)
        self.needs = _numbers(rules.always_precedes)
        self.starts = rules.starts

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        seen = 0
        needed = 0
        forbidden: dict[int, int] = {}
        for b in prefix:
            forbidden[b] = forbidden.get(b, 0) | (seen & self.never_after[b])
            if not seen >> b & 1:
                needed += (self.needs[b] & ~seen).bit_count()
            seen |= 1 << b
        broken = needed + 2 * sum(facts.bit_count() for facts in forbidden.values())
        if len(prefix) and not self.starts[prefix[0]]:
            broken += 1
        if finished:
            later = 0
            after_first: dict[int, int] = {}
            for a in reversed(prefix):
                after_first[a] = later
                later |= 1 << a
            broken += sum((self.owes[a] & ~then).bit_count() for a, then in after_first.items())
        return broken


def _numbers(rows: Bools) -> list[int]:
    """Each row of a matrix as a whole number whose bits are its cells."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]
