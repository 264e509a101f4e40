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
        more = VariantCounts.of({tuple(variant): cases}, log.activities)
        return cls(name=name, what=what, smaller=log, larger=_combine(log, more))

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

    @property
    def added(self) -> VariantCounts:
        """The cases that only the larger log has."""
        return _combine(self.larger, replace(self.smaller, counts=-self.smaller.counts))

    def check_neighbours(self) -> None:
        """Refuse logs that are not neighbours: to distinguish them proves nothing.

        Raises:
            SettingError: If the larger log does not have 1 to max_cases cases more.
        """
        added, max_cases = self.added, self.unit.max_cases
        one, more = self.smaller_by_case, self.added_by_case
        if one is None or more is None:
            as_counted = one is more
        else:
            as_counted = one.variants() == self.smaller and more.variants() == added
        if (
            self.smaller.activities != self.larger.activities
            or self.smaller.unit != self.larger.unit
            or added.counts.min(initial=0) < 0
            or not 1 <= added.cases <= max_cases
            or not as_counted
        ):
            must = Statement("must.neighbouring_logs", max_cases=max_cases)
            raise SettingError("pair", self.name, must)


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
    counts, lengths = log.counts, log.lengths
    rarest, most, longest = np.argmin(counts), np.argmax(counts), np.argmax(lengths)

    def change(place: np.intp, cases: int) -> VariantCounts:
        return replace(log, counts=counts + cases * (np.arange(len(log)) == place))

    def removed(name: str, what: str, place: np.intp) -> Pair:
        return Pair(name=name, what=what, smaller=_combine(change(place, -1)), larger=log)

    # After this case every activity has followed and preceded every other: few rules are left.
    twice = 2 * log.activities
    pairs = [
        Pair.adding("rules", "a case that goes through all activities twice", log, twice),
        removed("rare", "a case of the rarest variant", rarest),
        removed("frequent", "a case of the most frequent variant", most),
        removed("long case", f"the longest case, of {lengths[longest]} events", longest),
        Pair.adding("no events", "a case without any event", log, ()),
    ]
    words = [word for word, _ in log]
    reverse = words[most][::-1]
    if reverse not in words:
        what = "a case that reverses the most frequent variant"
        pairs.append(Pair.adding("new variant", what, log, reverse))
    near = np.argmin(abs(counts - threshold))
    below, above = (
        _combine(change(near, n - int(counts[near]))) for n in (threshold - 1, threshold)
    )
    what = f"a case that lifts a count from {threshold - 1} to the threshold {threshold}"
    pairs.append(Pair(name="threshold", what=what, smaller=below, larger=above))
    return tuple(pairs)


def persons_around(log: VariantCounts, max_cases: int) -> Pair:
    """Return a log and the same log with one more person, all cases of the rarest variant."""
    smaller = replace(log, unit=Unit(person="person", max_cases=max_cases))
    rarest = np.arange(len(log)) == np.argmin(log.counts)
    more = replace(smaller.where(rarest), counts=np.array([max_cases]))
    what = f"a person with {max_cases} cases of the rarest variant"
    return Pair(name="person", what=what, smaller=smaller, larger=_combine(smaller, more))


def _combine(log: VariantCounts, *others: VariantCounts) -> VariantCounts:
    """Add up the counts of logs over the same activities; variants without cases are dropped."""
    logs = (log, *others)
    ids, lengths, counts, complete = (
        np.concatenate([getattr(each, part) for each in logs])
        for part in ("activity_ids", "lengths", "counts", "complete")
    )
    return VariantCounts.from_arrays(log.activities, ids, lengths, counts, complete, log.unit)
