"""Neighbours stay neighbours: a check of any way to read logs.

Noise hides one unit only if a unit that comes or goes changes what is counted by no more than the
unit says: by max_cases, added up over all variants. Everything before the noise has to keep to
that, so every reader does. Whoever reads logs in another way (a database of their own, an export,
a query) can try it here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from ..errors import SacofaError
from ..events.notices import is_blank
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row of a log that is tried."""

    case: str
    """Whose event it is: the case."""
    activity: str | None
    """What happened; None (and no time): the row says no more than that there is such a case."""
    time: str | None = None
    """When it happened, as 2020-01-31T12:00:00 or a number; None or other text: nobody knows."""
    person: str | None = None
    """The person of the case, as this row says it."""


Ties = Literal["file", "time", "name"]
"""Events as rows stand, by time with ties as rows stand, or by time with ties by activity."""

EventLog = Sequence[Event]
"""Rows in the order in which a file would have them."""

Read = Callable[[EventLog], VariantCounts]
"""A way to read logs: stores the rows as it likes, and counts the variants."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Two neighbouring logs of which a reader makes counts that are too far apart."""

    log: EventLog = field(repr=False)
    """A log."""
    neighbour: EventLog = field(repr=False)
    """The same log without one unit."""
    distance: int
    """How far the counted variants are apart, added up over all variants."""
    allowed: int
    """How far they may be: max_cases of the unit."""

    def __str__(self) -> str:
        gone = sorted({event.case for event in self.log} - {e.case for e in self.neighbour})
        return (
            f"without {', '.join(gone)} the counts of {len(self.log)} events change by "
            f"{self.distance}, and may change by {self.allowed}: {list(self.log)}"
        )


def check_neighbours(
    read: Read,
    logs: Iterable[EventLog],
    *,
    unit: Unit,
    order: Ties = "file",
    most: int | None = None,
) -> Iterator[Violation]:
    """Try a way to read logs: units of each log are taken out, and both logs are counted.

    `read` is given rows and counts the variants of a log that holds them, bounded to `unit`. With
    `order` it is said how it orders the events of a case, because that decides which person comes
    first. All units are taken out, one at a time, or `most` of them. Pairs of which one log is
    refused are passed over: a refusal is no release.

        def read(rows):
            fill_my_table(rows)
            return count_variants(open_log(address, query=query, person="p", max_cases=2))

        unit = Unit(person="p", max_cases=2)
        assert not list(check_neighbours(read, logs, unit=unit, order="name"))
    """
    for log in logs:
        whole = _read(read, log)
        units = units_of(log, unit, order)
        if most:
            # Spread over the whole log.
            units = units[:: max(len(units) // most, 1)][:most]
        for cases in units:
            rest = [event for event in log if event.case not in cases]
            if whole is None or (counted := _read(read, rest)) is None:
                continue
            distance = distance_of(whole, counted)
            if distance > unit.max_cases:
                yield Violation(log=log, neighbour=rest, distance=distance, allowed=unit.max_cases)


def units_of(log: EventLog, unit: Unit, order: Ties = "file") -> list[set[str]]:
    """Give the cases of each unit of a log: one case, or all cases of a person."""
    cases: dict[str, list[Event]] = {}
    for event in log:
        cases.setdefault(event.case, []).append(event)
    if unit.person is None:
        return [{case} for case in cases]
    owners: dict[str, set[str]] = {}
    alone = []
    for case, events in cases.items():
        person = person_of(events, order)
        if person is None:
            alone.append({case})
        else:
            owners.setdefault(person, set()).add(case)
    return [*owners.values(), *alone]


def person_of(case: EventLog, order: Ties = "file") -> str | None:
    """Whose a case is: the first person that is not blank, in the order of its events."""
    keys: dict[Ties, Callable[[Event], Any]] = {
        "file": lambda event: 0,
        "time": _time,
        "name": lambda event: (_time(event), *_name(event), event.person or ""),
    }
    events = sorted(case, key=keys[order])
    return next((event.person for event in events if not is_blank(event.person)), None)


def _time(event: Event) -> tuple[int, object]:
    """Times come first, then numbers, and last what cannot be read."""
    text = event.time or ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        try:
            return 1, Decimal(text)
        except InvalidOperation:
            return 2, 0
    return 0, time if time.tzinfo else time.replace(tzinfo=UTC)


def _name(event: Event) -> tuple[bool, str]:
    return event.activity is None, event.activity or ""


def distance_of(one: VariantCounts, other: VariantCounts) -> int:
    """How far counts are apart, by the names of activities, added up over all variants."""
    difference = _by_name(one)
    difference.subtract(_by_name(other))
    return sum(map(abs, difference.values()))


def _by_name(variants: VariantCounts) -> Counter[tuple[tuple[str, ...], bool]]:
    counts: Counter[tuple[tuple[str, ...], bool]] = Counter()
    for (names, count), complete in zip(variants, variants.complete.tolist(), strict=True):
        counts[names, complete] += count
    return counts


def _read(read: Read, log: EventLog) -> VariantCounts | None:
    try:
        return read(log)
    except SacofaError:
        return None
