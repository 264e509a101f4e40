"""Conversion of cells to text: the one rule that all readers follow.

The text of a cell depends on that cell and on its use alone, never on the type that its column
happens to have. Libraries choose the type of a column by all of its values: one missing value turns
whole numbers into floating point numbers, one text turns moments into objects. If text depended on
that type, one case could change all others, which noise cannot hide.

    cell                            text
    text                            itself; half a character becomes a question mark
    yes or no                       true, false
    whole number below 2^53         its digits, also where it is stored as a floating point number
    any other number                the shortest digits of the nearest double: 0.5, 1e-05, 1e+16
    decimal number                  all its digits, without zeros at the end
    date                            2020-01-31
    moment                          2020-01-31 14:05:00.5, cut to the microsecond; with a zone, it
                                    is given in UTC and ends with +00
    missing, NaN, NaT               missing

Doubles cannot represent all whole numbers of 2^53 and more. In an attribute or a time stamp, such a
number becomes the nearest double, whatever the type of its column. Activities and persons that are
such numbers are refused, because two of them could become one; so are cases in columns of floating
point numbers. Case ids in columns of whole numbers are exact, because a log with a missing case id
is refused anyway. Lengths of time and nested values have no text.

The rule is implemented once per language: Python here, SQL in `duckdb_sql` and `spark_sql`. A test
compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, NoReturn, SupportsInt

from ...kernel.statements import Statement

INEXACT_FROM = 1 << 53
"""Doubles cannot represent all whole numbers of this size or larger."""

Use = Literal["id", "name", "value"]
"""The purpose of a cell: `id` is a case, `name` an activity or a person, `value` anything else."""

TOO_LARGE = Statement("read.cell.too_large")
LENGTHS_OF_TIME = Statement("read.cell.lengths")
NESTED = Statement("read.cell.nested")


class CellError(ValueError):
    """A cell that cannot be converted; its statement continues the name of its column."""

    def __init__(self, statement: Statement) -> None:
        super().__init__(str(statement))
        self.statement = statement


def text_of(value: object, use: Use = "value") -> str | None:
    """Return the text of a value in memory.

    Args:
        value: A cell of a frame, a file or a database.
        use: The purpose of the cell.

    Returns:
        The text, or None if the value is missing.

    Raises:
        CellError: The value has no text, or could be confused with another one.

    Example:
        >>> text_of(7.0), text_of(True), text_of(None)
        ('7', 'true', None)
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if is_missing(value):
        return None
    convert = _BY_NAME.get(type(value).__name__)
    for kind, rule in _BY_TYPE if convert is None else ():
        if isinstance(value, kind):
            convert = rule
            break
    if convert is None:
        convert = _refuse if hasattr(value, "tolist") else lambda it, use: text_of(str(it), use)
    return convert(value, use)


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    # Only a missing value differs from itself.
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return False


def _whole_text(value: SupportsInt, use: Use) -> str:
    whole = int(value)
    return str(whole) if abs(whole) < INEXACT_FROM or use == "id" else _large_text(whole, use)


def _real_text(value: float, use: Use) -> str:
    if -INEXACT_FROM < value < INEXACT_FROM and value == value // 1:
        return str(int(value))
    return _large_text(value, use) if abs(value) >= INEXACT_FROM else _double_text(value)


def _large_text(value: float, use: Use) -> str:
    if use != "value":
        raise CellError(TOO_LARGE)
    try:
        return _double_text(value)
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def _double_text(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _decimal_text(value: Decimal) -> str:
    if not value.is_finite():
        return "inf" if value > 0 else "-inf"
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _moment_text(value: datetime) -> str:
    try:
        moment = value if value.tzinfo is None else value.astimezone(UTC)
    except (OverflowError, ValueError):
        # The last hours of the calendar have no time in UTC.
        return str(value)
    zone = "" if value.tzinfo is None else "+00"
    return f"{moment.date()} {_time_text(moment.time())}{zone}"


def _time_text(value: time) -> str:
    text = value.replace(tzinfo=None).isoformat()
    return text.rstrip("0") if "." in text else text


def _refuse(value: object, use: Use) -> NoReturn:
    is_length = isinstance(value, timedelta) or type(value).__name__ == "timedelta64"
    raise CellError(LENGTHS_OF_TIME if is_length else NESTED)


Rule = Callable[[Any, Use], str | None]
_BY_NAME: Mapping[str, Rule] = {
    **dict.fromkeys(("bool", "bool_"), lambda value, use: "true" if value else "false"),
    "timedelta64": _refuse,
    "datetime64": lambda value, use: text_of(value.astype("datetime64[us]").item(), use),
}
"""The rules for types of Python and NumPy, by type name."""
_BY_TYPE: tuple[tuple[type | UnionType, Rule], ...] = (
    (timedelta, _refuse),
    (Integral, _whole_text),
    (Real, _real_text),
    (Mapping | list | tuple | set | bytes, _refuse),
    (Decimal, lambda value, use: _decimal_text(value)),
    (datetime, lambda value, use: _moment_text(value)),
    (date, lambda value, use: value.isoformat()),
    (time, lambda value, use: _time_text(value)),
)
"""The rules for all other types, in order of precedence."""


def is_exact(column: str) -> str:
    """Return SQL that tests whether doubles represent all whole numbers of a column."""
    return f"{column} BETWEEN {1 - INEXACT_FROM} AND {INEXACT_FROM - 1}"
