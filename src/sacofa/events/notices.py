"""Notices for the holder of the log; all of them are confidential."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..base.cells import BLANK
from ..kernel.statements import Statement

Notify = Callable[[Statement], None]
"""Receives notices for the holder of the log, which are never part of a release."""

COUNTED = ("untimed", "disordered", "joined", "undone", "varying", "dropped")
"""Quantities that are counted while a log is read; each has an entry `notice.counts.…`."""


def is_blank(text: str | None) -> bool:
    """Whether a person is blank."""
    return text is None or not text.strip(BLANK)


def notify_counts(
    notify: Notify | None,
    *,
    max_cases: int | None = None,
    more: Iterable[Statement] = (),
    **counts: int,
) -> None:
    """Report `more` notices, then the counts of the names in `COUNTED` that are not 0."""
    assert counts.keys() <= set(COUNTED), counts
    if notify is None:
        return
    for note in more:
        notify(note)
    for name in COUNTED:
        if number := counts.get(name, 0):
            values = {"max_cases": max_cases} if name == "dropped" else {}
            notify(Statement(f"notice.counts.{name}", number=number, **values))
