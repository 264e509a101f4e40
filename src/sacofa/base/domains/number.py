"""Numbers, in public bins."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise

from ...kernel.attributes import Domain, Kind
from ...kernel.errors import SettingError
from ...kernel.statements import Statement
from ..cells import BLANK
from .kinds import AttributeKind, Bins, Entries

FINEST = 100
"""Numbers between bounds have at most this many cells; those of more units share them evenly."""
MOST_UNITS = 10**15
"""No bin holds more units: one of them is chosen by a float, which tells no more apart."""
MAX_CODES = 50
"""Up to this many different numbers are categories, such as codes of articles."""


def _plain(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return text if text != "-0" else "0"


DECIMAL_COMMA = re.compile(r"[+-]?(\d+,(?!\d{3}$)\d+|\d{1,3}(\.\d{3})+,\d+)")
"""1,50 and 1.234,5: what stands after a comma is less than one."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+")
"""1,234.50: commas stand between thousands."""


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
class Numbers(Bins):
    """Numbers, in public bins."""

    edges: tuple[Decimal, ...]
    unit: Decimal | None = None
    """Numbers are written as multiples of it; None: as two figures."""
    logarithmic: bool = False
    """Whether numbers spread evenly in ratio inside a bin, not in difference."""
    bounded: bool = True
    """Whether somebody declared where numbers end; else the bins are those for all numbers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit is not None:
            _check_unit(self.unit)
            if max(b - a for a, b in pairwise(self.edges)) / self.unit > MOST_UNITS:
                raise SettingError(
                    "unit", self.unit, Statement("must.domain.unit", most=MOST_UNITS)
                )

    @classmethod
    def between(cls, low: Decimal, high: Decimal, unit: Decimal) -> Numbers:
        """Numbers from low to high in units: a bin for each, or for several where they are many.

        The last bin ends with high, which belongs to it; it may be that number alone.
        """
        _check_unit(unit)
        if low >= high:
            raise SettingError("max", high, Statement("must.domain.above", low=str(low)))
        units = int((high - low) / unit) + 1
        width = -(-units // FINEST)
        bins = -(-units // width)
        begins = (low + unit * width * i for i in range(bins))
        return cls(edges=(*begins, high), unit=unit)

    @property
    def kind(self) -> Kind:
        """Whole numbers where the unit is one."""
        return "int" if self.unit is not None and self.unit % 1 == 0 else "float"

    @cached_property
    def bin_edges(self) -> tuple[float, ...]:
        """Where bins begin and end, as floats."""
        return tuple(map(float, self.edges))

    def cell(self, text: str) -> int:
        """The bin of a number; what is none, or beyond the bins, is other."""
        number = read_number(text)
        if number is None:
            return self.values
        if math.isnan(number):
            return self.values + 1
        return self.bin_of(number, self.bin_edges)

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

    def sample(self, value: int, uniform: float) -> str:
        """A number of a bin."""
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
    if kind in ("int", "float"):
        try:
            return _plain(Decimal(text))
        except InvalidOperation:
            return text
    return text[:10] if kind == "date" else text.lower() if kind == "boolean" else text


def _check_unit(unit: Decimal) -> None:
    if unit <= 0:
        raise SettingError("unit", unit, Statement("must.domain.above", low="0"))


def _ladder() -> tuple[Decimal, ...]:
    steps = [Decimal(m) * Decimal(10) ** e for e in range(-3, 9) for m in (1, 2, 5)]
    above = [*steps, Decimal(10) ** 9, Decimal(10) ** 15]
    below = [-(Decimal(10) ** 15), *(-(Decimal(10) ** e) for e in range(9, -4, -1))]
    return (*below, Decimal(0), *above)


ALL_NUMBERS = Numbers(edges=_ladder(), logarithmic=True, bounded=False)
"""For numbers without bounds: bins that begin at 1, 2 and 5 times a power of ten."""


def parse_number(name: str, value: object) -> Decimal:
    """Take what a file says as an exact number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SettingError(name, value, Statement("must.domain.number"))
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise SettingError(name, value, Statement("must.domain.number")) from None
    if not number.is_finite() or abs(number.adjusted()) > 300:
        raise SettingError(name, value, Statement("must.domain.finite"))
    return number


def _declare(entries: Entries) -> Domain:
    unit = parse_number("unit", entries["unit"]) if "unit" in entries else None
    bounds = {key: parse_number(key, entries[key]) for key in ("min", "max") if key in entries}
    if "edges" in entries:
        for key, bound in bounds.items():
            raise SettingError(key, bound, Statement("must.domain.no_bounds"))
        return _with_edges(entries["edges"], unit)
    if len(bounds) == 1:
        ((key, bound),) = bounds.items()
        raise SettingError(key, bound, Statement("must.domain.both_bounds"))
    if bounds:
        return Numbers.between(bounds["min"], bounds["max"], Decimal(1) if unit is None else unit)
    if unit is not None:
        raise SettingError("unit", unit, Statement("must.domain.unit_with_bounds"))
    return ALL_NUMBERS


def _with_edges(given: object, unit: Decimal | None) -> Numbers:
    """Numbers between edges; whole ones if all edges are whole and no other unit is declared."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise SettingError("edges", given, Statement("must.domain.list"))
    edges = tuple(parse_number("edges", edge) for edge in given)
    if unit is None and all(edge % 1 == 0 for edge in edges):
        unit = Decimal(1)
    return Numbers(edges=edges, unit=unit)


def _are_numbers(texts: Sequence[str]) -> bool:
    return len(texts) > MAX_CODES and all(map(is_number, texts))


NUMBER = AttributeKind(
    name="number",
    domain=Numbers,
    types=("int", "float"),
    public=ALL_NUMBERS,
    recognize=_are_numbers,
    entries=("edges", "min", "max", "unit"),
    declare=_declare,
    hint="# edges = [0, 10, 20]     # or: min = 0, max = 100, unit = 1; omitted: public bins",
    fact=Statement("fact.number"),
    type_name="number",
)
