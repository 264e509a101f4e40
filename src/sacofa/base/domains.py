"""What attributes may be: public domains, of which every value of a log takes one cell.

The cells of a domain are its values, in a public order, then `other` for what is none of them, then
one for what is missing. Which cell a text takes follows from that text alone, and every text takes
one: nothing is refused, so no value of a log can cause an error.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..kernel.attributes import Attribute, Domain, Kind
from ..kernel.errors import SettingError
from ..kernel.statements import Statement
from .cells import BLANK, OTHER

MAX_VALUES = 1_000
"""No domain has more values: every one takes a cell, and noise."""
FINEST = 100
"""Numbers between bounds have at most so many cells; those of more units share them evenly."""
MOST_UNITS = 10**15
"""No bin holds more units: one of them is chosen by a float, which tells no more apart."""
EPOCH = date(1970, 1, 1)


def _plain(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return text if text != "-0" else "0"


def _check_size(values: int) -> None:
    if not 1 <= values <= MAX_VALUES:
        raise SettingError("values", f"{values:,}", f"1 to {MAX_VALUES:,}")


def _rise(edges: Sequence[Any]) -> bool:
    """Whether edges make bins: each begins above the one before, and the last may be one value."""
    return (
        len(edges) >= 2 and all(a < b for a, b in pairwise(edges[:-1])) and edges[-2] <= edges[-1]
    )


@dataclass(frozen=True, kw_only=True)
class Categories:
    """Texts, one by one."""

    names: tuple[str, ...]
    """The values."""
    groups: Mapping[str, str] | None = None
    """What is released instead of a value: the group that it belongs to."""
    kind: Kind = "string"

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise SettingError("values", f"{len(self.names)} names", "different names")
        _check_size(self.values)

    @cached_property
    def _places(self) -> dict[str, int]:
        places = {name: i for i, name in enumerate(self.names)}
        if self.groups is not None:
            return {text: places[group] for text, group in self.groups.items()}
        return places

    @property
    def values(self) -> int:
        """One for each name."""
        return len(self.names)

    def cell(self, text: str) -> int:
        """The place of its name; that of `other`, which may be one of the names."""
        return self._places.get(text, self._places.get(OTHER, self.values))

    def label(self, value: int) -> str:
        """The name."""
        return self.names[value]

    def describe(self) -> Statement:
        """How many there are."""
        return Statement("domain.categories", number=len(self.names))


DECIMAL_COMMA = re.compile(r"[+-]?(\d+,(?!\d{3}$)\d+|\d{1,3}(\.\d{3})+,\d+)")
"""1,50 and 1.234,5: what stands after a comma is less than one."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+")
"""1,234.50: commas stand between thousands."""


@dataclass(frozen=True, kw_only=True)
class YesNo:
    """Yes or no."""

    kind: Kind = "boolean"
    values: int = 2

    def cell(self, text: str) -> int:
        """No, then yes, in the words and figures that are in use."""
        word = text.strip(BLANK).lower()
        if word in ("false", "no", "0", "0.0", "f", "n"):
            return 0
        return 1 if word in ("true", "yes", "1", "1.0", "t", "y") else 2

    def label(self, value: int) -> str:
        """As XES writes it."""
        return ("false", "true")[value]

    def describe(self) -> Statement:
        """What it is."""
        return Statement("domain.yes_no")


def read_number(text: str) -> float | None:
    """A number as it is written, with a point or a comma; None where it is none.

    Each text is read by itself: 1,234 may be either, and is none.
    """
    word = text.strip(BLANK)
    if DECIMAL_COMMA.fullmatch(word):
        word = word.replace(".", "").replace(",", ".")
    elif THOUSANDS.fullmatch(word):
        word = word.replace(",", "")
    try:
        return float(word)
    except ValueError:
        return None


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    number = read_number(text)
    return number is not None and math.isfinite(number)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers, in public bins."""

    edges: tuple[Decimal, ...]
    """Where bins begin, and where the last one ends; that end belongs to it."""
    unit: Decimal | None = None
    """Numbers are written as multiples of it; None: as two figures."""
    logarithmic: bool = False
    """Whether numbers spread evenly in ratio inside a bin, not in difference."""
    bounded: bool = True
    """Whether somebody said where numbers end; else the public bins for all numbers are used."""

    def __post_init__(self) -> None:
        if not _rise(self.edges):
            raise SettingError("edges", len(self.edges), "two or more numbers, from low to high")
        if self.unit is not None:
            if self.unit <= 0:
                raise SettingError("unit", self.unit, "above 0")
            if max(b - a for a, b in pairwise(self.edges)) / self.unit > MOST_UNITS:
                raise SettingError("unit", self.unit, f"larger: a bin has {MOST_UNITS:,} at most")
        _check_size(self.values)

    @classmethod
    def between(cls, low: Decimal, high: Decimal, unit: Decimal) -> Numbers:
        """Numbers from low to high in units: a bin for each, or for several where they are many.

        The last bin ends with high, which belongs to it; it may be that number alone.
        """
        if unit <= 0:
            raise SettingError("unit", unit, "above 0")
        if low >= high:
            raise SettingError("max", high, f"above {low}")
        units = int((high - low) / unit) + 1
        width = -(-units // FINEST)
        bins = -(-units // width)
        begins = (low + unit * width * i for i in range(bins))
        return cls(edges=(*begins, high), unit=unit)

    @property
    def kind(self) -> Kind:
        """Whole numbers where the unit is one."""
        return "int" if self.unit is not None and self.unit % 1 == 0 else "float"

    @property
    def values(self) -> int:
        """One for each bin."""
        return len(self.edges) - 1

    @cached_property
    def _floats(self) -> list[float]:
        return [float(edge) for edge in self.edges]

    def cell(self, text: str) -> int:
        """The bin of a number; what is none, or beyond the bins, is other."""
        number = read_number(text)
        if number is None:
            return self.values
        if math.isnan(number):
            return self.values + 1
        edges = self._floats
        if not edges[0] <= number <= edges[-1]:
            return self.values
        return min(bisect_right(edges, number) - 1, self.values - 1)

    def label(self, value: int) -> str:
        """From where to where."""
        low, high = self.edges[value], self.edges[value + 1]
        one = self.unit is not None and high - low == self.unit and value < self.values - 1
        if one or low == high:
            return f"{_plain(low)}"
        return f"{_plain(low)} – {_plain(high)}"

    def _units(self, value: int) -> int | None:
        """How many multiples of the unit a bin holds; None where there is no unit."""
        if self.unit is None:
            return None
        many = int((self.edges[value + 1] - self.edges[value]) / self.unit)
        return many + 1 if value == self.values - 1 else max(many, 1)

    def describe(self) -> Statement:
        """How many bins from where to where."""
        if not self.bounded:
            return Statement("domain.numbers", bins=self.values)
        first, last = _plain(self.edges[0]), _plain(self.edges[-1])
        return Statement("domain.bins", bins=self.values, first=first, last=last)

    def number(self, value: int, uniform: float) -> str:
        """A number of a bin, as it is released; `uniform` from 0 to 1 says which."""
        low, high = self.edges[value], self.edges[value + 1]
        many = self._units(value)
        if self.unit is not None and many is not None:
            return _plain(low + self.unit * min(int(uniform * many), many - 1))
        if self.logarithmic and not low:
            return "0"
        a, b = float(low), float(high)
        if self.logarithmic and a * b > 0:
            found = math.copysign(abs(a) * (b / a) ** uniform, a)
        else:
            found = a + (b - a) * uniform
        rounded = float(f"{found:.1e}")
        return _plain(Decimal(str(rounded if a <= rounded < b else a)))


def released_text(text: str, kind: Kind) -> str:
    """A value as it was released, from the text that a file of it holds."""
    if kind == "date":
        return text[:10]
    if kind == "boolean":
        return text.lower()
    if kind in ("int", "float"):
        try:
            return _plain(Decimal(text))
        except InvalidOperation:
            return text
    return text


def _ladder() -> tuple[Decimal, ...]:
    steps = [Decimal(m) * Decimal(10) ** e for e in range(-3, 9) for m in (1, 2, 5)]
    above = [*steps, Decimal(10) ** 9, Decimal(10) ** 15]
    tiny = above[0]
    below = [-(Decimal(10) ** 15), *(-(Decimal(10) ** e) for e in range(9, -4, -1))]
    assert below[-1] == -tiny
    return (*below, Decimal(0), *above)


ALL_NUMBERS = Numbers(edges=_ladder(), logarithmic=True, bounded=False)
"""For numbers without bounds: bins that begin at 1, 2 and 5 times a power of ten."""


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
class Dates:
    """Days, in public bins."""

    edges: tuple[date, ...]
    """The first days of the bins, and the last day of all; it belongs to the last bin."""
    kind: Kind = "date"

    def __post_init__(self) -> None:
        if not _rise(self.edges):
            raise SettingError("edges", len(self.edges), "two or more days, from first to last")
        _check_size(self.values)

    @classmethod
    def between(cls, first: date, last: date, by: str) -> Dates:
        """The days, months or years from first to last."""
        if by not in ("day", "month", "year"):
            raise SettingError("by", by, "day, month or year")
        if first > last:
            raise SettingError("first", first, f"no later than last ({last})")
        begins = [first]
        while (day := _next(begins[-1], by)) is not None and day <= last:
            _check_size(len(begins))
            begins.append(day)
        return cls(edges=(*begins, last))

    @property
    def values(self) -> int:
        """One for each bin."""
        return len(self.edges) - 1

    @cached_property
    def _days(self) -> list[int]:
        return [(edge - EPOCH).days for edge in self.edges]

    def cell(self, text: str) -> int:
        """The bin of a date; text that is not a date, or lies outside the bins, is `other`."""
        found = read_day(text)
        if found is None:
            return self.values
        day = (found - EPOCH).days
        if not self._days[0] <= day <= self._days[-1]:
            return self.values
        return min(bisect_right(self._days, day) - 1, self.values - 1)

    def label(self, value: int) -> str:
        """The first day."""
        return self.edges[value].isoformat()

    def describe(self) -> Statement:
        """From when to when."""
        first, last = str(self.edges[0]), str(self.edges[-1])
        return Statement("domain.bins", bins=self.values, first=first, last=last)

    def day(self, value: int, uniform: float) -> str:
        """A day of a bin, as it is released."""
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


RESOURCES = frozenset(
    [
        "org:resource",
        "resource",
        "user",
        "userid",
        "username",
        "employee",
        "agent",
        "originator",
        "responsible",
        "performer",
        "assignee",
        "handler",
        "doctor",
        "nurse",
        "clerk",
        "caseworker",
        "operator",
        "staff",
        "assignedto",
        "createdby",
        "changedby",
        "closedby",
        "resolvedby",
        "syscreatedby",
        "sysupdatedby",
        "ernam",
        "usnam",
        "bearbeiter",
        "sachbearbeiter",
        "mitarbeiter",
        "benutzer",
        "zuständig",
        "verantwortlich",
        "arzt",
        "pflegekraft",
    ]
)
"""Columns that name people who work in the process, in English, German, ServiceNow and SAP."""
IDS = frozenset(
    [
        "concept:instance",
        "identity:id",
        "case:concept:name",
        "caseid",
        "case:id",
        "traceid",
        "eventid",
    ]
)
"""Columns that tell cases or events apart: never released."""


def plain_name(name: str) -> str:
    """A name without what makes no difference."""
    return name.removeprefix("case:").strip().lower().translate(str.maketrans("", "", " _-"))


def with_domain(attribute: Attribute, domain: Domain) -> Attribute:
    """The same attribute, with the domain that was found in the log.

    Public bins contain no value of the log: only the type was learned from it.
    """
    of_values = isinstance(domain, Categories)
    return replace(attribute, domain=domain, taken=of_values, recognized=not of_values)


def parse_number(name: str, value: object) -> Decimal:
    """Take what a file says as an exact number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SettingError(name, value, "a number")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise SettingError(name, value, "a number") from None
    if not number.is_finite() or abs(number.adjusted()) > 300:
        raise SettingError(name, value, "a finite number")
    return number


COLLAPSED = Categories(names=(OTHER,))
"""The domain of a column of which no value can be named: it tells where there is a value."""
MAX_CODES = 50
"""Up to this many different numbers are categories, such as codes of articles."""


def found_domain(texts: Sequence[str], most: int) -> Domain:
    """Find the domain of a column of text whose values nobody declared.

    Args:
        texts: The distinct values of the log.
        most: The largest number of categories.

    Returns:
        Public bins if every value is a date, or if every one of more than `MAX_CODES` values is a
        number; otherwise the values as categories in the order of their names. More than `most`
        values identify or measure something, so all of them become `other`.
    """
    names = sorted({text for text in texts if text.strip(BLANK)})
    if names and all(read_day(text) is not None for text in names):
        return ALL_DATES
    if len(names) > MAX_CODES and all(is_number(text) for text in names):
        return ALL_NUMBERS
    if not names or len(names) > most:
        return COLLAPSED
    return Categories(names=tuple(names))
