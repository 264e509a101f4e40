"""How time stamps are written: what can be declared, and what to say of stamps that cannot be read.

A stamp is read by itself wherever it can be: `2025-12-31 14:05`, `31.12.2025`, `31 Dec 2025` and a
number of seconds since 1970 mean the same whatever stands beside them. Only `3/4/2025` leaves open
which of day and month comes first. That is told by other stamps of the column (`31/12/2025`), and
one way alone is taken from them: where they contradict each other, or none tells, the log is
refused, and somebody has to say it. So of two neighbouring logs that are both read, every stamp
that is in both is read the same.
"""

from __future__ import annotations

import re
from typing import Literal

from ..errors import Argument, Part, SettingError, nearest, plain

Named = Literal[
    "iso", "day-first", "month-first", "epoch", "epoch-ms", "epoch-us", "excel", "number"
]

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

DATE_WORDS = frozenset({
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "januar", "jänner", "februar", "märz", "mai", "juni",
    "juli", "oktober", "dezember", "jan", "feb", "mar", "mär", "apr", "jun", "jul", "aug", "sep",
    "sept", "oct", "okt", "nov", "dec", "dez", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    "am", "pm", "a", "p", "m", "t", "z", "utc", "gmt", "uhr",
})  # fmt: skip
"""Words that dates are written with: messages show them."""

LONGEST_SHOWN = 60
"""So much of a time stamp is shown in a message."""


def check_time_format(form: str | None) -> None:
    """Refuse a form that is neither a name nor a pattern."""
    if form is not None and form not in NAMED and "%" not in form:
        raise SettingError(
            "time_format",
            form,
            f"one of {', '.join(NAMED)}, or a pattern such as %d.%m.%Y %H:%M."
            f"{nearest(form, NAMED)}",
        )


def only_iso(column: str) -> tuple[Part, ...]:
    """Say that no time stamp can be read, where ISO 8601 is the only form."""
    return (
        f'no time stamp in column "{column}" can be read: write them as 2025-12-31 or '
        "2025-12-31T14:05:00+01:00, or take the events as they stand (",
        Argument("order", "file"),
        ")",
    )


def unreadable_times(column: str, value: str, form: str | None = None) -> tuple[Part, ...]:
    """Say that no time stamp of a column can be read, and what to do."""
    such = f" (such as {_shown(value)})"
    if form is not None:
        return (
            f'no time stamp in column "{column}" can be read{such} as ',
            Argument("time_format", form),
            f" says: choose one of {', '.join(NAMED)}, or a pattern such as %d.%m.%Y %H:%M",
        )
    return (
        f'no time stamp in column "{column}" can be read{such}: write them as 2025-12-31 14:05:00, '
        "31.12.2025 14:05, 12/31/2025 2:05 PM, 31 Dec 2025 or as seconds since 1970, say how they "
        "are written (",
        Argument("time_format"),
        "), or take the events as they stand (",
        Argument("order", "file"),
        ")",
    )


def unknown_numbers(column: str, value: str) -> tuple[Part, ...]:
    """Say that the numbers of a column are no times that are known."""
    return (
        f'no time stamp in column "{column}" is a time: nobody knows what {_shown(value)} counts. '
        "Say it with ",
        Argument("time_format"),
        ": excel, epoch, epoch-ms or epoch-us. Or spend nothing on times (",
        Argument("time", False),
        ")",
    )


def mixed_times(column: str, row: int | None = None) -> tuple[Part, ...]:
    """Say that a column has times, and numbers that are none."""
    where = "holds numbers" if row is None else f"holds a number in row {row}"
    return (
        f'column "{column}" {where} that cannot be read as a time, next to times: correct the '
        "value, or declare how time stamps are written (",
        Argument("time_format"),
        ")",
    )


def open_order(column: str, value: str) -> tuple[Part, ...]:
    """Say that nothing tells which of day and month comes first."""
    return (
        f'nothing tells which of day and month comes first in column "{column}", as in '
        f"{_shown(value)}: say ",
        Argument("time_format", "day-first"),
        " or ",
        Argument("time_format", "month-first"),
    )


def both_orders(column: str, day: str, month: str) -> tuple[Part, ...]:
    """Say that a column has stamps of both kinds."""
    return (
        f'the day comes first in some time stamps of column "{column}" ({_shown(day)}) and the '
        f"month in others ({_shown(month)}): say ",
        Argument("time_format", "day-first"),
        " or ",
        Argument("time_format", "month-first"),
        ", and those written otherwise count as missing",
    )


def _shown(value: str) -> str:
    """A value as a message shows it: words that no date is written with may be names of people."""
    value = re.sub(r"[^\W\d_]+", lambda w: w[0] if w[0].lower() in DATE_WORDS else "x", value)
    short = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
    return f'"{plain(short)}"'
