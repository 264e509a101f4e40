"""How the events of a case are put in order, as SQL.

Events are ordered by time k and row r, or by row alone. Where all fits, an event is one number:
its time, below that its row, and in the lowest bits its activity. To sort lists of numbers takes
half the time of ordering activities by something else, and the lowest bits are the activities.
"""

from __future__ import annotations

from dataclasses import dataclass

PLACE_BITS = 63
"""How many bits row and activity may take together in a packed number."""

MOMENTS = {
    "TIMESTAMP_NS": "epoch_ns({})",
    "TIMESTAMP": "epoch_us({})",
    "TIMESTAMP WITH TIME ZONE": "epoch_us({})",
    **dict.fromkeys(("DATE", "TIMESTAMP_S", "TIMESTAMP_MS"), "epoch_us(try_cast({} AS TIMESTAMP))"),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"),
        "{}::BIGINT",
    ),
}
"""For each type of time stamp that is a number of 64 bits, how to get that."""


def moment(key: str, kind: str) -> str | None:
    """Give a time stamp of some type as a number of 64 bits, which is missing if it has none."""
    return MOMENTS[kind].format(key) if kind in MOMENTS else None


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """What is kept of events to put them in order, and how that is done."""

    columns: str
    """What is kept of a row with activity id i, row r and time k."""
    by: str
    """What events are ordered by."""
    activity: str
    """The activity id of an event; missing if the row is none."""
    variant: str
    """The activity ids of the events of a case, in order: an aggregate."""

    @classmethod
    def plain(cls, *, timed: bool, lone: bool) -> Ordering:
        """Order by anything that can be compared; `lone` if some rows are no events."""
        by = "k, r" if timed else "r"
        events = f"list(i ORDER BY {by})"
        return cls(
            columns=f"i, {by}",
            by=by,
            activity="i",
            variant=f"coalesce({events} FILTER (i IS NOT NULL), [])" if lone else events,
        )

    @classmethod
    def packed(cls, code: str, *, bits: int, timed: bool, lone: bool) -> Ordering:
        """Order by numbers; the activity id, of type `code`, is in the lowest bits."""
        # A number of 128 bits has a sign, so there are 127: 64 are for the time.
        event = f"((k::HUGEINT + {1 << 63}) << {PLACE_BITS}) | s" if timed else "s"
        events, mask = f"list({event})", (1 << bits) - 1
        if lone:
            events = f"coalesce({events} FILTER (s IS NOT NULL), [])"
        return cls(
            columns=f"(r << {bits}) | i AS s" + (", k" if timed else ""),
            by="k, s" if timed else "s",
            activity=f"(s & {mask})::{code}",
            variant=f"list_transform(list_sort({events}), lambda e: (e & {mask})::{code})",
        )
