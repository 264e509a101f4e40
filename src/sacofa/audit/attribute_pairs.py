"""Neighbouring logs with attributes: each puts one case where a rare value may give it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.domains import Categories
from ..kernel.attributes import Attribute, cells_of
from ..kernel.cases import CaseBatch, Values
from ..kernel.unit import ONE_CASE, Unit
from .pairs import CASES, Pair
from .timed_pairs import BEGIN, NAMES, WAIT

COLOURS = Categories(names=("blue", "green", "red"))
ATTRIBUTES = (
    Attribute(name="colour", of_case=True, domain=COLOURS),
    Attribute(name="who", domain=COLOURS),
)
"""An attribute of cases and one of events; ordinary cases are blue, or green, in both."""
MISSING = cells_of(COLOURS) - 1
EVENTS = 300
"""The length of the case of extreme length."""

Case = tuple[int, Sequence[tuple[str, int]]]
"""The cell of the case, and the activity and cell of each event."""


def attribute_pairs() -> tuple[Pair, ...]:
    """The worst cases that need no log, for mechanisms that release attributes."""
    rare = (2, [("a", 2), ("b", 2)])
    crossed = (0, [("a", 1), ("b", 1)])
    many = (2, [(NAMES[i % 2], i % 4) for i in range(EVENTS)])
    none = (MISSING, [("a", MISSING), ("b", MISSING)])
    return (
        _pair("rare value", "a case with values that no other has", rare),
        _pair("rare pair", "a case with two values that no other has together", crossed),
        _pair("many values", f"a case with {EVENTS} events of all values", many),
        _pair("no values", "a case whose values are missing", none),
    )


def attribute_persons_pair(max_cases: int) -> Pair:
    """One person with as many cases as a person may have, with values that no other has."""
    unit = Unit(person="person", max_cases=max_cases)
    what = f"a person with {max_cases} cases with values that no other has"
    cases = [(2, [("a", 2), ("b", 2)])] * max_cases
    return _pair("person with values", what, *cases, unit=unit)


def _pair(name: str, what: str, *added: Case, unit: Unit = ONE_CASE) -> Pair:
    plain: list[Case] = [(i % 2, [("a", i % 2), ("b", i % 2)]) for i in range(CASES)]
    pair = Pair.timed(name=name, what=what, smaller=_cases(plain, unit), added=_cases(added, unit))
    return replace(pair, attributes=ATTRIBUTES, together=((0, 1),))


def _cases(cases: Sequence[Case], unit: Unit) -> CaseBatch:
    events = [event for _, case in cases for event in case]
    lengths = [len(case) for _, case in cases]
    place = np.arange(len(events)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    own, other = ATTRIBUTES
    return CaseBatch(
        activities=NAMES,
        activity_ids=np.array([NAMES.index(name) for name, _ in events], dtype=np.int32),
        offsets=np.cumsum([0, *lengths], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=BEGIN + WAIT * place.astype(np.int64),
        attributes=(
            Values(name=own.key, of_case=True, cells=_ints([cell for cell, _ in cases])),
            Values(name=other.key, of_case=False, cells=_ints([cell for _, cell in events])),
        ),
        unit=unit,
    )


def _ints(values: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(values, dtype=np.int32)
