"""Released cases, event by event: the one generator that feeds all writers.

Cases are numbered 1, 2, 3, ... in the order of the variants, so that nothing tells more than the
variants and their counts do. Where a release has no times, they are made up here and nowhere else:
2000-01-01, a second later for each case and a second later for each event; every output says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..domains import Kind
from ..variants import VariantCounts

START = datetime(2000, 1, 1, tzinfo=UTC)
"""The time before the first event of the first case, where times are made up."""

START_SECONDS = int(START.timestamp())
BLOCK = 1 << 20
"""About how many events are made at a time."""

TIME_KEY = "sacofa:time"
"""The attribute of a log, or the column of a table, that says what its times are."""
ARTIFICIAL = "artificial"
"""Its value where times are made up."""
START_KEY = "start_timestamp"
"""The column of a table that says when work began, as pm4py calls it."""
CORE_KEY = "sacofa:core"
"""The attribute of a case that says whether it is of the orderly core."""
PRIVATE = "private"
"""Its value where times were drawn from private answers about the times of the log."""

NO_ACTIVITY = -1
"""The activity of the one row that stands for a case without events."""


NO_VALUE = -1
"""The code of a value that is missing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedColumn:
    """An attribute of released cases or events, in the order of the variants."""

    name: str
    """What it is called, without `case:`."""
    of_case: bool
    """Whether cases have it; else events do."""
    kind: Kind
    """The type of its values."""
    texts: tuple[str, ...]
    """Its different values, as text."""
    codes: NDArray[np.int32]
    """For each case or event the place of its value; NO_VALUE where it has none."""

    @property
    def key(self) -> str:
        """What it is called where cases and events lie in one table."""
        return f"case:{self.name}" if self.of_case else self.name


Columns = tuple[ReleasedColumn, ...]
"""All attributes of a release."""


@dataclass(frozen=True, kw_only=True)
class EventBlock:
    """Events of whole cases, in columns."""

    case: NDArray[np.int64]
    """The number of the case of each event."""
    activity_id: NDArray[np.int32]
    """What each event did; NO_ACTIVITY where the case has no events."""
    seconds: NDArray[np.int64]
    """When it happened, in seconds since 1970; of no meaning where there is no activity."""
    truncated: NDArray[np.bool_]
    """Whether the case of each event went on."""
    core: NDArray[np.bool_] | None = None
    """Whether the case of each event is of the orderly core; None: none is marked."""

    starts: NDArray[np.int64] | None = None
    """When the work on it began, as `seconds`; None: not known."""
    values: tuple[NDArray[np.int32], ...] = ()
    """The codes of each attribute."""

    def __len__(self) -> int:
        return len(self.case)


def describe_times(times: NDArray[np.int64] | None) -> str:
    """What a file says of its times."""
    return ARTIFICIAL if times is None else PRIVATE


def event_blocks(
    variants: VariantCounts,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    columns: Columns = (),
    starts: NDArray[np.int64] | None = None,
) -> Iterator[EventBlock]:
    """Make the events of all cases, about BLOCK at a time; `core` marks variants.

    `times` are those of all events, in seconds since 1970, case by case in the order of the
    variants; where there are none they are made up. `starts` say when the work on each began.
    """
    lengths = variants.lengths
    # A case without events takes one row all the same.
    rows = np.maximum(lengths, 1)
    first_case = np.cumsum(variants.counts) - variants.counts
    # Large counts are split into pieces first, so that no variant is larger than a block.
    fit = np.maximum(BLOCK // rows, 1)
    pieces = -(-variants.counts // fit)
    owner = np.repeat(np.arange(len(variants)), pieces)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    case = first_case[owner] + nth * fit[owner]
    count = np.minimum(fit[owner], variants.counts[owner] - nth * fit[owner])
    ends = np.cumsum(count * rows[owner])
    start = done = 0
    while start < len(owner):
        # As many pieces as fill a block, at least one.
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + BLOCK, side="right")), start + 1)
        part = slice(start, end)
        variant = np.repeat(owner[part], count[part])
        within = np.arange(len(variant)) - np.repeat(
            np.cumsum(count[part]) - count[part], count[part]
        )
        number = np.repeat(case[part], count[part]) + within + 1
        block = _block(variants, core, variant, number, rows[variant])
        if times is not None:
            # Rows of cases without events have no time of their own in the list.
            real = block.activity_id != NO_ACTIVITY
            block.seconds[real] = times[done : done + int(real.sum())]
            if starts is not None:
                began = block.seconds.copy()
                began[real] = starts[done : done + int(real.sum())]
                block = replace(block, starts=began)
        if columns:
            block = replace(block, values=tuple(_codes(block, each, done) for each in columns))
        done += int((block.activity_id != NO_ACTIVITY).sum())
        yield block
        start = end


def _codes(block: EventBlock, column: ReleasedColumn, done: int) -> NDArray[np.int32]:
    """The codes of an attribute for each row of a block, before which so many events came."""
    if column.of_case:
        return column.codes[block.case - 1]
    real = block.activity_id != NO_ACTIVITY
    codes = np.full(len(block), NO_VALUE, dtype=np.int32)
    codes[real] = column.codes[done : done + int(real.sum())]
    return codes


def all_events(
    variants: VariantCounts,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    columns: Columns = (),
    starts: NDArray[np.int64] | None = None,
) -> EventBlock:
    """Make the events of all cases at once, for whoever holds them in memory anyway."""
    blocks = list(event_blocks(variants, times, core, columns, starts))
    inside = None
    if core is not None:
        inside = _joined([block.core for block in blocks if block.core is not None], np.bool_)
    return EventBlock(
        case=_joined([block.case for block in blocks], np.int64),
        activity_id=_joined([block.activity_id for block in blocks], np.int32),
        seconds=_joined([block.seconds for block in blocks], np.int64),
        truncated=_joined([block.truncated for block in blocks], np.bool_),
        core=inside,
        starts=None
        if starts is None
        else _joined([block.starts for block in blocks if block.starts is not None], np.int64),
        values=tuple(
            _joined([block.values[place] for block in blocks], np.int32)
            for place in range(len(columns))
        ),
    )


def _joined(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *parts])


def _block(
    variants: VariantCounts,
    core: NDArray[np.bool_] | None,
    variant: NDArray[np.int64],
    number: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> EventBlock:
    """Make the events of cases, each given by its variant and its number."""
    place = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
    which = np.repeat(variant, rows)
    activity = np.full(len(which), NO_ACTIVITY)
    if len(variants.activity_ids):
        # The row of a case without events points past its variant: the bound keeps it inside.
        at = np.minimum(variants.offsets[which] + place, len(variants.activity_ids) - 1)
        activity = np.where(variants.lengths[which] == 0, NO_ACTIVITY, variants.activity_ids[at])
    case = np.repeat(number, rows)
    return EventBlock(
        case=case,
        activity_id=activity.astype(np.int32),
        seconds=START_SECONDS + case + place + 1,
        truncated=~variants.complete[which],
        core=None if core is None else core[which],
    )
