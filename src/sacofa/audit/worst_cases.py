"""Neighbouring logs that need no log: each adds one case that is likely to be revealed.

The case is extreme in its control flow, its times or its attributes, and the log around it is small
and regular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.cells import cells_of
from ..base.domains import Categories
from ..kernel.attributes import Attribute
from ..kernel.cases import NO_TIME, CaseBatch, Values
from ..kernel.queries.durations import DAY, HOUR, YEAR
from ..kernel.unit import ONE_CASE, Unit
from ..kernel.variants import VariantCounts
from .pairs import Pair

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

TimedCase = Sequence[tuple[str, int]]
"""Activity and time of each event."""
CaseWithAttributes = tuple[int, Sequence[tuple[str, int]]]
"""The cell of the case, and the activity and cell of each event."""


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
    return (
        Pair.adding("rules", "a case that changes the rules", only, ("a", *several)),
        Pair.adding("new variant", "a case that lifts a count from 0 to 1", plain, b),
        Pair.adding("threshold", lifts, VariantCounts.of(below, ["a", "b"]), b),
        Pair.adding("long case", f"a case with {LONG_CASE} events", plain, b * LONG_CASE),
        Pair.adding(
            "long among many",
            f"a case with {LONG_CASE} events, among many cases",
            long_among,
            b * LONG_CASE,
        ),
        Pair.adding("no events", "a case without events, among many such", many, ()),
    )


def persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person with as many cases as allowed, all alike."""
    unit = _persons(max_cases)
    plain = VariantCounts.of({("a",): CASES}, ["a", "b"], unit=unit)
    return Pair.adding("person", f"a person with {max_cases} cases", plain, ("b",), max_cases)


def timed_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release times."""
    many = [(NAMES[i % 2], BEGIN + i * DAY) for i in range(LONG_TIMED_CASE)]
    return (
        _timed_pair("long wait", "a case that waits 11 years", _waiting(EARLIER, LONG_WAIT)),
        _timed_pair("year 1", "a case of the year 1", _waiting(YEAR_1, WAIT)),
        _timed_pair("year 9999", "a case of the year 9999", _waiting(YEAR_9999, WAIT)),
        _timed_pair("many times", f"a case with {LONG_TIMED_CASE:,} events, a day apart", many),
        _timed_pair("no times", "a case whose times are missing", [("a", NO_TIME), ("b", NO_TIME)]),
        _long_work(),
    )


def timed_persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person, all of whose cases wait 11 years."""
    what = f"a person with {max_cases} cases that wait 11 years"
    cases = [_waiting(EARLIER, LONG_WAIT)] * max_cases
    return _timed_pair("person with times", what, *cases, unit=_persons(max_cases))


def attribute_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release attributes."""
    rare = (2, [("a", 2), ("b", 2)])
    crossed = (0, [("a", 1), ("b", 1)])
    many = (2, [(NAMES[i % 2], i % 4) for i in range(LONG_CASE_WITH_ATTRIBUTES)])
    none = (MISSING, [("a", MISSING), ("b", MISSING)])
    many_values = f"a case with {LONG_CASE_WITH_ATTRIBUTES} events of all values"
    return (
        _attribute_pair("rare value", "a case with values that no other has", rare),
        _attribute_pair("rare pair", "a case with two values that no other has together", crossed),
        _attribute_pair("many values", many_values, many),
        _attribute_pair("no values", "a case whose values are missing", none),
    )


def attribute_persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person whose cases have values that no other has."""
    what = f"a person with {max_cases} cases with values that no other has"
    cases = [(2, [("a", 2), ("b", 2)])] * max_cases
    return _attribute_pair("person with values", what, *cases, unit=_persons(max_cases))


def _persons(max_cases: int) -> Unit:
    return Unit(person="person", max_cases=max_cases)


def _waiting(begin: int, wait: int) -> TimedCase:
    return [("a", begin), ("b", begin + wait)]


def _ordinary() -> list[TimedCase]:
    return [_waiting(BEGIN + case * HOUR, WAIT) for case in range(CASES)]


def _timed_pair(name: str, what: str, *added: TimedCase, unit: Unit = ONE_CASE) -> Pair:
    smaller, more = _timed_cases(_ordinary(), unit), _timed_cases(added, unit)
    return Pair.timed(name=name, what=what, smaller=smaller, added=more)


def _long_work() -> Pair:
    """A case on which work takes 11 years, in a log with the times at which work began."""
    plain, long_work = (
        _timed_cases(cases, ONE_CASE) for cases in (_ordinary(), [_waiting(BEGIN, LONG_WAIT)])
    )
    return Pair.timed(
        name="long work",
        what="a case on which work takes 11 years",
        smaller=_with_starts(plain, WAIT // 2),
        added=_with_starts(long_work, LONG_WAIT),
    )


def _with_starts(cases: CaseBatch, duration: int) -> CaseBatch:
    """The same cases, where the work on each event has a duration."""
    assert cases.times is not None
    return replace(cases, starts=cases.times - duration)


def _timed_cases(cases: Sequence[TimedCase], unit: Unit) -> CaseBatch:
    times = np.array([time for case in cases for _, time in case], dtype=np.int64)
    return _batch([[name for name, _ in case] for case in cases], times, unit)


def _attribute_pair(
    name: str, what: str, *added: CaseWithAttributes, unit: Unit = ONE_CASE
) -> Pair:
    plain: list[CaseWithAttributes] = [(i % 2, [("a", i % 2), ("b", i % 2)]) for i in range(CASES)]
    smaller, more = _cases_with_attributes(plain, unit), _cases_with_attributes(added, unit)
    pair = Pair.timed(name=name, what=what, smaller=smaller, added=more)
    return replace(pair, attributes=ATTRIBUTES, together=((0, 1),))


def _cases_with_attributes(cases: Sequence[CaseWithAttributes], unit: Unit) -> CaseBatch:
    times = np.concatenate([BEGIN + WAIT * np.arange(len(case)) for _, case in cases])
    batch = _batch([[name for name, _ in case] for _, case in cases], times, unit)
    own, other = ATTRIBUTES
    of_cases = np.array([cell for cell, _ in cases], dtype=np.int32)
    of_events = np.array([cell for _, case in cases for _, cell in case], dtype=np.int32)
    return replace(
        batch,
        attributes=(
            Values(name=own.key, of_case=True, cells=of_cases),
            Values(name=other.key, of_case=False, cells=of_events),
        ),
    )


def _batch(
    cases: Sequence[Sequence[str]], times: np.ndarray[tuple[int], np.dtype[np.int64]], unit: Unit
) -> CaseBatch:
    return CaseBatch(
        activities=NAMES,
        activity_ids=np.array([NAMES.index(name) for case in cases for name in case], np.int32),
        offsets=np.cumsum([0, *map(len, cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=times,
        unit=unit,
    )
