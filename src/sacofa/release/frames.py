"""Released events as frames of other libraries, with pm4py's names of columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError
from ..events.columns import TRUNCATED
from ..events.released import (
    CORE_KEY,
    START_KEY,
    TIME_KEY,
    all_events,
    describe_times,
)
from ..kernel.attributes import Kind
from ..kernel.released import Columns as Attributes
from ..kernel.variants import VariantCounts

TIMES = ("time:timestamp", START_KEY)
"""The columns that hold times."""
TYPES: dict[Kind, Callable[[str], Any]] = {
    "string": str,
    "int": int,
    "float": float,
    "boolean": lambda text: text == "true",
    "date": datetime.fromisoformat,
}
"""What released values are in Python."""


def event_columns(
    variants: VariantCounts,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    attributes: Attributes = (),
    starts: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """Lay variants out as an event log, in columns."""
    events = all_events(variants, times, core, attributes, starts)
    names = np.array(variants.activities, dtype=object)
    columns: dict[str, Any] = {
        "case:concept:name": events.case.astype(str),
        "concept:name": names[events.activity_id],
        "time:timestamp": events.seconds,
        **({} if events.starts is None else {START_KEY: events.starts}),
        TRUNCATED: events.truncated,
    }
    if events.core is not None:
        columns[f"case:{CORE_KEY}"] = events.core
    for attribute, codes in zip(attributes, events.values, strict=True):
        # The last place is for no value, whose code is −1.
        values = [*map(TYPES[attribute.kind], attribute.texts), None]
        columns[attribute.key] = [values[code] for code in codes.tolist()]
    columns[TIME_KEY] = np.full(len(events), describe_times(times), dtype=object)
    return columns


def to_pandas(columns: dict[str, Any]) -> Any:
    """Make a pandas frame of the columns of events."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "evaluate") from None
    times = {
        key: pandas.to_datetime(columns[key], unit="s", utc=True) for key in TIMES if key in columns
    }
    return pandas.DataFrame(columns | times)


def to_polars(columns: dict[str, Any]) -> Any:
    """Make a polars frame of the columns of events."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "fast-xes") from None
    typed = {}
    for key in TIMES:
        if key in columns:
            seconds = polars.Series(columns[key], dtype=polars.Int64)
            times = polars.from_epoch(seconds, time_unit="s").dt.replace_time_zone("UTC")
            typed[key] = polars.select(times).to_series()
    for name in ("case:concept:name", "concept:name"):
        typed[name] = polars.Series(columns[name].tolist(), dtype=polars.String)
    return polars.DataFrame(columns | typed)
