"""Detection of frames and logs of other libraries, without importing the libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeGuard

from ..errors import ReadError, Statement
from .cells import CellError, Use, text_of
from .columns import Columns
from .source import used_columns

if TYPE_CHECKING:
    import pandas

FAMILIES = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pyspark": "Spark",
    "duckdb": "DuckDB",
    "_duckdb": "DuckDB",
}
BLOCK = 1 << 16
"""Number of texts per batch."""


def frame_name(source: object) -> str:
    """Name a frame in messages; anything else is refused."""
    family = type(source).__module__.split(".")[0]
    if family not in FAMILIES:
        kind = f"{type(source).__module__}.{type(source).__qualname__}"
        raise ReadError(kind, Statement("read.frame.no_source"))
    # Only the type is inspected: listing the columns of a frame can be slow.
    if not any(hasattr(type(source), each) for each in ("columns", "schema", "projected_schema")):
        name = f"{family}.{type(source).__name__}"
        raise ReadError(name, Statement("read.frame.no_columns"))
    return f"{FAMILIES[family]} frame"


def as_registered(frame: object, columns: Columns | None, name: str) -> object:
    """Return a frame in the form in which DuckDB reads it: objects and categories of pandas as
    text.

    DuckDB would infer the type of such a column from its values, so one more case could change the
    text of all others. If only names and types are requested, the result has no rows.
    """
    if not _is_pandas(frame):
        return frame
    if columns is None:
        empty = frame.iloc[:0]
        return empty.astype(dict.fromkeys(object_columns(frame), object))
    used = used_columns(columns, list(frame.columns))
    kept = frame[used]
    for column in used:
        if kept[column].dtype == "category" or kept[column].dtype == object:
            use = columns.uses.get(column, "value")
            with in_column(name, column):
                kept = kept.assign(**{column: _as_texts(kept[column], use)})
    return kept


def _as_texts(values: pandas.Series, use: Use) -> pandas.Series:
    """Convert the cells of a column, each by itself; a category, which many have, once."""
    import numpy as np
    import pandas as pd

    if values.dtype == "category":
        # A category that no cell has may be anything.
        present = np.unique(codes := values.cat.codes.to_numpy())
        texts = np.full(len(values.cat.categories) + 1, None, dtype=object)
        for code in present[present >= 0]:
            texts[code] = text_of(values.cat.categories[code], use)
        return pd.Series(texts[codes], index=values.index, dtype=object)
    converted = [
        value if type(value) is str and value.isascii() else text_of(value, use) for value in values
    ]
    return pd.Series(converted, index=values.index, dtype=object)


@contextmanager
def in_column(name: object, column: str) -> Iterator[None]:
    """Turn the refusal of a cell into an error that names the log and the column."""
    try:
        yield
    except CellError as error:
        raise ReadError(name, f'column "{column}" {error}') from None


def frame_columns(frame: object, source: str) -> list[str] | None:
    """Name the columns of a frame of pandas or pyarrow; others have names that differ."""
    if _is_pandas(frame):
        names = list(frame.columns)
    elif type(frame).__module__.startswith("pyarrow") and hasattr(frame, "schema"):
        names = list(frame.schema.names)
    else:
        return None
    check_names(source, names)
    return names


def check_names(source: str, names: Sequence[object]) -> None:
    """Refuse duplicate column names, and names that are not text."""
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            kind = type(name).__name__
            raise ReadError(source, Statement("read.frame.no_text_name", place=place, kind=kind))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError(source, Statement("read.frame.same_names", name=twice))


def object_columns(frame: object) -> list[str]:
    """Name the columns of a frame whose values may be of any type: objects of pandas."""
    if not _is_pandas(frame):
        return []
    return [name for name, dtype in frame.dtypes.items() if dtype.kind == "O"]


def _is_pandas(frame: object) -> TypeGuard[pandas.DataFrame]:
    return type(frame).__module__.startswith("pandas")
