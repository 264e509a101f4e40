"""How time stamps are written: what can be declared, and what to say of stamps that cannot be read.

A stamp is read by itself wherever it can be: `2025-12-31 14:05`, `31.12.2025`, `31 Dec 2025` and a
number of seconds since 1970. Only `3/4/2025` leaves open which of day and month comes first. Other
stamps of the column tell (`31/12/2025`). If they contradict each other, or none tells, the log is
refused. So of two neighbouring logs that are both read, every stamp in both is read the same.
"""

from __future__ import annotations

import re

from ..base.words import WORDS
from ..errors import Argument, SettingError, Statement, advised, plain

NAMED: dict[str, str] = {
    "iso": "2025-12-31 14:05:00, with or without an offset",
    "day-first": "31/12/2025 14:05",
    "month-first": "12/31/2025 2:05 PM",
    "epoch": "seconds since 1970",
    "epoch-ms": "milliseconds since 1970",
    "epoch-us": "microseconds since 1970",
    "excel": "days since 1900, as spreadsheets count them",
    "number": "an order, and no time",
}
"""Forms that have a name, with what they look like."""

NUMBERS = ("epoch", "epoch-ms", "epoch-us", "excel", "number")
"""Forms that are numbers."""

DATE_WORDS = frozenset(WORDS["dates"])
"""Words that dates are written with: messages show them."""

LONGEST_SHOWN = 60
"""This much of a time stamp is shown in a message."""

PATTERN = "%d.%m.%Y %H:%M"
"""The pattern that messages give as an example."""
FORM, IN_FILE_ORDER = Argument("time_format"), Argument("order", "file")
EITHER = {
    "day_first": Argument("time_format", "day-first"),
    "month_first": Argument("time_format", "month-first"),
}


def check_time_format(form: str | None) -> None:
    """Refuse a form that is neither a name nor a pattern."""
    if form is not None and form not in NAMED and "%" not in form:
        must = Statement("must.read.time_format", forms=tuple(NAMED), example=PATTERN)
        raise SettingError("time_format", form, advised(must, form, NAMED))


def only_iso(column: str) -> Statement:
    """State that no time stamp can be read, where ISO 8601 is the only form."""
    return Statement("read.times.only_iso", column=column, order=IN_FILE_ORDER)


def unreadable_times(column: str, value: str, form: str | None = None) -> Statement:
    """State that no time stamp of a column can be read, and what to do."""
    values: dict[str, object] = {"column": column, "value": _shown(value), "form": FORM}
    if form is None:
        return Statement("read.times.unreadable", **values, order=IN_FILE_ORDER)
    values |= {"form": Argument("time_format", form), "forms": tuple(NAMED), "example": PATTERN}
    return Statement("read.times.not_as_declared", **values)


def unknown_numbers(column: str, value: str) -> Statement:
    """State that the numbers of a column are no times that are known."""
    time = Argument("time", False)
    return Statement("read.times.numbers", column=column, value=_shown(value), form=FORM, time=time)


def mixed_times(column: str, row: int | None = None) -> Statement:
    """State that a column has times, and numbers that are none."""
    if row is None:
        return Statement("read.times.mixed", column=column, form=FORM)
    return Statement("read.times.mixed_in_row", column=column, row=row, form=FORM)


def open_order(column: str, value: str) -> Statement:
    """State that nothing tells which of day and month comes first."""
    return Statement("read.times.open_order", column=column, value=_shown(value), **EITHER)


def both_orders(column: str, day: str, month: str) -> Statement:
    """State that a column has stamps of both kinds."""
    shown = {"day": _shown(day), "month": _shown(month)}
    return Statement("read.times.both_orders", column=column, **shown, **EITHER)


def _shown(value: str) -> str:
    """A value as a message shows it: words that no date is written with may be names of people."""
    value = re.sub(r"[^\W\d_]+", lambda w: w[0] if w[0].lower() in DATE_WORDS else "x", value)
    short = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
    return plain(short)
