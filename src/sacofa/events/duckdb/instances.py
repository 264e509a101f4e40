"""Activity instances in tables, as SQL: what module `lifecycle` says, for all cases of a part.

Of one activity of one case, in order, let s and c be the starts and the completions so far. A
completion finds no start where c - s reaches a new height; of the others, the n-th belongs to the
n-th start.
"""

from __future__ import annotations

from ..lifecycle import NOT_DONE, START
from .ordering import Ordering

BEGAN, DONE = 1, 0
"""What the column `stage` says of a row."""


def stage_of(transition: str) -> str:
    """What an event tells of its activity; missing where nothing was done."""
    word = f"lower(trim(coalesce({transition}, '')))"
    nothing = ", ".join(f"'{name}'" for name in NOT_DONE)
    return (
        f"(CASE WHEN {word} = '{START}' THEN {BEGAN} WHEN {word} IN ({nothing}) THEN NULL "
        f"ELSE {DONE} END)::TINYINT"
    )


def joined(sql: str, order: Ordering, *, timed: bool) -> str:
    """Give rows without the starts that were joined; `timed` with start_us, when work began."""
    carrier = "place" if "AS place" in order.columns[0] else "activity_id"
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
    gone = f"{carrier} IS NULL OR (stage = {BEGAN} AND pair <= pairs)"
    began = ""
    if timed:
        # A start that nobody ended is an event, too, and began when it happened.
        first = f"max(CASE WHEN stage = {BEGAN} THEN time_us END) OVER ({of_one}, pair)"
        began = f", CASE WHEN pair IS NOT NULL THEN {first} END AS start_us"
    return (
        f"(SELECT * EXCLUDE (s, c, alone, pairs, pair) "
        f"REPLACE (CASE WHEN {gone} THEN NULL ELSE {carrier} END AS {carrier}){began} "
        f"FROM ({placed}))"
    )
