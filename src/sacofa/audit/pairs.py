"""Pairs of neighbouring logs: what an attacker tries to tell apart.

The built-in ones are small and made to be hard: each puts one case where a mechanism is most
likely to show it. Others are built around a log, so that what is tried is what that log is like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import SettingError
from ..kernel.attributes import Attribute
from ..kernel.cases import CaseBatch, Cases
from ..kernel.language import Word
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts

CASES = 10
"""How many ordinary cases surround the one that is looked for."""
MANY = 2_000
"""How many cases surround it where a mechanism must see a large log."""
SURROUNDED = 100
"""How many times as many as the threshold: a mechanism may show nothing of smaller logs."""
FOLLOWERS = 12
"""How many steps the case that changes the rules makes harmless at once."""
LONGEST = 200
"""The length of the case of extreme length."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two logs that differ by what a mechanism protects: one case, or one person's cases."""

    name: str
    """A short name."""
    what: str
    """What the two differ by, in words."""
    smaller: VariantCounts
    """One log."""
    larger: VariantCounts
    """The same log with the cases of one more person."""
    smaller_by_case: CaseBatch | None = None
    """The cases of the smaller log one by one, with their times; None: the pair has no times."""
    added_by_case: CaseBatch | None = None
    """The cases that the larger log has more, one by one."""
    attributes: tuple[Attribute, ...] = ()
    """The attributes that cases one by one have."""
    together: tuple[tuple[int, int], ...] = ()
    """Which of them are asked for together."""

    @classmethod
    def timed(cls, *, name: str, what: str, smaller: CaseBatch, added: CaseBatch) -> Pair:
        """Two logs with times, given by the cases of one and those that the other has more."""
        return cls(
            name=name,
            what=what,
            smaller=smaller.variants(),
            larger=smaller.append(added).variants(),
            smaller_by_case=smaller,
            added_by_case=added,
        )

    @cached_property
    def smaller_cases(self) -> Cases:
        """One log, as a session asks it."""
        return self._as_cases(self.smaller, self.smaller_by_case)

    @cached_property
    def larger_cases(self) -> Cases:
        """The other log, as a session asks it."""
        if self.smaller_by_case is None or self.added_by_case is None:
            return Cases(variants=self.larger)
        both = self.smaller_by_case.append(self.added_by_case)
        return self._as_cases(self.larger, both)

    def _as_cases(self, variants: VariantCounts, by_case: CaseBatch | None) -> Cases:
        return Cases(
            variants=variants,
            by_case=by_case,
            has_starts=by_case is not None and by_case.starts is not None,
            attributes=self.attributes,
            pairs=self.together,
        )

    @property
    def unit(self) -> Unit:
        """What the two differ by: it comes with the logs."""
        return self.smaller.unit

    def check_neighbours(self) -> None:
        """Refuse logs that are no neighbours: what tells them apart proves nothing."""
        added, max_cases = self._added, self.unit.max_cases
        if (
            self.smaller.activities != self.larger.activities
            or self.smaller.unit != self.larger.unit
            or min(added.values(), default=0) < 0
            or not 1 <= sum(added.values()) <= max_cases
            or not self._same_by_case()
        ):
            raise SettingError(
                "pair", self.name, f"two logs of which one has 1 to {max_cases} cases more"
            )

    def _same_by_case(self) -> bool:
        """Whether cases one by one, where there are any, are those that were counted."""
        one, more = self.smaller_by_case, self.added_by_case
        if one is None or more is None:
            return one is more
        return one.variants() == self.smaller and more.variants() == self.added

    @property
    def added(self) -> VariantCounts:
        """What the larger log has more."""
        words = self._added.items()
        return VariantCounts.from_arrays(
            self.smaller.activities,
            [i for (ids, _), _ in words for i in ids],
            [len(ids) for (ids, _), _ in words],
            [more for _, more in words],
            [complete for (_, complete), _ in words],
            self.unit,
        )

    @property
    def _added(self) -> dict[Word, int]:
        left, right = cells_of(self.smaller), cells_of(self.larger)
        return {word: right.get(word, 0) - left.get(word, 0) for word in {*left, *right}}


def built_in_pairs(threshold: int) -> tuple[Pair, ...]:
    """The worst cases that need no log; `threshold` is where the mechanism starts to show."""
    several = [f"b{i}" for i in range(1, FOLLOWERS + 1)]
    a, b = ("a",), ("b",)
    plain = VariantCounts.of({a: CASES}, ["a", "b"])
    # No case goes on after its first activity, until one goes through them all.
    only = VariantCounts.of({a: CASES, **{(name,): 1 for name in several}}, ["a", *several])
    # Of so many cases nearly every query sees both variants, and the case adds to each.
    many = VariantCounts.of({(): MANY, a: MANY}, ["a"])
    # Surrounded by so many that a mechanism which asks for the size sees a large log.
    below = VariantCounts.of({a: SURROUNDED * threshold, b: max(threshold - 1, 0)}, ["a", "b"])
    return (
        _added("rules", "a case that changes the rules", only, ("a", *several)),
        _added("new variant", "a case that lifts a count from 0 to 1", plain, b),
        _added(
            "threshold",
            f"a case that lifts a count from {threshold - 1} to the threshold {threshold}",
            below,
            b,
        ),
        _added("long case", f"a case with {LONGEST} events", plain, ("b",) * LONGEST),
        _added(
            "long among many",
            f"a case with {LONGEST} events, among many cases",
            # Of few cases a mechanism need not ask how long they are.
            VariantCounts.of({a: MANY}, ["a", "b"]),
            ("b",) * LONGEST,
        ),
        _added("no events", "a case without events, among many such", many, ()),
    )


def persons_pair(max_cases: int) -> Pair:
    """One person with as many cases as a person may have, all alike."""
    unit = Unit(person="person", max_cases=max_cases)
    plain = VariantCounts.of({("a",): CASES}, ["a", "b"], unit=unit)
    return _added("person", f"a person with {max_cases} cases", plain, ("b",), max_cases)


def pairs_around(log: VariantCounts, threshold: int) -> tuple[Pair, ...]:
    """Neighbours of a log: with a case less or more, where it shows most."""
    if not log.cases:
        raise SettingError("log", "0 cases", "a log with at least one case")
    words = list(log)
    counts, lengths = log.counts, log.lengths
    rarest, most = int(np.argmin(counts)), int(np.argmax(counts))
    longest = int(np.argmax(lengths))
    # After it everything has followed and preceded everything: no rule is left of many.
    twice = 2 * log.activities
    near = int(np.argmin(abs(counts - threshold)))
    pairs = [
        _added("rules", "a case that goes through all activities twice", log, twice),
        _removed("rare", "a case of the rarest variant", log, rarest),
        _removed("frequent", "a case of the most frequent variant", log, most),
        _removed("long case", f"the longest case, of {lengths[longest]} events", log, longest),
        _added("no events", "a case without any event", log, ()),
    ]
    turned = words[most][0][::-1]
    if all(word != turned for word, _ in words):
        what = "a case that turns the most frequent variant around"
        pairs.append(_added("new variant", what, log, turned))
    adjusted = _change(log, *_row(log, near), threshold - 1 - int(counts[near]))
    what = f"a case that lifts a count from {threshold - 1} to the threshold {threshold}"
    pairs.append(_added("threshold", what, adjusted, words[near][0], 1, bool(log.complete[near])))
    return tuple(pairs)


def persons_around(log: VariantCounts, max_cases: int) -> Pair:
    """One more person, with as many cases as a person may have, all of the rarest variant."""
    ids, complete = _row(log, int(np.argmin(log.counts)))
    smaller = replace(log, unit=Unit(person="person", max_cases=max_cases))
    return Pair(
        name="person",
        what=f"a person with {max_cases} cases of the rarest variant",
        smaller=smaller,
        larger=_change(smaller, ids, complete, max_cases),
    )


def _added(
    name: str,
    what: str,
    log: VariantCounts,
    variant: Sequence[str],
    cases: int = 1,
    finished: bool = True,
) -> Pair:
    ids = [log.activities.index(activity) for activity in variant]
    return Pair(name=name, what=what, smaller=log, larger=_change(log, ids, finished, cases))


def _removed(name: str, what: str, log: VariantCounts, place: int) -> Pair:
    return Pair(name=name, what=what, smaller=_change(log, *_row(log, place), -1), larger=log)


def _row(log: VariantCounts, place: int) -> tuple[list[int], bool]:
    ids = log.activity_ids[log.offsets[place] : log.offsets[place + 1]]
    return ids.tolist(), bool(log.complete[place])


def _change(log: VariantCounts, ids: Sequence[int], complete: bool, cases: int) -> VariantCounts:
    """The log with so many more cases of one variant."""
    return VariantCounts.from_arrays(
        log.activities,
        np.append(log.activity_ids, np.array(ids, dtype=np.int64)),
        np.append(log.lengths, len(ids)),
        np.append(log.counts, cases),
        np.append(log.complete, complete),
        log.unit,
    )


def cells_of(log: VariantCounts) -> dict[Word, int]:
    """The count of each variant, by its activity ids and whether it is finished."""
    words = zip(log.sequences(), log.complete.tolist(), strict=True)
    return dict(zip(words, log.counts.tolist(), strict=True))
