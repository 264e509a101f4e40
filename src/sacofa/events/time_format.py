"""Formats of time stamps: their declaration, and messages about unreadable stamps.

A stamp is parsed independently if possible: `2025-12-31 14:05`, `31.12.2025`, `31 Dec 2025` and a
number of seconds since 1970. Only the order of day and month in `3/4/2025` is ambiguous. Other
stamps of the column resolve it (`31/12/2025`). If they contradict each other, or none resolves it,
the log is refused. So of two neighbouring logs that are both read, every stamp in both is read the
same.
"""

from __future__ import annotations

import re

from ..base.words import WORDS
from ..errors import Argument, SettingError, Statement, advised, plain

NAMED_FORMATS: dict[str, str] = {
    "iso": "2025-12-31 14:05:00, with or without an offset",
    "day-first": "31/12/2025 14:05",
    "month-first": "12/31/2025 2:05 PM",
    "epoch": "seconds since 1970",
    "epoch-ms": "milliseconds since 1970",
    "epoch-us": "microseconds since 1970",
    "excel": "days since 1900, as spreadsheets count them",
    "number": "an order, and no time",
}
"""Named formats, each with an example."""

NUMBERS = ("epoch", "epoch-ms", "epoch-us", "excel", "number")
"""Forms that are numbers."""

DATE_WORDS = frozenset(WORDS["dates"])
"""Words that occur in dates: messages may repeat them."""

LONGEST_SHOWN = 60
"""This much of a time stamp is shown in a message."""

PATTERN = "%d.%m.%Y %H:%M"
"""The example pattern in messages."""
FORM, IN_FILE_ORDER = Argument("time_format"), Argument("order", "file")
EITHER: dict[str, object] = {
    "day_first": Argument("time_format", "day-first"),
    "month_first": Argument("time_format", "month-first"),
}
REMEDIES: dict[str, dict[str, object]] = {
    "only_iso": {"order": IN_FILE_ORDER},
    "unreadable": {"form": FORM, "order": IN_FILE_ORDER},
    "not_as_declared": {"forms": tuple(NAMED_FORMATS), "example": PATTERN},
    "mixed": {"form": FORM},
    "mixed_in_row": {"form": FORM},
    "numbers": {"form": FORM, "time": Argument("time", False)},
    "open_order": EITHER,
    "both_orders": EITHER,
}
"""The remedies for times that cannot be read."""


def check_time_format(form: str | None) -> None:
    """Refuse a format that is neither a name nor a pattern."""
    if form is not None and form not in NAMED_FORMATS and "%" not in form:
        must = Statement("must.read.time_format", forms=tuple(NAMED_FORMATS), example=PATTERN)
        raise SettingError("time_format", form, advised(must, form, NAMED_FORMATS))


def times_unread(code: str, column: str | None, **values: object) -> Statement:
    """Return the reason why the times of a column cannot be read; `values` are shortened."""
    shown = {name: _shown(it) if isinstance(it, str) else it for name, it in values.items()}
    return Statement(f"read.times.{code}", column=column or "", **REMEDIES[code], **shown)


def _shown(value: str) -> str:
    """Shorten a value for a message: words that do not occur in dates may be personal names."""
    value = re.sub(r"[^\W\d_]+", lambda w: w[0] if w[0].lower() in DATE_WORDS else "x", value)
    short = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
    return plain(short)
