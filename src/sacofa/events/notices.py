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
    joined: int = 0,
    undone: int = 0,
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
        one = untimed == 1
        notify(
            f"{count_of(untimed, 'event')} {'has' if one else 'have'} no time stamp that can be "
            f"read: {'it comes last in its case' if one else 'they come last in their case'}"
        )
    if disordered:
        notify(
            f"the time stamps of {count_of(disordered, 'case')} contradict the order of the "
            "events, which is kept: choose the order by time if the times are right"
        )
    if joined:
        notify(f"{count_of(joined, 'start')} of work joined with the end of it, as one event each")
    if undone:
        notify(
            f"{count_of(undone, 'event')} left out that only tell of work to be done, or that was "
            "not done (such as schedule or withdraw)"
        )
    if varying:
        notify(
            f"{count_of(varying, 'case')} with more than one person: the first in the case counts, "
            "and the others are not protected there"
        )
    if dropped:
        notify(
            f"{count_of(dropped, 'case')} left out, of persons with more than {max_cases}: "
            "the first of each are counted"
        )


def count_of(number: int, one: str, many: str | None = None) -> str:
    """A number with what it counts."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
