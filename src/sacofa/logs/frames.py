"""Tells frames of other libraries, without loading any of them."""

from __future__ import annotations

from typing import Any

from ..errors import ReadError
from .attributes import column_of
from .columns import Columns

FAMILIES = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pyspark": "Spark",
    "duckdb": "DuckDB",
    "_duckdb": "DuckDB",
}


def frame_name(source: Any) -> str:
    """Name a frame in messages; anything else is refused."""
    family = type(source).__module__.split(".")[0]
    if family not in FAMILIES:
        kind = f"{type(source).__module__}.{type(source).__qualname__}"
        raise ReadError(kind, "is no path and no frame of pandas, polars, pyarrow, Spark or DuckDB")
    return f"{FAMILIES[family]} frame"


def as_registered(frame: Any, columns: Columns | None) -> Any:
    """Give a frame as DuckDB is to see it: objects of pandas as text, each for itself.

    DuckDB would guess the type of such a column from its values: one more case could then change
    how those of all others are written.
    """
    if columns is None or not type(frame).__module__.startswith("pandas"):
        return frame
    from pandas.api.types import infer_dtype

    attributes = (column_of(each, list(frame.columns)) for each in columns.attributes)
    roles = [*columns.roles, *attributes]
    used = list(dict.fromkeys(name for name in roles if name is not None))
    if not frame.columns.is_unique or not set(used) <= set(frame.columns):
        return frame
    kept = frame[used]
    for name in kept.columns:
        values = kept[name]
        if values.dtype == object and infer_dtype(values, skipna=True) not in ("string", "empty"):
            text = values.map(lambda value: value if isinstance(value, str) else str(value))
            kept = kept.assign(**{name: text.where(values.notna(), None)})
    return kept


def object_columns(frame: Any) -> list[str]:
    """Name the columns of a frame whose values may be of any type: objects of pandas."""
    if not type(frame).__module__.startswith("pandas"):
        return []
    return [name for name, dtype in frame.dtypes.items() if dtype.kind == "O"]
