"""Released cases, event by event: the one generator that feeds all writers and frames.

The cases of the most frequent variant come first, and cases are numbered 1, 2, 3, ... in the order
of the file, so that a file reveals no more than the variants and their counts do. A case without
events has no row. If a release has no times, artificial ones are written, here and nowhere else:
2000-01-01, a second later for each case and a second later for each event; every file says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError
from ...events.columns import TRUNCATED
from ...events.released import ARTIFICIAL, PRIVATE, START_KEY, TIME_KEY
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from .format import ACTIVITY, CASE, CORE, TIME

if TYPE_CHECKING:
    import pandas
    import polars

START = datetime(2000, 1, 1, tzinfo=UTC)
"""The time before the first event of the first case if times are artificial."""
BLOCK = 1 << 20
"""Target number of events per block."""
TIMES = (TIME, START_KEY)
"""The columns that hold times."""
TYPES: dict[Kind, Callable[[str], object]] = {
    "string": str,
    "int": int,
    "float": float,
    "boolean": lambda text: text == "true",
    "date": datetime.fromisoformat,
}
"""The Python type of released values of each type."""


@dataclass(frozen=True, kw_only=True)
class EventBlock:
    """Events of whole cases, in columns."""

    case: NDArray[np.int64]
    """The number of the case of each event."""
    activity_id: NDArray[np.int32]
    """The activity of each event."""
    seconds: NDArray[np.int64]
    """When it happened, in seconds since 1970."""
    truncated: NDArray[np.bool_]
    """Whether the case of each event went on."""
    core: NDArray[np.bool_] | None
    """Whether the case of each event is of the orderly core; None: none is marked."""
    starts: NDArray[np.int64] | None
    """When the work on it began, as `seconds`; None: not known."""
    values: tuple[NDArray[np.int32], ...]
    """The codes of each attribute."""


def describe_times(log: ReleasedLog) -> str:
    """Return the statement that a file makes about its times."""
    return ARTIFICIAL if log.times is None else PRIVATE


def event_blocks(log: ReleasedLog, most: int | None = None) -> Iterator[EventBlock]:
    """Yield all events in blocks of whole cases, of about `most` events each; at least one block.

    Memory holds one block, however many cases there are of a variant.
    """
    most = BLOCK if most is None else most
    variants = log.variants
    order = np.argsort(-variants.counts, kind="stable")
    order = order[variants.lengths[order] > 0]
    lengths, counts = variants.lengths[order], variants.counts[order]
    # Large counts are split into pieces first, so that no variant is larger than a block.
    fit = np.maximum(most // lengths, 1)
    pieces = -(-counts // fit)
    owner = np.repeat(np.arange(len(order)), pieces)
    first = _places_within(pieces) * fit[owner]
    count = np.minimum(fit[owner], counts[owner] - first)
    ends = np.cumsum(count * lengths[owner])
    start, number = 0, 1
    while True:
        # As many pieces as fill a block, at least one.
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        part = slice(start, end)
        variant = np.repeat(order[owner[part]], count[part])
        nth = np.repeat(first[part], count[part]) + _places_within(count[part])
        yield _block(log, variant, nth, number)
        start, number = end, number + len(variant)
        if start >= len(owner):
            return


def _block(
    log: ReleasedLog, variant: NDArray[np.int64], nth: NDArray[np.int64], number: int
) -> EventBlock:
    """The events of cases, each given by its variant and its place there, numbered on."""
    variants, rows = log.variants, log.variants.lengths[variant]
    within = _places_within(rows)
    case = np.repeat(number + np.arange(len(variant)), rows)
    # Times and attributes lie in the order of the variants.
    sizes = variants.counts * variants.lengths
    case_at = np.repeat((np.cumsum(variants.counts) - variants.counts)[variant] + nth, rows)
    event_at = np.repeat((np.cumsum(sizes) - sizes)[variant] + nth * rows, rows) + within
    variant = np.repeat(variant, rows)
    artificial = int(START.timestamp()) + case + within + 1
    return EventBlock(
        case=case,
        activity_id=variants.activity_ids[variants.offsets[variant] + within],
        seconds=artificial if log.times is None else log.times[event_at],
        truncated=~variants.complete[variant],
        core=None if log.core is None else log.core[variant],
        starts=None if log.starts is None else log.starts[event_at],
        values=tuple(each.codes[case_at if each.of_case else event_at] for each in log.columns),
    )


def _places_within(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count 0, 1, 2, … anew within each of several groups that lie end to end."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def event_columns(log: ReleasedLog) -> dict[str, NDArray[np.generic] | list[object]]:
    """The events of a released log in columns; times are in seconds since 1970."""
    events = next(event_blocks(log, log.variants.events))
    names = np.array(log.variants.activities, dtype=object)
    columns: dict[str, NDArray[np.generic] | list[object]] = {
        CASE: events.case.astype(str),
        ACTIVITY: names[events.activity_id],
        TIME: events.seconds,
        **({} if events.starts is None else {START_KEY: events.starts}),
        TRUNCATED: events.truncated,
        **({} if events.core is None else {CORE: events.core}),
    }
    for column, codes in zip(log.columns, events.values, strict=True):
        # The last place is for no value, whose code is −1.
        values = [*map(TYPES[column.kind], column.texts), None]
        columns[column.key] = [values[code] for code in codes.tolist()]
    columns[TIME_KEY] = np.full(len(events.case), describe_times(log), dtype=object)
    return columns


def to_pandas(log: ReleasedLog) -> pandas.DataFrame:
    """The events of a released log as a pandas frame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "evaluate") from None
    frame = pandas.DataFrame(event_columns(log))
    for key in frame.columns.intersection(list(TIMES)):
        frame[key] = pandas.to_datetime(frame[key], unit="s", utc=True)
    return frame


def to_polars(log: ReleasedLog) -> polars.DataFrame:
    """The events of a released log as a polars frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "polars") from None
    columns = event_columns(log)
    names = {
        key: polars.Series(list(columns[key]), dtype=polars.String) for key in (CASE, ACTIVITY)
    }
    frame = polars.DataFrame(columns | names)
    times = [polars.col(key).cast(polars.Int64) for key in TIMES if key in columns]
    return frame.with_columns(
        polars.from_epoch(seconds, time_unit="s").dt.replace_time_zone("UTC") for seconds in times
    )
