"""Pairs of neighbouring logs, which an attacker tries to distinguish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.batches import concatenate
from ..errors import SettingError, Statement
from ..kernel.attributes import Attribute
from ..kernel.cases import CaseBatch, Cases
from ..kernel.language import Word
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two logs that differ by one unit of privacy: one case, or the cases of one person.

    Attributes:
        name: A short name.
        what: The difference between the two, in words.
        smaller: One log.
        larger: The same log with the cases of one more unit.
        smaller_by_case: Cases of the smaller log one by one; None for a pair without times.
        added_by_case: Cases that only the larger log has, one by one.
        attributes: Attributes that these cases have.
        together: Pairs of attributes that are declared.
    """

    name: str
    what: str
    smaller: VariantCounts
    larger: VariantCounts
    smaller_by_case: CaseBatch | None = None
    added_by_case: CaseBatch | None = None
    attributes: tuple[Attribute, ...] = ()
    together: tuple[tuple[int, int], ...] = ()

    @classmethod
    def timed(cls, *, name: str, what: str, smaller: CaseBatch, added: CaseBatch) -> Pair:
        """Make a pair with times from the cases of one log and those that the other has more."""
        return cls(
            name=name,
            what=what,
            smaller=smaller.variants(),
            larger=concatenate([smaller, added]).variants(),
            smaller_by_case=smaller,
            added_by_case=added,
        )

    @classmethod
    def adding(
        cls, name: str, what: str, log: VariantCounts, variant: Sequence[str], cases: int = 1
    ) -> Pair:
        """Make a pair of a log and the same log with more cases of one variant."""
        ids = [log.activities.index(activity) for activity in variant]
        return cls(name=name, what=what, smaller=log, larger=_change(log, (ids, True), cases))

    @cached_property
    def smaller_cases(self) -> Cases:
        """One log, as a session reads it."""
        return self._as_cases(self.smaller, self.smaller_by_case)

    @cached_property
    def larger_cases(self) -> Cases:
        """The other log, as a session reads it."""
        if self.smaller_by_case is None or self.added_by_case is None:
            return Cases(variants=self.larger)
        both = concatenate([self.smaller_by_case, self.added_by_case])
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
        """The unit of privacy, which the logs contain."""
        return self.smaller.unit

    def check_neighbours(self) -> None:
        """Refuse logs that are not neighbours: to distinguish them proves nothing.

        Raises:
            SettingError: If the larger log does not have 1 to max_cases cases more.
        """
        added, max_cases = self._added, self.unit.max_cases
        if (
            self.smaller.activities != self.larger.activities
            or self.smaller.unit != self.larger.unit
            or min(added.values(), default=0) < 0
            or not 1 <= sum(added.values()) <= max_cases
            or not self._same_by_case()
        ):
            must = Statement("must.neighbouring_logs", max_cases=max_cases)
            raise SettingError("pair", self.name, must)

    def _same_by_case(self) -> bool:
        """Whether the cases one by one, if there are any, are those that were counted."""
        one, more = self.smaller_by_case, self.added_by_case
        if one is None or more is None:
            return one is more
        return one.variants() == self.smaller and more.variants() == self.added

    @property
    def added(self) -> VariantCounts:
        """The cases that only the larger log has."""
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


def pairs_around(log: VariantCounts, threshold: int) -> tuple[Pair, ...]:
    """Return neighbours of a log, each with one case less or more that is likely to be revealed.

    Args:
        log: The log.
        threshold: Count from which the mechanism releases a variant.

    Returns:
        The pairs.

    Raises:
        SettingError: If the log has no cases.
    """
    if not log.cases:
        raise SettingError("log", None, Statement("must.log_with_cases"))
    words = list(log)
    counts, lengths = log.counts, log.lengths
    rarest, most = int(np.argmin(counts)), int(np.argmax(counts))
    longest = int(np.argmax(lengths))
    # After this case every activity has followed and preceded every other: few rules are left.
    twice = 2 * log.activities
    near = int(np.argmin(abs(counts - threshold)))
    pairs = [
        Pair.adding("rules", "a case that goes through all activities twice", log, twice),
        _removed("rare", "a case of the rarest variant", log, rarest),
        _removed("frequent", "a case of the most frequent variant", log, most),
        _removed("long case", f"the longest case, of {lengths[longest]} events", log, longest),
        Pair.adding("no events", "a case without any event", log, ()),
    ]
    reverse = words[most][0][::-1]
    if all(word != reverse for word, _ in words):
        what = "a case that reverses the most frequent variant"
        pairs.append(Pair.adding("new variant", what, log, reverse))
    nearest = _word(log, near)
    below = _change(log, nearest, threshold - 1 - int(counts[near]))
    what = f"a case that lifts a count from {threshold - 1} to the threshold {threshold}"
    above = _change(below, nearest, 1)
    pairs.append(Pair(name="threshold", what=what, smaller=below, larger=above))
    return tuple(pairs)


def persons_around(log: VariantCounts, max_cases: int) -> Pair:
    """Return a log and the same log with one more person, all cases of the rarest variant."""
    smaller = replace(log, unit=Unit(person="person", max_cases=max_cases))
    return Pair(
        name="person",
        what=f"a person with {max_cases} cases of the rarest variant",
        smaller=smaller,
        larger=_change(smaller, _word(log, int(np.argmin(log.counts))), max_cases),
    )


def cells_of(log: VariantCounts) -> dict[Word, int]:
    """Return the count of each variant, by its activity ids and whether it is finished."""
    words = zip(log.sequences(), log.complete.tolist(), strict=True)
    return dict(zip(words, log.counts.tolist(), strict=True))


def _removed(name: str, what: str, log: VariantCounts, place: int) -> Pair:
    return Pair(name=name, what=what, smaller=_change(log, _word(log, place), -1), larger=log)


def _word(log: VariantCounts, place: int) -> tuple[list[int], bool]:
    ids = log.activity_ids[log.offsets[place] : log.offsets[place + 1]]
    return ids.tolist(), bool(log.complete[place])


def _change(log: VariantCounts, word: tuple[Sequence[int], bool], cases: int) -> VariantCounts:
    """The log with more (or fewer) cases of one variant."""
    ids, complete = word
    return VariantCounts.from_arrays(
        log.activities,
        np.append(log.activity_ids, np.array(ids, dtype=np.int64)),
        np.append(log.lengths, len(ids)),
        np.append(log.counts, cases),
        np.append(log.complete, complete),
        log.unit,
    )
