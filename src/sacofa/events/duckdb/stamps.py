"""Text and numbers as times, in SQL. The macros that parse single cells are in `stamps.sql`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from ..cells.duckdb_sql import FLOATING, INSTANT, LONG_WHOLE, SHORT_WHOLE, is_moment, is_number
from ..columns import DateAndTime
from ..time_format import NAMED_FORMATS, NUMBERS
from .database import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMBER = "DECIMAL(38, 9)"
"""The type that text is read as if it is a number and not a time."""

DayMonth = Literal["day", "month", "either"]
"""Which comes first in 3/4/2025; `either`: not known yet."""

DAY_FIRST, MONTH_FIRST, OPEN = 1, 2, 4
"""What a stamp reveals about the order of day and month: values of the macro `day_month`."""


def define_times(database: DuckDBPyConnection) -> None:
    """Define the macros that parse times in a database."""
    database.execute(files(__package__).joinpath("stamps.sql").read_text(encoding="utf-8"))


def read_time(column: str, form: str | None, order: DayMonth) -> str:
    """Read text as a time in the form that was declared, or in any; `{column}_iso` is it as ISO
    8601.
    """
    if form is not None and form not in NAMED_FORMATS:
        return f"coalesce({pattern_time(column, form)}, moment_text({column}))"
    if form == "iso":
        # A bare cast would become part of reading the file, and fail where it must be missing.
        return iso_time(f"trim({column})")
    known = {"day-first": "day", "month-first": "month"}.get(form or "", order)
    return f"text_time({column}, {column}_iso, '{known}')"


def iso_time(column: str) -> str:
    """Parse text as a time in ISO 8601 only."""
    return f"try_cast({column} AS {INSTANT})"


def as_double(number: str) -> str:
    """Convert a number to the nearest double, by which time stamps are compared.

    A single missing number turns a column of whole numbers into one of doubles.
    """
    return f"(CASE WHEN abs({number}::DOUBLE) < 1e29 THEN {number}::DOUBLE END)"


def pattern_time(column: str, pattern: str) -> str:
    """Read text by a pattern of strptime."""
    return f"try_strptime(trim({column}), {literal(pattern)})::{INSTANT}"


def join_times(joined: DateAndTime, text: Callable[[str], str], time_kind: str) -> tuple[str, str]:
    """Join a date and a time of day; `text` converts a column, `time_kind` is the type of the
    second.

    The result depends on the two cells of a row and on declarations, never on other rows. A time of
    day is written 14:23:59, 2:23 PM, 142359 (SAP), as a part of a day (0.6, as spreadsheets count)
    or as a full time stamp, whose date is ignored. Other cells make the time stamp unreadable. An
    ambiguous one, such as 930 (9:30 or 0:09:30), is refused unless a pattern or the column name
    decides.

    Returns:
        As SQL: both as one text, missing if both are missing, and whether it is ambiguous.
    """
    date, time = text(joined.date), text(joined.time)
    clock, is_fraction, two_ways = f"bare_clock({time})", time_kind in FLOATING, "false"
    if joined.form is not None and "%" in joined.form:
        width = {"%H%M%S": 6, "%H%M": 4}.get(joined.form.rpartition(" ")[2], 0)
        read = f"padded_clock({clock}, {width})"
    else:
        digits = r"\d{1,6}" if joined.six_digits else r"\d{5,6}|0+"
        fraction = r"0?[.,]\d+" if is_fraction else r"0?[.,]\d{3,}"
        read = f"free_clock({clock}, '{digits}', '{fraction}')"
        if not joined.six_digits:
            two_ways = f"two_ways({clock}, {is_fraction})"
    return f"joined_time({date}, {time}, {read})", two_ways


@dataclass(frozen=True, kw_only=True)
class TimeKey:
    """SQL that makes the time stamps of a column comparable.

    The value of a stamp depends on that stamp alone; otherwise one more case could change the order
    of all. The one exception is the order of day and month, which is known when a key is made (see
    `time_format`).
    """

    time: str
    """The time; missing if it cannot be parsed."""
    number: str = "NULL"
    """The number that it is, which breaks ties, and orders numbers that are not times."""
    moment: str | None = None
    """The time as a number of 64 bits, if its type has one."""
    micros: str = "NULL::BIGINT"
    """Microseconds since 1970 in UTC; missing if a stamp is not a time."""

    @classmethod
    def of(
        cls, column: str, kind: str, form: str | None = None, read: str | None = None
    ) -> TimeKey:
        """Make the time stamps of a column of some type comparable.

        They are parsed by `form` or, without it, by their notation. For text, `read` is a column
        with the parsed times.
        """
        if is_moment(kind):
            instant = column if kind == INSTANT else f"try_cast({column} AS TIMESTAMP)"
            micros = f"epoch_us({instant})"
            return cls(time=column, moment=micros, micros=micros)
        if is_number(kind):
            return cls._of_number(column, kind, form)
        if kind == "TIME":
            return cls(time=column)
        if form in NUMBERS:
            # Moments in memory are not parsed.
            known = f"epoch_us(moment_text({column}))"
            if form == "number":
                number = f"text_number({column})"
                return cls(time=known, moment=known, micros=known, number=number)
            exact = f"try_cast(trim({column}) AS {NUMBER})"
            micros = f"coalesce({known}, declared_time({exact}::DOUBLE, '{form}'))"
            return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)
        time, number = read if read is not None else iso_time(column), "NULL"
        if form is None:
            # Whether a number is a time follows from its size, so it has its place among times.
            known = f"make_timestamp(number_time(try_cast({column} AS DOUBLE)))::{INSTANT}"
            number = f"CASE WHEN {time} IS NULL THEN text_number({column}) END"
            time = f"coalesce({time}, {known})"
        return cls(time=time, number=number, moment=f"epoch_us({time})", micros=f"epoch_us({time})")

    @classmethod
    def _of_number(cls, column: str, kind: str, form: str | None) -> TimeKey:
        """Compare numbers, or the times that they are declared to be."""
        if form in NUMBERS and form != "number":
            micros = f"declared_time(({column})::DOUBLE, '{form}')"
            return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)
        number = column if kind.startswith("DECIMAL") else as_double(column)
        if form == "number":
            is_whole = kind in (*SHORT_WHOLE, *LONG_WHOLE)
            return cls(time=number, moment=f"try_cast({number} AS BIGINT)" if is_whole else None)
        # As for text: one text among the numbers makes text of all of them.
        micros = f"number_time(({column})::DOUBLE)"
        return cls(time=f"make_timestamp({micros})", number=number, micros=micros)


UNTIMED = TimeKey(time="0", moment="0")
"""Time key of tables without times: all equal, none missing."""
