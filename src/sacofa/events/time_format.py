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
EITHER: dict[str, object] = {
    "day_first": Argument("time_format", "day-first"),
    "month_first": Argument("time_format", "month-first"),
}
REMEDIES: dict[str, dict[str, object]] = {
    "only_iso": {"order": IN_FILE_ORDER},
    "unreadable": {"form": FORM, "order": IN_FILE_ORDER},
    "not_as_declared": {"forms": tuple(NAMED), "example": PATTERN},
    "mixed": {"form": FORM},
    "mixed_in_row": {"form": FORM},
    "numbers": {"form": FORM, "time": Argument("time", False)},
    "open_order": EITHER,
    "both_orders": EITHER,
}
"""What can be done about times that cannot be read."""


def check_time_format(form: str | None) -> None:
    """Refuse a form that is neither a name nor a pattern."""
    if form is not None and form not in NAMED and "%" not in form:
        must = Statement("must.read.time_format", forms=tuple(NAMED), example=PATTERN)
        raise SettingError("time_format", form, advised(must, form, NAMED))


def times_unread(code: str, column: str | None, **values: object) -> Statement:
    """Why the times of a column cannot be read, and what to do; `values` are shown shortened."""
    shown = {name: _shown(it) if isinstance(it, str) else it for name, it in values.items()}
    return Statement(f"read.times.{code}", column=column or "", **REMEDIES[code], **shown)


def _shown(value: str) -> str:
    """A value as a message shows it: words that no date is written with may be names of people."""
    value = re.sub(r"[^\W\d_]+", lambda w: w[0] if w[0].lower() in DATE_WORDS else "x", value)
    short = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
    return plain(short)
