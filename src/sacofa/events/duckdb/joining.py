"""A date and a time of day in two columns, joined as one time stamp, as SQL.

The joined text follows from the two cells of its row and from what is declared, never from other
rows. A time of day is written 14:23:59, 2:23 PM, 142359 (SAP), as a part of a day (0.6, as
spreadsheets count) or as a full time stamp, whose date is ignored. A cell that is neither makes the
time stamp unreadable. A cell that could be read in two ways, such as 930 (9:30 or 0:09:30), is
refused unless a pattern or the name of its column decides.
"""

from __future__ import annotations

from collections.abc import Callable

from ..cells.duckdb_sql import FLOATING
from ..columns import DateAndTime
from .database import literal

MIDNIGHT = (
    r"[ T]+(?:00?[:.]00(?:[:.]00(?:[.,]0+)?)?|12:00(?::00)?\s*AM)\s*(?:Z|UTC|[+-]00(?::?00)?)?$"
)
"""What spreadsheets and frames write after a date that has no time of day."""

ANY_DATE = r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T]+"
"""What spreadsheets and frames write before a time of day that has no date."""

CLOCK = r"^(?:\d{1,2}[:.]\d{2}|\d{1,2}\s*[AaPp]\.?[Mm])"
"""How a time of day begins that is written with a mark between its parts, or with AM or PM."""

UNREADABLE = "?"
"""Stands for a half that is missing or cannot be read."""


def join_times(joined: DateAndTime, text: Callable[[str], str], time_kind: str) -> tuple[str, str]:
    """Join two columns; `text` gives one as text, `time_kind` is the type of the second.

    Gives, as SQL, date and time of day as one text, missing where both are missing, and whether the
    time of day can be read in two ways.
    """
    date, time = text(joined.date), text(joined.time)
    clock = f"regexp_replace(trim({time}), {literal(ANY_DATE)}, '')"
    day = f"regexp_replace(trim({date}), {literal(MIDNIGHT)}, '', 'i')"
    # A date with a time of day of its own would give the joined time stamp two of them.
    day = f"CASE WHEN NOT contains({day}, ':') THEN nullif({day}, '') END"
    if joined.form is not None and "%" in joined.form:
        read, two_ways = _padded(clock, joined.form), "false"
    else:
        read, two_ways = _clock(clock, joined.six_digits, time_kind in FLOATING)
    whole = (
        f"(CASE WHEN {date} IS NOT NULL OR {time} IS NOT NULL THEN "
        f"coalesce({day}, '{UNREADABLE}') || ' ' || coalesce({read}, '{UNREADABLE}') END)"
    )
    return whole, f"coalesce({two_ways}, false)"


def _clock(time: str, six_digits: bool, is_fraction: bool) -> tuple[str, str]:
    """A time of day with colons, missing where it is none, and whether two ways are open."""
    digits = r"\d{1,6}" if six_digits else r"\d{5,6}|0+"
    fraction = r"0?[.,]\d+" if is_fraction else r"0?[.,]\d{3,}"
    six, day = f"lpad({time}, 6, '0')", f"replace({time}, ',', '.')"
    # To the millisecond: a third of a day has no end in binary.
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


def _padded(time: str, pattern: str) -> str:
    """A time of day with the zeros that numbers do not keep, as the declared pattern needs them."""
    width = {"%H%M%S": 6, "%H%M": 4}.get(pattern.rpartition(" ")[2])
    if width is None:
        return f"nullif({time}, '')"
    short = f"regexp_full_match({time}, '\\d{{1,{width}}}')"
    return f"CASE WHEN {short} THEN lpad({time}, {width}, '0') ELSE nullif({time}, '') END"
