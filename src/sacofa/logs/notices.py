"""What the person who holds a log is told of it, in words; all of it is secret."""

from __future__ import annotations

from collections.abc import Iterable

from .source import Notify

BLANK = " \t\n\r\f\v"
"""A text of these letters alone names nobody. No others: not every database has more."""


def is_blank(text: str | None) -> bool:
    """Whether a text names nobody."""
    return text is None or not text.strip(BLANK)


def notify_counts(
    notify: Notify | None,
    *,
    untimed: int = 0,
    disordered: int = 0,
    varying: int = 0,
    dropped: int = 0,
    max_cases: int | None = None,
    more: Iterable[str] = (),
) -> None:
    """Tell what was counted on the way, where there is anything to tell."""
    if notify is None:
        return
    for note in more:
        notify(note)
    if untimed:
        have, they = ("has", "it comes") if untimed == 1 else ("have", "they come")
        notify(
            f"{_count(untimed, 'event')} {have} no time stamp that can be read: "
            f"{they} last in their case"
        )
    if disordered:
        notify(
            f"the time stamps of {_count(disordered, 'case')} contradict the order of the events, "
            "which is kept: choose order=time if the times are right"
        )
    if varying:
        notify(
            f"{_count(varying, 'case')} with more than one person: the first in the case counts, "
            "and the others are not protected there"
        )
    if dropped:
        notify(
            f"{_count(dropped, 'case')} left out, of persons with more than {max_cases}: "
            "the first of each are counted"
        )


def unreadable_times(column: str) -> str:
    """Say that no time stamp of a column can be read, and what to do."""
    return (
        f'no time stamp in column "{column}" can be read: write them as 2024-05-31, '
        "2024-05-31 18:05:00 or 2024-05-31T18:05:00+02:00, or as numbers, "
        "or take the events as they stand (order=file)"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
