"""How the events of a case are put in order, and starts joined with their ends, as SQL.

Events are ordered by time and row, or by row alone; those without a time come last. An event is one
number: its time, below that its row, and in the lowest bits its activity. To sort lists of numbers
takes half the time of ordering activities by something else, and the lowest bits are the
activities.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lifecycle import NOT_DONE, START

PLACE_BITS = 62
"""How many bits row and activity may take together."""

BEGAN, DONE = 1, 0
"""What the column `stage` says of a row."""


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """How rows with a place (row and activity id) and, if `timed`, a time_key are ordered."""

    bits: int
    """The activity id is in so many of the lowest bits of the place."""
    code: str
    """The type of activity ids."""
    timed: bool
    """Whether the time comes before the row."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What is needed of a row; the place is missing where it is no event."""
        return ("place", "time_key") if self.timed else ("place",)

    @property
    def by(self) -> str:
        """What events are ordered by."""
        return "time_key NULLS LAST, place" if self.timed else "place"

    @property
    def activity(self) -> str:
        """The activity id of an event; missing if the row is none."""
        return f"(place & {(1 << self.bits) - 1})::{self.code}"

    @property
    def variant(self) -> str:
        """The activity ids of the events of a case, in order: an aggregate."""
        events = f"coalesce(list({self.rank('place')}) FILTER (place IS NOT NULL), [])"
        mask = (1 << self.bits) - 1
        return f"list_transform(list_sort({events}), lambda e: (e & {mask})::{self.code})"

    def rank(self, row: str) -> str:
        """What rows are compared by, as one number with `row` in the lowest bits."""
        if not self.timed:
            return row
        # A number of 128 bits has a sign, so there are 127: 64 are for the time, and one more is
        # for having none, so that it comes after the last time there can be.
        time = f"coalesce(time_key::HUGEINT + {1 << 63}, {1 << 64}::HUGEINT) << {PLACE_BITS}"
        return f"({time}) | {row}"


def stage_of(transition: str) -> str:
    """What an event tells of its activity; missing where nothing was done."""
    word = f"lower(trim(coalesce({transition}, '')))"
    nothing = ", ".join(f"'{name}'" for name in NOT_DONE)
    return (
        f"(CASE WHEN {word} = '{START}' THEN {BEGAN} WHEN {word} IN ({nothing}) THEN NULL "
        f"ELSE {DONE} END)::TINYINT"
    )


def join_instances(sql: str, order: Ordering, *, timed: bool) -> str:
    """Give rows without the starts that were joined (see `lifecycle`), for all cases of a part.

    Of one activity of one case, in order, let s and c be the starts and the completions so far. A
    completion finds no start where c - s reaches a new height; of the others, the n-th belongs to
    the n-th start. `timed` adds start_us, when work began.
    """
    of_one = f"PARTITION BY case_id, {order.activity}"
    so_far = f"({of_one} ORDER BY {order.by} ROWS UNBOUNDED PRECEDING)"
    counted = (
        f"SELECT *, count_if(stage = {BEGAN}) OVER {so_far} AS s, "
        f"count_if(stage = {DONE}) OVER {so_far} AS c FROM {sql}"
    )
    alone = f"SELECT *, greatest(max(c - s) OVER {so_far}, 0) AS alone FROM ({counted})"
    placed = (
        f"SELECT *, max(c) OVER ({of_one}) - max(alone) OVER ({of_one}) AS pairs, "
        f"CASE WHEN stage = {BEGAN} THEN s WHEN alone = coalesce(lag(alone) OVER "
        f"({of_one} ORDER BY {order.by}), 0) THEN c - alone END AS pair FROM ({alone})"
    )
    began = ""
    if timed:
        # A start that nobody ended is an event, too, and began when it happened.
        first = f"max(CASE WHEN stage = {BEGAN} THEN time_us END) OVER ({of_one}, pair)"
        began = f", CASE WHEN pair IS NOT NULL THEN {first} END AS start_us"
    return (
        "(SELECT * EXCLUDE (s, c, alone, pairs, pair) REPLACE (CASE WHEN place IS NULL "
        f"OR (stage = {BEGAN} AND pair <= pairs) THEN NULL ELSE place END AS place){began} "
        f"FROM ({placed}))"
    )
