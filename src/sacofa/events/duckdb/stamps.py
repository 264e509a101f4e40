"""How text and numbers are read as times, as SQL.

What DuckDB takes for a time as it is (ISO 8601) goes first and costs nothing more; other ways to
write a time are taken apart by one pattern, and put together as ISO.
"""

from __future__ import annotations

import re
from typing import Literal

from ..cells.duckdb_sql import INSTANT
from ..time_format import NAMED
from .sql import literal

NUMBER = "DECIMAL(38, 9)"
"""What text is read as that is no time but a number."""

DayMonth = Literal["day", "month", "either"]
"""Which comes first in 3/4/2025; `either`: what is possible, while that is not known."""

_MONTHS = {
    "jan": 1, "jän": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "may": 5, "mai": 5,
    "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}  # fmt: skip
"""Months by the first three letters of their English and German names."""

_CLOCK = (
    r"(?:(?:\s*,\s*|\s+|t)(\d{1,2})(?:[:.](\d{1,2})(?:[:.](\d{1,2})(?:[.,](\d{1,9}))?)?)?"
    r"\s*([ap]\.?m\.?)?(?:\s*uhr)?\s*(z|utc|gmt|[+-]\d{1,2}(?::?\d{2})?)?)?\s*$"
)
"""What follows a date: hour, minute, second, fraction, half of the day, offset; or nothing."""

_DAY = r"(?:[a-zäöü]{2,10}\.?,?\s+)?"
"""A weekday, which says nothing new."""

_DATES = {
    "numbers": (
        r"(\d{1,2})([./-])(\d{1,2})([./-])(\d{4}|\d{2})",
        ("first", "mark", "second", "again", "y"),
    ),
    "day name": (
        rf"{_DAY}(\d{{1,2}})(?:st|nd|rd|th|\.)?[\s-]*(?:of\s+)?([a-zä]{{3,10}})\.?[\s,-]+(\d{{4}}|\d{{2}})",
        ("d", "name", "y"),
    ),
    "name day": (
        rf"{_DAY}([a-zä]{{3,10}})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})",
        ("name", "d", "y"),
    ),
    "year": (r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", ("y", "m", "d")),
    "compact": (r"(\d{4})(\d{2})(\d{2})", ("y", "m", "d")),
}
"""Ways to write a date, and what their parts are called."""

_CLOCK_PARTS = ("hour", "minute", "sec", "fraction", "half", "zone")

_SLASHED = r"^\s*(\d{1,2})([/-])(\d{1,2})([/-])(?:\d{4}|\d{2})(?:[^\d]|$)"

DAY_FIRST, MONTH_FIRST, OPEN = 1, 2, 4
"""What a stamp tells of day and month, as bits."""


def text_time(column: str, order: DayMonth, like: str | None = None) -> str:
    """Read text as a time, however it is written; missing where it is none.

    Stamps that are written just as `like` are read in a quicker way, with the same result: what
    other stamps look like must not change how one is read.
    """
    iso = iso_time(column)
    text = f"lower(trim({column}))"
    ways = [_written(text, way, order) for way in _DATES]
    first = ""
    if (usual := _pattern(like or "", order)) is not None:
        form, pattern = usual
        quick = f"try_strptime({column}, '{pattern}')"
        # strptime takes more than its pattern says, such as 9:5 for %H:%M and 205 for %Y.
        first = (
            f"WHEN regexp_matches({column}, '^{form}$') AND {quick} >= '0100-01-01'::TIMESTAMP "
            f"THEN {quick}::{INSTANT} "
        )
    # A year of two digits, as in 1/2/25, would be taken for that of an emperor.
    return (
        f"CASE {first}WHEN {iso} >= '0100-01-01'::{INSTANT} THEN {iso} "
        f"WHEN {iso} IS NOT NULL AND regexp_matches({column}, '^\\s*[-+]?\\d{{4}}|^[a-z-]') "
        f"THEN {iso} "
        f"WHEN {column} IS NULL OR try_cast({column} AS {NUMBER}) IS NOT NULL THEN NULL "
        f"ELSE coalesce({', '.join(ways)}) END"
    )


_USUAL = re.compile(
    r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?( [AP]M)?)?",
    re.IGNORECASE,
)


def _pattern(like: str, order: DayMonth) -> tuple[str, str] | None:
    """How stamps look that are written as one in a usual form, and the pattern of strptime."""
    usual = _USUAL.fullmatch(like)
    if usual is None:
        return None
    mark, clock, second, half = usual.groups()
    two = r"\d{1,2}"
    form = rf"{two}[{mark}]{two}[{mark}]\d{{4}}"
    date = "%m{0}%d{0}%Y" if order == "month" and mark != "." else "%d{0}%m{0}%Y"
    pattern = date.format(mark)
    if clock is not None:
        form += rf" {two}:\d{{2}}" + r":\d{2}" * bool(second) + " [AaPp][Mm]" * bool(half)
        pattern += (" %I:%M" if half else " %H:%M") + ":%S" * bool(second) + " %p" * bool(half)
    return form, pattern


def read_time(column: str, form: str | None, order: DayMonth, like: str | None = None) -> str:
    """Read text as a time in the form that was declared, or in any."""
    if form is not None and form not in NAMED:
        return f"coalesce({pattern_time(column, form)}, {moment_text(column)})"
    if form == "iso":
        # A bare cast would become part of reading the file, and fail where it must be missing.
        return iso_time(f"trim({column})")
    declared: dict[str | None, DayMonth] = {"day-first": "day", "month-first": "month"}
    return text_time(column, declared.get(form, order), like)


def iso_time(column: str) -> str:
    """Read text as a time in ISO 8601, and nothing else."""
    return f"try_cast({column} AS {INSTANT})"


def pattern_time(column: str, pattern: str) -> str:
    """Read text by a pattern of strptime."""
    return f"try_strptime(trim({column}), {literal(pattern)})::{INSTANT}"


def moment_text(column: str) -> str:
    """Read the text of a moment in memory (see `cells`), whatever form text is declared to have.

    A column of moments becomes one of objects where a single value is anything else.
    """
    form = r"^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?(\+00)?)?$"
    return f"CASE WHEN regexp_matches({column}, '{form}') THEN {iso_time(column)} END"


def odd_text(column: str) -> str:
    """Whether text may be a time, but is neither one in ISO 8601 nor a number."""
    iso = iso_time(column)
    return (
        f"CASE WHEN {iso} >= '0100-01-01'::{INSTANT} OR {column} IS NULL THEN false "
        f"WHEN {iso} IS NOT NULL THEN true WHEN try_cast({column} AS {NUMBER}) IS NOT NULL "
        f"THEN false ELSE regexp_matches({column}, '[0-9]') END"
    )


def day_month(column: str) -> str:
    """What a stamp tells of the order of day and month, as bits; 0 where it tells nothing.

    Any stamp that would be another time if the other came first has a bit.
    """
    # Blanks of all kinds go, as they do where a stamp is read.
    parts = f"regexp_extract(trim({column}), '{_SLASHED}', ['a', 'mark', 'b', 'again'])"
    return (
        f"CASE WHEN NOT (contains({column}, '/') OR contains({column}, '-')) THEN 0 "
        f"WHEN {column} IS NULL OR try_cast({column} AS {INSTANT}) >= '0100-01-01' THEN 0 "
        f"ELSE list_transform([{parts}], lambda p: CASE WHEN p.a = '' OR p.mark <> p.again THEN 0 "
        "WHEN p.a::INTEGER > 12 AND p.b::INTEGER <= 12 THEN 1 "
        "WHEN p.b::INTEGER > 12 AND p.a::INTEGER <= 12 THEN 2 "
        "WHEN p.a::INTEGER <= 12 AND p.a::INTEGER <> p.b::INTEGER THEN 4 ELSE 0 END)[1] END"
    )


def number_time(number: str) -> str:
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


def declared_number(number: str, form: str) -> str:
    """Read a number as microseconds since 1970, by what it was declared to count."""
    n = f"({number})::DOUBLE"
    micros = {
        "epoch": f"{n} * 1e6",
        "epoch-ms": f"{n} * 1e3",
        "epoch-us": n,
        # To the millisecond: a third of a day has no end in binary.
        "excel": f"round(({n} - 25569) * 86400000) * 1e3",
    }
    if form not in micros:
        return "NULL::BIGINT"
    # What is far from all calendars is no time.
    moment = f"round({micros[form]})"
    return f"CASE WHEN abs({moment}) < 2e17 THEN try_cast({moment} AS BIGINT) END"


def _written(text: str, way: str, order: DayMonth) -> str:
    """Read one way to write a date, with or without a time."""
    pattern, names = _DATES[way]
    parts = ", ".join(f"'{name}'" for name in (*names, *_CLOCK_PARTS))
    clock = _CLOCK
    if way == "compact":
        clock = clock.replace(r"[:.](\d{1,2})", r":?(\d{2})")
    found = f"regexp_extract({text}, '^{pattern}{clock}', [{parts}])"
    date = "printf('%04d-%s-%s', {y}, p.m, p.d)"
    year = "p.y::INTEGER"
    if way == "numbers":
        date = _by_numbers(order)
    elif "name" in names:
        by_name = "".join(f" WHEN '{name}' THEN {month}" for name, month in _MONTHS.items())
        date = f"printf('%04d-%d-%s', {{y}}, CASE left(p.name, 3){by_name} END, p.d)"
        year = _full_year("p.y")
    if way == "numbers":
        year = _full_year("p.y")
    date = date.replace("{y}", year)
    hour = (
        "CASE WHEN p.half = '' THEN p.hour::INTEGER "
        "WHEN p.hour::INTEGER NOT BETWEEN 1 AND 12 THEN 99 "
        "WHEN p.half[1] = 'p' THEN p.hour::INTEGER % 12 + 12 ELSE p.hour::INTEGER % 12 END"
    )
    zone = (
        "CASE WHEN p.zone IN ('', 'z', 'utc', 'gmt') THEN '+00' "
        "WHEN len(p.zone) = 2 THEN p.zone[1] || '0' || p.zone[2] ELSE p.zone END"
    )
    clock_text = (
        "CASE WHEN p.hour = '' THEN '' WHEN p.minute = '' AND p.half = '' THEN 'none' "
        f"ELSE printf(' %02d:%s:%s.%s%s', {hour}, lpad(p.minute, 2, '0'), lpad(p.sec, 2, '0'), "
        f"coalesce(nullif(p.fraction, ''), '0'), {zone}) END"
    )
    whole = f"try_cast({date} || {clock_text} AS {INSTANT})"
    # The parts of what does not fit are all empty. A pattern cannot say that a mark comes again.
    fits = "p.y <> '' AND p.mark = p.again" if way == "numbers" else "p.y <> ''"
    return f"list_transform([{found}], lambda p: CASE WHEN {fits} THEN {whole} END)[1]"


def _by_numbers(order: DayMonth) -> str:
    """Put together day and month; with dots between them, the day comes first."""
    day = "printf('%04d-%s-%s', {y}, p.second, p.first)"
    month = "printf('%04d-%s-%s', {y}, p.first, p.second)"
    if order == "day":
        return day
    if order == "month":
        return f"CASE WHEN p.mark = '.' THEN {day} ELSE {month} END"
    return f"CASE WHEN p.mark = '.' OR p.second::INTEGER <= 12 THEN {day} ELSE {month} END"


def _full_year(year: str) -> str:
    """Years of two digits are those from 1970 to 2069."""
    return (
        f"CASE WHEN len({year}) = 4 THEN {year}::INTEGER "
        f"WHEN {year}::INTEGER >= 70 THEN 1900 + {year}::INTEGER ELSE 2000 + {year}::INTEGER END"
    )
