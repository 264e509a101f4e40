"""A check that a way to read logs keeps neighbours neighbours.

Noise hides one unit of privacy only if that unit changes the counted variants by at most max_cases
in all. Everything before the noise has to keep to this, including every reader. Use this check for
a reader of your own: a database, an export, a query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal

from ..errors import SacofaError
from ..events.notices import is_blank
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row of a log.

    Attributes:
        case: The case.
        activity: The activity. None without a time: the row declares an empty case.
        time: The time, as 2020-01-31T12:00:00 or a number. None or other text: unknown.
        person: The person of the case, by this row.
    """

    case: str
    activity: str | None
    time: str | None = None
    person: str | None = None


Ties = Literal["file", "time", "name"]
"""Order of the events of a case: that of the rows; by time, then that of the rows; by time, then
by activity."""

EventLog = Sequence[Event]
"""Rows in the order of a file."""

Read = Callable[[EventLog], VariantCounts]
"""A way to read logs: stores the rows in any form, and counts the variants."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Two neighbouring logs whose counts differ by too much.

    Attributes:
        log: A log.
        neighbour: The same log without one unit.
        distance: Difference of the counted variants, in sum.
        allowed: Largest difference that is allowed: max_cases of the unit.
    """

    log: EventLog = field(repr=False)
    neighbour: EventLog = field(repr=False)
    distance: int
    allowed: int

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
    """Check a way to read logs: remove units from each log, and compare the counts.

    Args:
        read: Receives rows, and counts the variants of a log that has them, bounded to `unit`.
        logs: Logs to try.
        unit: The unit of privacy.
        order: Order of the events of a case in this way to read, which decides the person of a
            case.
        most: Number of units that are removed, one at a time; all if omitted.

    Returns:
        The violations. Pairs of which one log is refused are skipped: nothing is released of it.

    Example:
        def read(rows):
            fill_my_table(rows)
            return count_variants(open_log(address, query=query, person="p", max_cases=2))

        unit = Unit(person="p", max_cases=2)
        assert not list(check_neighbours(read, logs, unit=unit, order="name"))
    """
    for log in logs:
        units = units_of(log, unit, order)
        if most:
            # Spread over the whole log.
            units = units[:: max(len(units) // most, 1)][:most]
        try:
            whole = read(log)
        except SacofaError:
            continue
        for cases in units:
            rest = [event for event in log if event.case not in cases]
            try:
                distance = distance_of(whole, read(rest))
            except SacofaError:
                continue
            if distance > unit.max_cases:
                yield Violation(log=log, neighbour=rest, distance=distance, allowed=unit.max_cases)


def units_of(log: EventLog, unit: Unit, order: Ties = "file") -> list[set[str]]:
    """Return the cases of each unit of a log: one case, or all cases of a person."""
    cases: dict[str, list[Event]] = {}
    for event in log:
        cases.setdefault(event.case, []).append(event)
    owners: dict[str, set[str]] = {}
    alone = []
    for case, events in cases.items():
        person = None if unit.person is None else _person_of(events, order)
        if person is None:
            alone.append({case})
        else:
            owners.setdefault(person, set()).add(case)
    return [*owners.values(), *alone]


def _person_of(case: EventLog, order: Ties) -> str | None:
    """Return the person of a case: the first that is not blank, in the order of its events."""

    def place(event: Event) -> tuple[object, ...]:
        if order == "file":
            return ()
        names = event.activity is None, event.activity or "", event.person or ""
        return (_time(event),) if order == "time" else (_time(event), *names)

    events = sorted(case, key=place)
    return next((event.person for event in events if not is_blank(event.person)), None)


def _time(event: Event) -> tuple[int, object]:
    """Times come first, then numbers, then text that is neither."""
    text = event.time or ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        try:
            return 1, Decimal(text)
        except InvalidOperation:
            return 2, 0
    return 0, time if time.tzinfo else time.replace(tzinfo=UTC)


def distance_of(one: VariantCounts, other: VariantCounts) -> int:
    """Return the difference of two counts by the names of activities, in sum over all variants."""
    difference: Counter[tuple[tuple[str, ...], bool]] = Counter()
    for variants, sign in ((one, 1), (other, -1)):
        for (names, count), complete in zip(variants, variants.complete.tolist(), strict=True):
            difference[names, complete] += sign * count
    return sum(map(abs, difference.values()))
