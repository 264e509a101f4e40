"""Pairs of neighbouring logs, which an attacker tries to distinguish.

Pairs around a log add or remove one of its cases. Built-in pairs need no log: each adds one case
that is likely to be revealed, because it is extreme in its control flow, its times or its
attributes, and the log around it is small and regular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.batches import concatenate
from ..base.cells import cells_of
from ..base.domains import Categories
from ..errors import SettingError, Statement
from ..kernel.attributes import Attribute
from ..kernel.cases import NO_TIME, CaseBatch, Cases, Values
from ..kernel.queries.durations import DAY, HOUR, YEAR
from ..kernel.unit import ONE_CASE, Unit
from ..kernel.variants import VariantCounts

CASES = 10
"""Number of ordinary cases around the added one."""
MANY_CASES = 2_000
"""Number of cases around it if a mechanism must see a large log."""
CASES_PER_THRESHOLD = 100
"""Size of such a log relative to the threshold: a mechanism may release nothing of smaller ones."""
FOLLOWERS = 12
"""Number of pairs that the case that changes the rules makes harmless at once."""
LONG_CASE = 200
"""Length of a case of extreme length."""
LONG_TIMED_CASE = 3_000
LONG_CASE_WITH_ATTRIBUTES = 300

NAMES = ("a", "b")
BEGIN = 18_262 * DAY
"""1 January 2020: the ordinary cases begin here, one hour after another."""
WAIT = HOUR
"""Time between their two events."""
LONG_WAIT = 11 * YEAR
EARLIER = BEGIN - 31 * DAY
"""A month in which no ordinary case begins."""
YEAR_1, YEAR_9999 = -719_162 * DAY, 2_932_896 * DAY

COLOURS = Categories(names=("blue", "green", "red"))
ATTRIBUTES = (
    Attribute(name="colour", of_case=True, domain=COLOURS),
    Attribute(name="who", domain=COLOURS),
)
"""An attribute of cases and one of events; ordinary cases are blue, or green, in both."""
MISSING = cells_of(COLOURS) - 1

Case = tuple[int, Sequence[tuple[str, int, int]]]
"""The cell of a case, and activity, time and cell of each of its events."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two logs that differ by one unit of privacy: one case, or the cases of one person.

    Attributes:
        name: A short name.
        what: The difference between the two, in words.
        smaller: One log.
        larger: The same log with the cases of one more unit.
        smaller_by_case: Individual cases of the smaller log; None for a pair without times.
        added_by_case: Individual cases that only the larger log has.
        attributes: Attributes that these cases have.
        together: Declared pairs of attributes.
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
        return self._as_cases(self.smaller, [self.smaller_by_case])

    @cached_property
    def larger_cases(self) -> Cases:
        """The other log, as a session reads it."""
        return self._as_cases(self.larger, [self.smaller_by_case, self.added_by_case])

    def _as_cases(self, variants: VariantCounts, parts: Sequence[CaseBatch | None]) -> Cases:
        known = [part for part in parts if part is not None]
        by_case = concatenate(known) if len(known) == len(parts) else None
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


def built_in_pairs(threshold: int) -> tuple[Pair, ...]:
    """Return the worst cases of control flow.

    Args:
        threshold: Count from which the mechanism releases a variant.

    Returns:
        A pair for each of them.
    """
    several = [f"b{i}" for i in range(1, FOLLOWERS + 1)]
    a, b = ("a",), ("b",)
    plain = VariantCounts.of({a: CASES}, ["a", "b"])
    # No case continues after its first activity, until one has them all.
    only = VariantCounts.of({a: CASES, **{(name,): 1 for name in several}}, ["a", *several])
    # In so large a log nearly every query sees both variants, and the case adds to each.
    many = VariantCounts.of({(): MANY_CASES, a: MANY_CASES}, ["a"])
    # Large enough for a mechanism that asks for the size of the log first.
    below = {a: CASES_PER_THRESHOLD * threshold, b: max(threshold - 1, 0)}
    # A mechanism need not ask for the lengths of few cases.
    long_among = VariantCounts.of({a: MANY_CASES}, ["a", "b"])
    lifts = f"a case that lifts a count from {threshold - 1} to the threshold {threshold}"
    long = f"a case with {LONG_CASE} events"
    return (
        Pair.adding("rules", "a case that changes the rules", only, ("a", *several)),
        Pair.adding("new variant", "a case that lifts a count from 0 to 1", plain, b),
        Pair.adding("threshold", lifts, VariantCounts.of(below, ["a", "b"]), b),
        Pair.adding("long case", long, plain, b * LONG_CASE),
        Pair.adding("long among many", f"{long}, among many cases", long_among, b * LONG_CASE),
        Pair.adding("no events", "a case without events, among many such", many, ()),
    )


def persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person with as many cases as allowed, all alike."""
    unit = Unit(person="person", max_cases=max_cases)
    plain = VariantCounts.of({("a",): CASES}, ["a", "b"], unit=unit)
    return Pair.adding("person", f"a person with {max_cases} cases", plain, ("b",), max_cases)


def timed_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release times."""
    many = 0, [(NAMES[i % 2], BEGIN + i * DAY, 0) for i in range(LONG_TIMED_CASE)]
    nothing = 0, [("a", NO_TIME, 0), ("b", NO_TIME, 0)]
    worked = _timed("long work", "a case on which work takes 11 years", _waiting(BEGIN, LONG_WAIT))
    return (
        _timed("long wait", "a case that waits 11 years", _waiting(EARLIER, LONG_WAIT)),
        _timed("year 1", "a case of the year 1", _waiting(YEAR_1, WAIT)),
        _timed("year 9999", "a case of the year 9999", _waiting(YEAR_9999, WAIT)),
        _timed("many times", f"a case with {LONG_TIMED_CASE:,} events, a day apart", many),
        _timed("no times", "a case whose times are missing", nothing),
        # In a log with the times at which work began.
        replace(
            worked,
            smaller_by_case=_with_starts(worked.smaller_by_case, WAIT // 2),
            added_by_case=_with_starts(worked.added_by_case, LONG_WAIT),
        ),
    )


def timed_persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person, all of whose cases wait 11 years."""
    what = f"a person with {max_cases} cases that wait 11 years"
    unit = Unit(person="person", max_cases=max_cases)
    return _timed("person with times", what, *[_waiting(EARLIER, LONG_WAIT)] * max_cases, unit=unit)


def attribute_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release attributes."""
    length = LONG_CASE_WITH_ATTRIBUTES
    many = 2, [(NAMES[i % 2], BEGIN + i * WAIT, i % 4) for i in range(length)]
    crossed = "a case with two values that no other has together"
    return (
        _valued("rare value", "a case with values that no other has", _with_values(2, 2)),
        _valued("rare pair", crossed, _with_values(0, 1)),
        _valued("many values", f"a case with {length} events of all values", many),
        _valued("no values", "a case whose values are missing", _with_values(MISSING, MISSING)),
    )


def attribute_persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person whose cases have values that no other has."""
    what = f"a person with {max_cases} cases with values that no other has"
    unit = Unit(person="person", max_cases=max_cases)
    return _valued("person with values", what, *[_with_values(2, 2)] * max_cases, unit=unit)


def _waiting(begin: int, wait: int) -> Case:
    return 0, [("a", begin, 0), ("b", begin + wait, 0)]


def _with_values(own: int, each: int) -> Case:
    return own, [("a", BEGIN, each), ("b", BEGIN + WAIT, each)]


def _with_starts(cases: CaseBatch | None, duration: int) -> CaseBatch:
    """The same cases, where the work on each event has a duration."""
    assert cases is not None and cases.times is not None
    return replace(cases, starts=cases.times - duration)


def _timed(name: str, what: str, *added: Case, unit: Unit = ONE_CASE) -> Pair:
    ordinary = [_waiting(BEGIN + case * HOUR, WAIT) for case in range(CASES)]
    smaller, more = (_batch(cases, unit) for cases in (ordinary, added))
    return Pair.timed(name=name, what=what, smaller=smaller, added=more)


def _valued(name: str, what: str, *added: Case, unit: Unit = ONE_CASE) -> Pair:
    ordinary = [_with_values(i % 2, i % 2) for i in range(CASES)]
    smaller, more = (_batch(cases, unit, ATTRIBUTES) for cases in (ordinary, added))
    pair = Pair.timed(name=name, what=what, smaller=smaller, added=more)
    return replace(pair, attributes=ATTRIBUTES, together=((0, 1),))


def _batch(cases: Sequence[Case], unit: Unit, attributes: Sequence[Attribute] = ()) -> CaseBatch:
    events = [event for _, case in cases for event in case]
    cells = [own for own, _ in cases], [cell for *_, cell in events]
    return CaseBatch(
        activities=NAMES,
        activity_ids=np.array([NAMES.index(name) for name, *_ in events], np.int32),
        offsets=np.cumsum([0, *(len(case) for _, case in cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=np.array([time for _, time, _ in events], dtype=np.int64),
        attributes=tuple(
            Values(name=one.key, of_case=one.of_case, cells=np.array(values, dtype=np.int32))
            for one, values in zip(attributes, cells, strict=False)
        ),
        unit=unit,
    )


def _combine(log: VariantCounts, *others: VariantCounts) -> VariantCounts:
    """Add up the counts of logs over the same activities; variants without cases are dropped."""
    logs = (log, *others)
    ids, lengths, counts, complete = (
        np.concatenate([getattr(each, part) for each in logs])
        for part in ("activity_ids", "lengths", "counts", "complete")
    )
    return VariantCounts.from_arrays(log.activities, ids, lengths, counts, complete, log.unit)
