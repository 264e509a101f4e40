"""SQL that parses text and numbers as times.

DuckDB parses ISO 8601 itself. Each other notation is split by one pattern and rewritten as ISO
8601.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..cells.duckdb_sql import FLOATING, INSTANT, LONG_WHOLE, SHORT_WHOLE, is_moment, is_number
from ..columns import DateAndTime
from ..time_format import NAMED_FORMATS, NUMBERS
from .database import literal

NUMBER = "DECIMAL(38, 9)"
"""The type that text is read as if it is a number and not a time."""

MAX_STAMP_NUMBER = "1e29"
"""Larger numbers are not read as time stamps, in columns of text or of numbers."""

DayMonth = Literal["day", "month", "either"]
"""Which comes first in 3/4/2025; `either`: not known yet."""

DAY_FIRST, MONTH_FIRST, OPEN = 1, 2, 4
"""What a stamp reveals about the order of day and month."""

_MONTHS = {
    "jan": 1, "jän": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "may": 5, "mai": 5,
    "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}  # fmt: skip
"""Months by the first three letters of their English and German names."""

_CLOCK = (
    r"(?:(?:\s*,\s*|\s+|t)(\d{1,2})(?:[:.](\d{1,2})(?:[:.](\d{1,2})(?:[.,](\d{1,9}))?)?)?"
    r"\s*([ap]\.?m\.?)?(?:\s*uhr)?\s*(z|utc|gmt|[+-]\d{1,2}(?::?\d{2})?)?)?\s*$"
)
"""What follows the date: hour, minute, second, fraction, half of the day, offset; or nothing."""
_CLOCK_PARTS = ("hour", "minute", "sec", "fraction", "half", "zone")
_CLOCK_TEXT = (
    "CASE WHEN p.hour = '' THEN '' WHEN p.minute = '' AND p.half = '' THEN 'none' "
    "ELSE printf(' %02d:%s:%s.%s%s', CASE WHEN p.half = '' THEN p.hour::INTEGER "
    "WHEN p.hour::INTEGER NOT BETWEEN 1 AND 12 THEN 99 "
    "WHEN p.half[1] = 'p' THEN p.hour::INTEGER % 12 + 12 ELSE p.hour::INTEGER % 12 END, "
    "lpad(p.minute, 2, '0'), lpad(p.sec, 2, '0'), coalesce(nullif(p.fraction, ''), '0'), "
    "CASE WHEN p.zone IN ('', 'z', 'utc', 'gmt') THEN '+00' "
    "WHEN len(p.zone) = 2 THEN p.zone[1] || '0' || p.zone[2] ELSE p.zone END) END"
)
"""The time of day in ISO 8601, of its parts."""

_DAY = r"(?:[a-zäöü]{2,10}\.?,?\s+)?"
"""A weekday, which is redundant."""
_YEAR = (
    "CASE WHEN len(p.y) = 4 THEN p.y::INTEGER "
    "WHEN p.y::INTEGER >= 70 THEN 1900 + p.y::INTEGER ELSE 2000 + p.y::INTEGER END"
)
"""Years of two digits are those from 1970 to 2069."""
_MONTH = "CASE left(p.name, 3)" + "".join(f" WHEN '{n}' THEN {m}" for n, m in _MONTHS.items())
_BY_NAME = f"printf('%04d-%d-%s', {_YEAR}, {_MONTH} END, p.d)"
_IN_ORDER = f"printf('%04d-%s-%s', {_YEAR}, p.m, p.d)"
_DATES = (
    (
        rf"{_DAY}(\d{{1,2}})(?:st|nd|rd|th|\.)?[\s-]*(?:of\s+)?([a-zä]{{3,10}})\.?[\s,-]+(\d{{4}}|\d{{2}})",
        ("d", "name", "y"),
        _BY_NAME,
    ),
    (
        rf"{_DAY}([a-zä]{{3,10}})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})",
        ("name", "d", "y"),
        _BY_NAME,
    ),
    (r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", ("y", "m", "d"), _IN_ORDER),
)
"""Date notations besides 3/4/2025 and 20250403: pattern, names of the parts, ISO form."""

MIDNIGHT = (
    r"[ T]+(?:00?[:.]00(?:[:.]00(?:[.,]0+)?)?|12:00(?::00)?\s*AM)\s*(?:Z|UTC|[+-]00(?::?00)?)?$"
)
"""The time of day that spreadsheets and frames add to a date without one."""

ANY_DATE = r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T]+"
"""The date that spreadsheets and frames add to a time of day without one."""

CLOCK = r"^(?:\d{1,2}[:.]\d{2}|\d{1,2}\s*[AaPp]\.?[Mm])"
"""The beginning of a time of day with separators or AM/PM."""

UNREADABLE = "?"
"""Placeholder for a missing or unreadable half."""

COMMON_NOTATION = r"^\d{1,2}(?:\.\d{1,2}\.|/\d{1,2}/|-\d{1,2}-)\d{4}(?: \d{1,2}:\d\d(?::\d\d)?)?$"
"""The form of most stamps that are not ISO 8601, for a faster parser with the same result. strptime
alone accepts more than its pattern, such as 9:5 for %H:%M and 205 for %Y."""
_SLASHED = r"^\s*(\d{1,2})([/-])(\d{1,2})([/-])(?:\d{4}|\d{2})(?:[^\d]|$)"


def text_time(column: str, order: DayMonth, iso: str | None = None) -> str:
    """Parse text in any supported notation as a time; missing if it is not a time.

    `iso` is a column with the text parsed as ISO 8601.
    """
    iso, text = iso or iso_time(column), f"lower(trim({column}))"
    first = {
        "day": "true",
        "month": "p.mark = '.'",
        "either": "p.mark = '.' OR p.second::INTEGER <= 12",
    }[order]
    by_numbers = (
        f"CASE WHEN {first} THEN printf('%04d-%s-%s', {_YEAR}, p.second, p.first) "
        f"ELSE printf('%04d-%s-%s', {_YEAR}, p.first, p.second) END"
    )
    numbers = r"(\d{1,2})([./-])(\d{1,2})([./-])(\d{4}|\d{2})"
    compact = _CLOCK.replace(r"[:.](\d{1,2})", r":?(\d{2})")
    ways = [
        # A pattern cannot require that a separator is repeated.
        _written(text, numbers, ("first", "mark", "second", "again", "y"), by_numbers,
                 fits="p.mark = p.again"),
        *(_written(text, *way) for way in _DATES),
        _written(text, r"(\d{4})(\d{2})(\d{2})", ("y", "m", "d"), _IN_ORDER, clock=compact),
    ]  # fmt: skip
    # In dotted dates the day comes first.
    day, month = "%d{0}%m{0}%Y", "%m{0}%d{0}%Y"
    slashed = {"day": [day], "month": [month], "either": [day, month]}[order]
    dates = [day.format("."), *(form.format(mark) for mark in "/-" for form in slashed)]
    clocks = (" %H:%M:%S", " %H:%M", "")
    formats = ", ".join(literal(date + clock) for clock in clocks for date in dates)
    quick = f"try_strptime({column}, [{formats}])"
    # A year of two digits, as in 1/2/25, would be taken for that of an emperor.
    return (
        f"CASE WHEN {iso} >= '0100-01-01'::{INSTANT} THEN {iso} "
        f"WHEN {iso} IS NOT NULL AND regexp_matches({column}, '^\\s*[-+]?\\d{{4}}|^[a-z-]') "
        f"THEN {iso} "
        f"WHEN {column} IS NULL OR try_cast({column} AS {NUMBER}) IS NOT NULL THEN NULL "
        f"WHEN regexp_matches({column}, {literal(COMMON_NOTATION)}) AND {quick} IS NOT NULL "
        f"THEN {quick}::{INSTANT} "
        f"ELSE coalesce({', '.join(ways)}) END"
    )


def _written(
    text: str,
    pattern: str,
    names: tuple[str, ...],
    date: str,
    *,
    clock: str = _CLOCK,
    fits: str = "true",
) -> str:
    """Parse one notation of a date, with or without a time."""
    parts = ", ".join(f"'{name}'" for name in (*names, *_CLOCK_PARTS))
    found = f"regexp_extract({text}, '^{pattern}{clock}', [{parts}])"
    whole = f"try_cast({date} || {_CLOCK_TEXT} AS {INSTANT})"
    # If the pattern does not match, all parts are empty.
    return (
        f"list_transform([{found}], lambda p: CASE WHEN p.y <> '' AND {fits} THEN {whole} END)[1]"
    )


def read_time(column: str, form: str | None, order: DayMonth, iso: str | None = None) -> str:
    """Read text as a time in the form that was declared, or in any."""
    if form is not None and form not in NAMED_FORMATS:
        return f"coalesce({pattern_time(column, form)}, {moment_text(column)})"
    if form == "iso":
        # A bare cast would become part of reading the file, and fail where it must be missing.
        return iso_time(f"trim({column})")
    declared: dict[str | None, DayMonth] = {"day-first": "day", "month-first": "month"}
    return text_time(column, declared.get(form, order), iso)


def iso_time(column: str) -> str:
    """Parse text as a time in ISO 8601 only."""
    return f"try_cast({column} AS {INSTANT})"


def pattern_time(column: str, pattern: str) -> str:
    """Read text by a pattern of strptime."""
    return f"try_strptime(trim({column}), {literal(pattern)})::{INSTANT}"


def moment_text(column: str) -> str:
    """Parse the text of a moment in memory (see `cells`), whatever the declared format of text.

    A single other value turns a column of moments into one of objects.
    """
    form = r"^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?(\+00)?)?$"
    return f"CASE WHEN regexp_matches({column}, '{form}') THEN {iso_time(column)} END"


def day_month(column: str, iso: str | None = None) -> str:
    """Return what a stamp reveals about the order of day and month; 0 if nothing.

    A stamp is informative if exchanging day and month changes its time.
    """
    # All kinds of blanks are removed, as when a stamp is parsed.
    parts = f"regexp_extract(trim({column}), '{_SLASHED}', ['a', 'mark', 'b', 'again'])"
    return (
        f"CASE WHEN NOT (contains({column}, '/') OR contains({column}, '-')) THEN 0 "
        f"WHEN {column} IS NULL OR {iso or iso_time(column)} >= '0100-01-01' THEN 0 "
        f"ELSE list_transform([{parts}], lambda p: CASE WHEN p.a = '' OR p.mark <> p.again THEN 0 "
        f"WHEN p.a::INTEGER > 12 AND p.b::INTEGER <= 12 THEN {DAY_FIRST} "
        f"WHEN p.b::INTEGER > 12 AND p.a::INTEGER <= 12 THEN {MONTH_FIRST} "
        f"WHEN p.a::INTEGER <= 12 AND p.a::INTEGER <> p.b::INTEGER THEN {OPEN} ELSE 0 END)[1] END"
    )


def as_double(number: str) -> str:
    """Convert a number to the nearest double, by which time stamps are compared.

    A single missing number turns a column of whole numbers into one of doubles.
    """
    return f"(CASE WHEN abs({number}::DOUBLE) < {MAX_STAMP_NUMBER} THEN {number}::DOUBLE END)"


def _text_number(column: str) -> str:
    """Convert text to a number: compared by its double, and by its digits if those tie."""
    exact = f"try_cast(trim({column}) AS {NUMBER})"
    both = f"{{'double': try_cast({column} AS DOUBLE), 'exact': {exact}}}"
    return f"(CASE WHEN {exact} IS NOT NULL THEN {both} END)"


def _number_time(number: str) -> str:
    """Read a number as microseconds since 1970, by its size alone; missing where it is no time.

    The sizes of seconds, milliseconds, microseconds and nanoseconds since 1979, and of dates
    written as 20251231 or 20251231140500, are far apart. Days that a spreadsheet counts are not
    far from other numbers, and are not guessed.
    """
    n = f"({number})::DOUBLE"
    compact = f"try_cast(try_cast({n} AS BIGINT) AS VARCHAR)"
    return (
        f"CASE WHEN {n} >= 3e8 AND {n} < 1e10 THEN try_cast(round({n} * 1e6) AS BIGINT) "
        f"WHEN {n} >= 3e11 AND {n} < 1e13 THEN try_cast(round({n} * 1e3) AS BIGINT) "
        f"WHEN {n} >= 3e14 AND {n} < 1e16 THEN try_cast(round({n}) AS BIGINT) "
        f"WHEN {n} >= 3e17 AND {n} < 1e19 THEN try_cast(round({n} / 1e3) AS BIGINT) "
        f"WHEN {n} BETWEEN 19000101 AND 21001231 "
        f"THEN epoch_us(try_strptime({compact}, '%Y%m%d')) "
        f"WHEN {n} BETWEEN 19000101000000 AND 21001231235959 "
        f"THEN epoch_us(try_strptime({compact}, '%Y%m%d%H%M%S')) END"
    )


def _declared_number(number: str, form: str) -> str:
    """Convert a number in its declared unit to microseconds since 1970."""
    n = f"({number})::DOUBLE"
    micros = {
        "epoch": f"{n} * 1e6",
        "epoch-ms": f"{n} * 1e3",
        "epoch-us": n,
        # Rounded to the millisecond, because a third of a day has no exact binary form.
        "excel": f"round(({n} - 25569) * 86400000) * 1e3",
    }
    # Numbers far outside all calendars are not times.
    moment = f"round({micros[form]})"
    return f"CASE WHEN abs({moment}) < 2e17 THEN try_cast({moment} AS BIGINT) END"


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
    clock = f"regexp_replace(trim({time}), {literal(ANY_DATE)}, '')"
    day = f"regexp_replace(trim({date}), {literal(MIDNIGHT)}, '', 'i')"
    # A date that includes a time of day would give the joined time stamp two of them.
    day = f"CASE WHEN NOT contains({day}, ':') THEN nullif({day}, '') END"
    if joined.form is not None and "%" in joined.form:
        read, two_ways = f"nullif({clock}, '')", "false"
        if width := {"%H%M%S": 6, "%H%M": 4}.get(joined.form.rpartition(" ")[2]):
            # Numbers do not keep the zeros that the declared pattern needs.
            short = f"regexp_full_match({clock}, '\\d{{1,{width}}}')"
            read = f"CASE WHEN {short} THEN lpad({clock}, {width}, '0') ELSE {read} END"
    else:
        read, two_ways = _clock(clock, joined.six_digits, time_kind in FLOATING)
    whole = (
        f"(CASE WHEN {date} IS NOT NULL OR {time} IS NOT NULL THEN "
        f"coalesce({day}, '{UNREADABLE}') || ' ' || coalesce({read}, '{UNREADABLE}') END)"
    )
    return whole, f"coalesce({two_ways}, false)"


def _clock(time: str, six_digits: bool, is_fraction: bool) -> tuple[str, str]:
    """Parse a time of day with colons, missing if invalid; also return whether it is ambiguous."""
    digits = r"\d{1,6}" if six_digits else r"\d{5,6}|0+"
    fraction = r"0?[.,]\d+" if is_fraction else r"0?[.,]\d{3,}"
    six, day = f"lpad({time}, 6, '0')", f"replace({time}, ',', '.')"
    # Rounded to the millisecond, because a third of a day has no exact binary form.
    part = (
        f"(TIME '00:00:00' + to_milliseconds(round(try_cast({day} AS DOUBLE) * 86400000)::BIGINT))"
    )
    read = (
        f"CASE WHEN regexp_full_match({time}, '{digits}') AND len({time}) <= 6 "
        f"THEN {six}[1:2] || ':' || {six}[3:4] || ':' || {six}[5:6] "
        f"WHEN regexp_full_match({time}, '{fraction}') THEN {part}::VARCHAR "
        f"WHEN regexp_matches({time}, {literal(CLOCK)}) THEN {time} END"
    )
    few = f"regexp_full_match({time}, '\\d{{1,4}}') AND try_cast({time} AS INTEGER) <> 0"
    short = f"regexp_full_match({time}, '0[.,]\\d{{1,2}}')"
    if six_digits:
        return read, "false"
    return read, f"({few})" if is_fraction else f"({few} OR {short})"


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
            known = f"epoch_us({moment_text(column)})"
            if form == "number":
                return cls(time=known, moment=known, micros=known, number=_text_number(column))
            declared = _declared_number(f"try_cast(trim({column}) AS {NUMBER})", form)
            micros = f"coalesce({known}, {declared})"
            return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)
        time, number = read if read is not None else iso_time(column), "NULL"
        if form is None:
            # Whether a number is a time follows from its size, so it has its place among times.
            known = f"make_timestamp({_number_time(f'try_cast({column} AS DOUBLE)')})::{INSTANT}"
            number = f"CASE WHEN {time} IS NULL THEN {_text_number(column)} END"
            time = f"coalesce({time}, {known})"
        return cls(time=time, number=number, moment=f"epoch_us({time})", micros=f"epoch_us({time})")

    @classmethod
    def _of_number(cls, column: str, kind: str, form: str | None) -> TimeKey:
        """Compare numbers, or the times that they are declared to be."""
        if form in NUMBERS and form != "number":
            micros = _declared_number(column, form)
            return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)
        number = column if kind.startswith("DECIMAL") else as_double(column)
        if form == "number":
            is_whole = kind in (*SHORT_WHOLE, *LONG_WHOLE)
            return cls(time=number, moment=f"try_cast({number} AS BIGINT)" if is_whole else None)
        # As for text: one text among the numbers makes text of all of them.
        micros = _number_time(column)
        return cls(time=f"make_timestamp({micros})", number=number, micros=micros)


UNTIMED = TimeKey(time="0", moment="0")
"""Time key of tables without times: all equal, none missing."""
