"""Days, in public bins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from ...kernel.attributes import Domain, Kind
from ...kernel.errors import SettingError
from ...kernel.statements import Statement
from ..cells import BLANK
from .kinds import AttributeKind, Bins, Entries, check_size

DOTTED_DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$|[ T])")
"""31.01.2024, with or without a time of day: with dots, the day always comes first."""


def read_day(text: str) -> date | None:
    """Read a day in ISO 8601 or as 31.01.2024, in UTC where a zone is given.

    Each text is read by itself, so that no other value of a column changes what it means.

    Args:
        text: The value.

    Returns:
        The day, or None if the text is not a date in one of these forms.
    """
    word = text.strip(BLANK)
    try:
        if dotted := DOTTED_DAY.match(word):
            day, month, year = map(int, dotted.groups())
            return date(year, month, day)
        moment = datetime.fromisoformat(word)
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).date()
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, kw_only=True)
class Dates(Bins):
    """Days, in public bins."""

    edges: tuple[date, ...]
    """The first days of the bins, and the last day of all; it belongs to the last bin."""
    kind: Kind = "date"

    @classmethod
    def between(cls, first: date, last: date, by: str) -> Dates:
        """The days, months or years from first to last."""
        if by not in ("day", "month", "year"):
            raise SettingError("by", by, Statement("must.one_of", choices=("day", "month", "year")))
        if first > last:
            must = Statement("must.domain.no_later", last=str(last))
            raise SettingError("first", first, must)
        begins = [first]
        while (day := _next(begins[-1], by)) is not None and day <= last:
            check_size(len(begins))
            begins.append(day)
        return cls(edges=(*begins, last))

    def cell(self, text: str) -> int:
        """The bin of a date; text that is not a date, or lies outside the bins, is `other`."""
        found = read_day(text)
        return self.values if found is None else self.bin_of(found, self.edges)

    def label(self, value: int) -> str:
        """The first day."""
        return self.edges[value].isoformat()

    def describe(self) -> Statement:
        """From when to when."""
        first, last = str(self.edges[0]), str(self.edges[-1])
        return Statement("domain.bins", bins=self.values, first=first, last=last)

    def sample(self, value: int, uniform: float) -> str:
        """A day of a bin."""
        low, high = self.edges[value], self.edges[value + 1]
        many = (high - low).days + (value == self.values - 1)
        return (low + timedelta(days=min(int(uniform * many), many - 1))).isoformat()


def _next(day: date, by: str) -> date | None:
    """When the day, month or year after that of a day begins; None where the calendar ends."""
    try:
        if by == "day":
            return day + timedelta(days=1)
        if by == "month":
            return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        return date(day.year + 1, 1, 1)
    except (OverflowError, ValueError):
        return None


ALL_DATES = Dates.between(date(1970, 1, 1), date(2069, 12, 31), "year")
"""For dates of which nobody said from when to when."""


def _declare(entries: Entries) -> Domain:
    if not {"first", "last", "by"} & set(entries):
        return ALL_DATES
    first, last = (_day(key, entries.get(key)) for key in ("first", "last"))
    return Dates.between(first, last, str(entries.get("by", "month")))


def _day(name: str, value: object) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise SettingError(name, value, Statement("must.domain.date")) from None


def _are_days(texts: Sequence[str]) -> bool:
    return all(read_day(text) is not None for text in texts)


DATE = AttributeKind(
    name="date",
    domain=Dates,
    types=("date",),
    public=ALL_DATES,
    recognize=_are_days,
    entries=("first", "last", "by"),
    declare=_declare,
    hint='# first = 2020-01-01, last = 2025-12-31, by = "month"    # omitted: years',
    fact=Statement("fact.date"),
    type_name="date",
)
