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

Events = Sequence[tuple[str, int]]
"""Activity and time, or cell, of each event."""
CaseWithAttributes = tuple[int, Events]
"""The cell of the case, and its events."""


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
    unit = _persons(max_cases)
    plain = VariantCounts.of({("a",): CASES}, ["a", "b"], unit=unit)
    return Pair.adding("person", f"a person with {max_cases} cases", plain, ("b",), max_cases)


def timed_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release times."""
    many = [(NAMES[i % 2], BEGIN + i * DAY) for i in range(LONG_TIMED_CASE)]
    nothing = [("a", NO_TIME), ("b", NO_TIME)]
    worked = _timed_pair(
        "long work", "a case on which work takes 11 years", _waiting(BEGIN, LONG_WAIT)
    )
    return (
        _timed_pair("long wait", "a case that waits 11 years", _waiting(EARLIER, LONG_WAIT)),
        _timed_pair("year 1", "a case of the year 1", _waiting(YEAR_1, WAIT)),
        _timed_pair("year 9999", "a case of the year 9999", _waiting(YEAR_9999, WAIT)),
        _timed_pair("many times", f"a case with {LONG_TIMED_CASE:,} events, a day apart", many),
        _timed_pair("no times", "a case whose times are missing", nothing),
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
    cases = [_waiting(EARLIER, LONG_WAIT)] * max_cases
    return _timed_pair("person with times", what, *cases, unit=_persons(max_cases))


def attribute_pairs() -> tuple[Pair, ...]:
    """Return the worst cases for mechanisms that release attributes."""
    many = [(NAMES[i % 2], i % 4) for i in range(LONG_CASE_WITH_ATTRIBUTES)]
    many_values = f"a case with {LONG_CASE_WITH_ATTRIBUTES} events of all values"
    crossed = "a case with two values that no other has together"
    return (
        _attribute_pair("rare value", "a case with values that no other has", _valued(2, 2)),
        _attribute_pair("rare pair", crossed, _valued(0, 1)),
        _attribute_pair("many values", many_values, (2, many)),
        _attribute_pair("no values", "a case whose values are missing", _valued(MISSING, MISSING)),
    )


def attribute_persons_pair(max_cases: int) -> Pair:
    """Return a pair that differs by a person whose cases have values that no other has."""
    what = f"a person with {max_cases} cases with values that no other has"
    cases = [_valued(2, 2)] * max_cases
    return _attribute_pair("person with values", what, *cases, unit=_persons(max_cases))


def _persons(max_cases: int) -> Unit:
    return Unit(person="person", max_cases=max_cases)


def _waiting(begin: int, wait: int) -> Events:
    return [("a", begin), ("b", begin + wait)]


def _valued(own: int, each: int) -> CaseWithAttributes:
    return own, [("a", each), ("b", each)]


def _timed_pair(name: str, what: str, *added: Events, unit: Unit = ONE_CASE) -> Pair:
    ordinary = [_waiting(BEGIN + case * HOUR, WAIT) for case in range(CASES)]
    smaller, more = (
        _batch(cases, [time for case in cases for _, time in case], unit)
        for cases in (ordinary, added)
    )
    return Pair.timed(name=name, what=what, smaller=smaller, added=more)


def _with_starts(cases: CaseBatch | None, duration: int) -> CaseBatch:
    """The same cases, where the work on each event has a duration."""
    assert cases is not None and cases.times is not None
    return replace(cases, starts=cases.times - duration)


def _attribute_pair(
    name: str, what: str, *added: CaseWithAttributes, unit: Unit = ONE_CASE
) -> Pair:
    ordinary = [_valued(i % 2, i % 2) for i in range(CASES)]
    smaller, more = (_cases_with_attributes(cases, unit) for cases in (ordinary, added))
    pair = Pair.timed(name=name, what=what, smaller=smaller, added=more)
    return replace(pair, attributes=ATTRIBUTES, together=((0, 1),))


def _cases_with_attributes(cases: Sequence[CaseWithAttributes], unit: Unit) -> CaseBatch:
    events = [case for _, case in cases]
    times = [BEGIN + WAIT * place for case in events for place in range(len(case))]
    own, other = ATTRIBUTES
    of_cases = np.array([cell for cell, _ in cases], dtype=np.int32)
    of_events = np.array([cell for case in events for _, cell in case], dtype=np.int32)
    return replace(
        _batch(events, times, unit),
        attributes=(
            Values(name=own.key, of_case=True, cells=of_cases),
            Values(name=other.key, of_case=False, cells=of_events),
        ),
    )


def _batch(cases: Sequence[Events], times: Sequence[int], unit: Unit) -> CaseBatch:
    return CaseBatch(
        activities=NAMES,
        activity_ids=np.array([NAMES.index(name) for case in cases for name, _ in case], np.int32),
        offsets=np.cumsum([0, *map(len, cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=np.array(times, dtype=np.int64),
        unit=unit,
    )
