"""Read event logs from files, frames and databases."""

from __future__ import annotations

from .columns import Columns
from .inspect import Inspection, inspect_log, inspect_variants
from .log import count_variants, distribute_variants, is_distributed, open_log, read_cases
from .notices import Notify
from .options import ReadOptions
from .source import Log

__all__ = [
    "Columns", "Inspection", "Log", "Notify", "ReadOptions", "count_variants",
    "distribute_variants", "inspect_log", "inspect_variants", "is_distributed", "open_log",
    "read_cases",
]  # fmt: skip
