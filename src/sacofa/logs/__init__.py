"""Read event logs from files and frames, and write them."""

from __future__ import annotations

from .columns import Columns
from .inspect import Inspection, inspect_variants
from .log import count_variants, read_log, scatter_variants, scatters
from .source import Log
from .write import write_variants

__all__ = [
    "Columns",
    "Inspection",
    "Log",
    "count_variants",
    "inspect_variants",
    "read_log",
    "scatter_variants",
    "scatters",
    "write_variants",
]
