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
from .blocks import all_events, describe_times

if TYPE_CHECKING:
    import pandas
    import polars

Column = NDArray[np.generic] | list[object]
"""The values of a column."""
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


def event_columns(log: ReleasedLog) -> dict[str, Column]:
    """The events of a released log in columns; times are in seconds since 1970."""
    events, variants = all_events(log), log.variants
    names = np.array(variants.activities, dtype=object)
    columns: dict[str, Column] = {
        "case:concept:name": events.case.astype(str),
        "concept:name": names[events.activity_id],
        "time:timestamp": events.seconds,
        **({} if events.starts is None else {START_KEY: events.starts}),
        TRUNCATED: events.truncated,
    }
    if events.core is not None:
        columns[f"case:{CORE_KEY}"] = events.core
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
    columns = event_columns(log)
    times = {
        key: pandas.to_datetime(columns[key], unit="s", utc=True) for key in TIMES if key in columns
    }
    return pandas.DataFrame(columns | times)


def to_polars(log: ReleasedLog) -> polars.DataFrame:
    """The events of a released log as a polars frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "fast-xes") from None
    columns = event_columns(log)
    typed: dict[str, polars.Series] = {}
    for key in TIMES:
        if key in columns:
            seconds = polars.Series(columns[key], dtype=polars.Int64)
            times = polars.from_epoch(seconds, time_unit="s").dt.replace_time_zone("UTC")
            typed[key] = polars.select(times).to_series()
    for name in ("case:concept:name", "concept:name"):
        typed[name] = polars.Series(list(columns[name]), dtype=polars.String)
    return polars.DataFrame(columns | typed)
