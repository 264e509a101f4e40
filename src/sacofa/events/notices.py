"""What the person who holds a log is told of it; all of it is confidential."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..base.cells import BLANK
from ..kernel.statements import Statement

Notify = Callable[[Statement], None]
"""Receives what the person who holds the log should know of it; never part of a release."""

COUNTED = ("untimed", "disordered", "joined", "undone", "varying", "dropped")
"""What is counted while a log is read: each has an entry `notice.counts.…`."""


def is_blank(text: str | None) -> bool:
    """Whether a text names nobody."""
    return text is None or not text.strip(BLANK)


def notify_counts(
    notify: Notify | None,
    *,
    max_cases: int | None = None,
    more: Iterable[Statement] = (),
    **counts: int,
) -> None:
    """Tell `more` notices, then what was counted by the names in `COUNTED`, if it is not 0."""
    assert counts.keys() <= set(COUNTED), counts
    if notify is None:
        return
    for note in more:
        notify(note)
    for name in COUNTED:
        if number := counts.get(name, 0):
            values = {"max_cases": max_cases} if name == "dropped" else {}
            notify(Statement(f"notice.counts.{name}", number=number, **values))
