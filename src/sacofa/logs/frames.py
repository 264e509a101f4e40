"""Tells frames of other libraries, without loading any of them."""

from __future__ import annotations

from typing import Any

from ..errors import ReadError

FAMILIES = {"pandas": "pandas", "polars": "polars", "pyarrow": "pyarrow", "pyspark": "Spark"}


def frame_name(source: Any) -> str:
    """Name a frame in messages; anything else is refused."""
    family = type(source).__module__.split(".")[0]
    if family not in FAMILIES:
        kind = f"{type(source).__module__}.{type(source).__qualname__}"
        raise ReadError(kind, "is no path and no frame of pandas, polars, pyarrow or Spark")
    return f"{FAMILIES[family]} frame"
