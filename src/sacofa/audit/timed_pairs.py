"""Neighbouring logs with times: each puts one case where times are most likely to give it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..kernel.cases import NO_TIME, CaseBatch
from ..kernel.queries.durations import DAY, HOUR, YEAR
from ..kernel.unit import ONE_CASE, Unit
from .pairs import CASES, Pair

NAMES = ("a", "b")
BEGIN = 18_262 * DAY
"""The ordinary cases begin on 1 January 2020, an hour after one another."""
WAIT = HOUR
"""And wait so long between their two events."""
LONG_WAIT = 11 * YEAR
EARLIER = BEGIN - 31 * DAY
"""A month in which no ordinary case begins."""
YEAR_1, YEAR_9999 = -719_162 * DAY, 2_932_896 * DAY
EVENTS = 3_000
"""The length of the case of extreme length."""

Event = tuple[str, int]
"""An activity, and when it happened."""


def timed_pairs() -> tuple[Pair, ...]:
    """The worst cases that need no log, for mechanisms that ask for times."""
    long_wait = [("a", EARLIER), ("b", EARLIER + LONG_WAIT)]
    many = [(NAMES[i % 2], BEGIN + i * DAY) for i in range(EVENTS)]
    return (
        _pair("long wait", "a case that waits 11 years", long_wait),
        _pair("year 1", "a case of the year 1", [("a", YEAR_1), ("b", YEAR_1 + WAIT)]),
        _pair("year 9999", "a case of the year 9999", [("a", YEAR_9999), ("b", YEAR_9999 + WAIT)]),
        _pair("many times", f"a case with {EVENTS:,} events, a day apart", many),
        _pair("no times", "a case whose times are missing", [("a", NO_TIME), ("b", NO_TIME)]),
        _long_work(),
    )


def timed_persons_pair(max_cases: int) -> Pair:
    """One person with as many cases as a person may have, each of which waits 11 years."""
    case = [("a", EARLIER), ("b", EARLIER + LONG_WAIT)]
    unit = Unit(person="person", max_cases=max_cases)
    what = f"a person with {max_cases} cases that wait 11 years"
    return _pair("person with times", what, *[case] * max_cases, unit=unit)


def _long_work() -> Pair:
    """A case on which work takes 11 years, where the log says when work began."""
    plain = [[("a", time), ("b", time + WAIT)] for time in _begins()]
    long_work = [[("a", BEGIN), ("b", BEGIN + LONG_WAIT)]]
    return Pair.timed(
        name="long work",
        what="a case on which work takes 11 years",
        smaller=_with_starts(_cases(plain, ONE_CASE), WAIT // 2),
        added=_with_starts(_cases(long_work, ONE_CASE), LONG_WAIT),
    )


def _with_starts(cases: CaseBatch, took: int) -> CaseBatch:
    """The same cases, where the work on each event took so long."""
    assert cases.times is not None
    return replace(cases, starts=cases.times - took)


def _begins() -> list[int]:
    return [BEGIN + case * HOUR for case in range(CASES)]


def _pair(name: str, what: str, *added: Sequence[Event], unit: Unit = ONE_CASE) -> Pair:
    plain = [[("a", time), ("b", time + WAIT)] for time in _begins()]
    return Pair.timed(name=name, what=what, smaller=_cases(plain, unit), added=_cases(added, unit))


def _cases(cases: Sequence[Sequence[Event]], unit: Unit) -> CaseBatch:
    events = [event for case in cases for event in case]
    return CaseBatch(
        activities=NAMES,
        activity_ids=np.array([NAMES.index(name) for name, _ in events], dtype=np.int32),
        offsets=np.cumsum([0, *map(len, cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=np.array([time for _, time in events], dtype=np.int64),
        unit=unit,
    )
