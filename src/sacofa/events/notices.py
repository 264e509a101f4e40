"""What the person who holds a log is told of it; all of it is confidential."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..kernel.statements import Statement

Notify = Callable[[Statement], None]
"""Receives what the person who holds the log should know of it; never part of a release."""

BLANK = " \t\n\r\f\v"
"""A text of these letters alone names nobody. No others: not every database has more."""

COUNTED = ("untimed", "disordered", "joined", "undone", "varying", "dropped")
"""What is counted while a log is read: each has an entry `notice.counts.…`."""


def is_blank(text: str | None) -> bool:
    """Whether a text names nobody."""
    return text is None or not text.strip(BLANK)


def tell(notify: Notify | None, statement: Statement) -> None:
    """Tell the holder of a log, if somebody listens."""
    if notify is not None:
        notify(statement)


def notify_counts(
    notify: Notify | None,
    *,
    max_cases: int | None = None,
    more: Iterable[Statement] = (),
    **counts: int,
) -> None:
    """Tell what was counted on the way, where it is more than 0.

    Args:
        notify: Called with each notice.
        max_cases: The maximum number of cases per person.
        more: Further notices, which come first.
        counts: What was counted, by the names in `COUNTED`.
    """
    assert counts.keys() <= set(COUNTED), counts
    for note in more:
        tell(notify, note)
    for name in COUNTED:
        if number := counts.get(name, 0):
            values = {"max_cases": max_cases} if name == "dropped" else {}
            tell(notify, Statement(f"notice.counts.{name}", number=number, **values))
