"""Released events as frames of other libraries, with pm4py's names of columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError
from ...events.columns import TRUNCATED
from ...events.released import CORE_KEY, START_KEY, TIME_KEY
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from .blocks import describe_times, event_blocks

if TYPE_CHECKING:
    import pandas
    import polars

TIMES = ("time:timestamp", START_KEY)
"""The columns that hold times."""
TYPES: dict[Kind, Callable[[str], object]] = {
    "string": str,
    "int": int,
    "float": float,
    "boolean": lambda text: text == "true",
    "date": datetime.fromisoformat,
}
"""What released values are in Python."""


def event_columns(log: ReleasedLog) -> dict[str, NDArray[np.generic] | list[object]]:
    """The events of a released log in columns; times are in seconds since 1970."""
    events = next(event_blocks(log, log.variants.events))
    names = np.array(log.variants.activities, dtype=object)
    columns: dict[str, NDArray[np.generic] | list[object]] = {
        "case:concept:name": events.case.astype(str),
        "concept:name": names[events.activity_id],
        "time:timestamp": events.seconds,
        **({} if events.starts is None else {START_KEY: events.starts}),
        TRUNCATED: events.truncated,
        **({} if events.core is None else {f"case:{CORE_KEY}": events.core}),
    }
    for column, codes in zip(log.columns, events.values, strict=True):
        # The last place is for no value, whose code is −1.
        values = [*map(TYPES[column.kind], column.texts), None]
        columns[column.key] = [values[code] for code in codes.tolist()]
    columns[TIME_KEY] = np.full(len(events), describe_times(log), dtype=object)
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
        key: polars.Series(list(columns[key]), dtype=polars.String)
        for key in ("case:concept:name", "concept:name")
    }
    frame = polars.DataFrame(columns | names)
    times = [polars.col(key).cast(polars.Int64) for key in TIMES if key in columns]
    return frame.with_columns(
        polars.from_epoch(seconds, time_unit="s").dt.replace_time_zone("UTC") for seconds in times
    )
