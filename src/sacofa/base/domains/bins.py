"""Values of a scale, days and numbers, in public bins."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...kernel.attributes import Domain, Kind
from ...kernel.statements import SettingError, Statement
from ..cells import BLANK
from .kinds import AttributeKind, Entries, check_size, listed

MAX_BINS = 100
"""Maximum number of cells between declared bounds; if there are more units, bins span several."""
MOST_UNITS = 10**15
"""Maximum number of units per bin: a float selects one of them and cannot distinguish more."""
MAX_CODES = 50
"""Up to this many distinct numbers are categories, such as article codes."""
DOTTED_DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$|[ T])")
"""31.01.2024, with or without a time of day: in dotted dates the day comes first."""
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,(?!\d{3}$)\d+|\d{1,3}(\.\d{3})+,\d+)")
"""Decimal comma: 1,50 and 1.234,5."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+")
"""Thousands separated by commas: 1,234.50."""


@dataclass(frozen=True, kw_only=True)
class Bins(Domain):
    """Values of a scale, in public bins."""

    binned = True
    edges: Sequence[Any]
    """The start of each bin, and the end of the last one, which is inclusive."""

    def __post_init__(self) -> None:
        edges = self.edges
        rising = len(edges) >= 2 and all(a < b for a, b in pairwise(edges[:-1]))
        # The last bin may be one value.
        if not rising or edges[-2] > edges[-1]:
            raise SettingError("edges", len(edges), Statement("must.domain.rising"))
        check_size(self.values)

    @property
    def values(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1

    def describe(self) -> Statement:
        """Return the number of bins and their range."""
        first, last = _plain(self.edges[0]), _plain(self.edges[-1])
        return Statement("domain.bins", bins=self.values, first=first, last=last)

    def bin_of(self, point: float | date, edges: Sequence[Any]) -> int:
        """Return the bin of a point, given these edges; `other` if it lies outside."""
        if not edges[0] <= point <= edges[-1]:
            return self.values
        return min(bisect_right(edges, point) - 1, self.values - 1)


def read_day(text: str) -> date | None:
    """Read a day in ISO 8601 or as 31.01.2024, in UTC where a zone is given.

    Each text is read independently, so that its meaning does not depend on other values.

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
    """The first day of each bin, and the last day, which belongs to the last bin."""
    kind: Kind = "date"

    @classmethod
    def between(cls, first: date, last: date, by: str) -> Dates:
        """Make one bin per day, month or year from first to last."""
        if by not in ("day", "month", "year"):
            raise SettingError("by", by, Statement("must.one_of", choices=("day", "month", "year")))
        if first > last:
            must = Statement("must.domain.no_later", last=str(last))
            raise SettingError("first", first, must)
        unit = by[0].upper()
        low, high = np.array([first, last], dtype=f"datetime64[{unit}]")
        (one,) = np.array([1], dtype=f"timedelta64[{unit}]")
        check_size((high - low).astype(int) + 1)
        begins = np.arange(low + one, high + one).astype("datetime64[D]").tolist()
        return cls(edges=(first, *begins, last))

    def cell(self, text: str) -> int:
        """The bin of a date; text that is not a date, or lies outside the bins, is `other`."""
        found = read_day(text)
        return self.values if found is None else self.bin_of(found, self.edges)

    def label(self, value: int) -> str:
        """Return the first day of a bin."""
        return self.edges[value].isoformat()

    def sample(self, value: int, uniform: float) -> str:
        """Return a day of a bin."""
        low, high = self.edges[value], self.edges[value + 1]
        many = (high - low).days + (value == self.values - 1)
        return (low + timedelta(days=min(int(uniform * many), many - 1))).isoformat()


ALL_DATES = Dates.between(date(1970, 1, 1), date(2069, 12, 31), "year")
"""For dates without a declared range."""


def _declare_dates(entries: Entries) -> Domain:
    if not {"first", "last", "by"} & set(entries):
        return ALL_DATES
    days = []
    for name in ("first", "last"):
        value = entries.get(name)
        try:
            days.append(
                date.fromisoformat(str(value)[:10] if isinstance(value, date) else str(value))
            )
        except ValueError:
            raise SettingError(name, value, Statement("must.domain.date")) from None
    return Dates.between(days[0], days[1], str(entries.get("by", "month")))


DATE = AttributeKind(
    name="date",
    domain=Dates,
    types=("date",),
    public=ALL_DATES,
    recognize=lambda texts: None not in map(read_day, texts),
    entries=("first", "last", "by"),
    declare=_declare_dates,
    hint='# first = 2020-01-01, last = 2025-12-31, by = "month"    # omitted: years',
    fact=Statement("fact.date"),
    type_name="date",
)


def _plain(number: Decimal | date) -> str:
    if isinstance(number, date):
        return number.isoformat()
    text = f"{number.normalize():f}"
    return text if text != "-0" else "0"


def read_number(text: str) -> float | None:
    """Read a number with a decimal point or comma; None if the text is not a number.

    Each text is read independently: 1,234 is ambiguous, so it is not a number.
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


@dataclass(frozen=True, kw_only=True)
class Numbers(Bins):
    """Numbers, in public bins."""

    edges: tuple[Decimal, ...]
    unit: Decimal | None = None
    """Released numbers are multiples of this unit; None: they have two significant figures."""
    logarithmic: bool = False
    """Whether numbers are sampled uniformly in ratio, not in difference, within a bin."""
    bounded: bool = True
    """Whether a range was declared; otherwise the bins cover all numbers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit is not None:
            _check_unit(self.unit)
            if max(b - a for a, b in pairwise(self.edges)) / self.unit > MOST_UNITS:
                must = Statement("must.domain.unit", most=MOST_UNITS)
                raise SettingError("unit", self.unit, must)

    @classmethod
    def between(cls, low: Decimal, high: Decimal, unit: Decimal) -> Numbers:
        """Make bins for the multiples of a unit from low to high, at most `MAX_BINS` of them.

        The last bin includes high and may consist of it alone.
        """
        _check_unit(unit)
        if low >= high:
            raise SettingError("max", high, Statement("must.domain.above", low=str(low)))
        units = int((high - low) / unit) + 1
        width = -(-units // MAX_BINS)
        bins = -(-units // width)
        begins = (low + unit * width * i for i in range(bins))
        return cls(edges=(*begins, high), unit=unit)

    @property
    def kind(self) -> Kind:
        """Whole numbers where the unit is one."""
        return "int" if self.unit is not None and self.unit % 1 == 0 else "float"

    @cached_property
    def bin_edges(self) -> tuple[float, ...]:
        """The edges of the bins as floats."""
        return tuple(map(float, self.edges))

    def cell(self, text: str) -> int:
        """Return the bin of a number; other text and numbers outside the bins are `other`."""
        number = read_number(text)
        if number is None:
            return self.values
        if math.isnan(number):
            return self.values + 1
        return self.bin_of(number, self.bin_edges)

    def label(self, value: int) -> str:
        """Return the range of a bin."""
        low, high = self.edges[value], self.edges[value + 1]
        one = self.unit is not None and high - low == self.unit and value < self.values - 1
        if one or low == high:
            return _plain(low)
        return f"{_plain(low)} – {_plain(high)}"

    def describe(self) -> Statement:
        """Return the number of bins and their range."""
        if not self.bounded:
            return Statement("domain.numbers", bins=self.values)
        return super().describe()

    def sample(self, value: int, uniform: float) -> str:
        """Return a number of a bin."""
        low, high = self.edges[value], self.edges[value + 1]
        if self.unit is not None:
            # The number of multiples of the unit in the bin; the last bin includes its end.
            is_last = value == self.values - 1
            many = max(int((high - low) / self.unit) + is_last, 1)
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
    """Normalize a value that was read from a released file."""
    if kind in ("int", "float"):
        with suppress(InvalidOperation):
            return _plain(Decimal(text))
        return text
    return text[:10] if kind == "date" else text.lower() if kind == "boolean" else text


def _check_unit(unit: Decimal) -> None:
    if unit <= 0:
        raise SettingError("unit", unit, Statement("must.domain.above", low="0"))


TEN = Decimal(10)
LADDER = (
    -(TEN**15), *(-(TEN**e) for e in range(9, -4, -1)), Decimal(0),
    *(m * TEN**e for e in range(-3, 9) for m in (1, 2, 5)), TEN**9, TEN**15,
)  # fmt: skip
ALL_NUMBERS = Numbers(edges=LADDER, logarithmic=True, bounded=False)
"""For numbers without bounds: bins that begin at 1, 2 and 5 times a power of ten."""


def _parse_number(name: str, value: object) -> Decimal:
    """Parse an entry of a columns file as an exact number."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InvalidOperation
        number = Decimal(str(value))
    except InvalidOperation:
        raise SettingError(name, value, Statement("must.domain.number")) from None
    if not number.is_finite() or abs(number.adjusted()) > 300:
        raise SettingError(name, value, Statement("must.domain.finite"))
    return number


def _declare_numbers(entries: Entries) -> Domain:
    keys = [key for key in ("unit", "min", "max") if key in entries]
    given = {key: _parse_number(key, entries[key]) for key in keys}
    unit = given.pop("unit", None)
    if "edges" in entries:
        for key, bound in given.items():
            raise SettingError(key, bound, Statement("must.domain.no_bounds"))
        return _with_edges(listed("edges", entries["edges"]), unit)
    if len(given) == 1:
        ((key, bound),) = given.items()
        raise SettingError(key, bound, Statement("must.domain.both_bounds"))
    if given:
        return Numbers.between(given["min"], given["max"], Decimal(1) if unit is None else unit)
    if unit is not None:
        raise SettingError("unit", unit, Statement("must.domain.unit_with_bounds"))
    return ALL_NUMBERS


def _with_edges(given: Sequence[object], unit: Decimal | None) -> Numbers:
    """Numbers between edges; whole ones if all edges are whole and no other unit is declared."""
    edges = tuple(_parse_number("edges", edge) for edge in given)
    if unit is None and all(edge % 1 == 0 for edge in edges):
        unit = Decimal(1)
    return Numbers(edges=edges, unit=unit)


def _are_numbers(texts: Sequence[str]) -> bool:
    numbers = map(read_number, texts)
    return len(texts) > MAX_CODES and all(n is not None and math.isfinite(n) for n in numbers)


NUMBER = AttributeKind(
    name="number",
    domain=Numbers,
    types=("int", "float"),
    public=ALL_NUMBERS,
    recognize=_are_numbers,
    entries=("edges", "min", "max", "unit"),
    declare=_declare_numbers,
    hint="# edges = [0, 10, 20]     # or: min = 0, max = 100, unit = 1; omitted: public bins",
    fact=Statement("fact.number"),
    type_name="number",
)
