"""Activity instances: events at the start of work, joined with events at its end.

An activity that was started and completed is one event. So a start is joined with the first later
completion of the same activity in the same case that is not joined yet; all others are events of
their own. Only events of one case are joined, so no case changes another.

    transition                                             what becomes of the event
    complete, none, unknown, or no standard one            an event; with a start before it, of both
    start                                                  joined with its completion, else an event
    schedule, assign, reassign, suspend, resume,           no event: nothing was done
    withdraw, autoskip, manualskip, ate_abort, pi_abort
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence

TRANSITION = "lifecycle:transition"
"""The XES attribute with the life-cycle transition of an event."""

START = "start"

NO_WORK = (
    "schedule", "assign", "reassign", "suspend", "resume", "withdraw", "autoskip", "manualskip",
    "ate_abort", "pi_abort",
)  # fmt: skip
"""Standard transitions of XES that do not record work."""


def join_instances(
    transitions: Sequence[str | None], activities: Sequence[Hashable]
) -> list[tuple[int, int | None]]:
    """Return the events of a case that count, each with the event at which it began.

    Events are indices into the lists, in the order of the case; an unknown beginning is None.
    """
    began: dict[Hashable, deque[int]] = defaultdict(deque)
    kept: dict[int, int | None] = {}
    for place, (transition, activity) in enumerate(zip(transitions, activities, strict=True)):
        word = (transition or "").strip().lower()
        if word == START:
            began[activity].append(place)
            kept[place] = place
        elif word not in NO_WORK:
            open_starts = began[activity]
            start = open_starts.popleft() if open_starts else None
            if start is not None:
                del kept[start]
            kept[place] = start
    return list(kept.items())
