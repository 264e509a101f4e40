"""Marks in released files: whether their times are private or artificial."""

from __future__ import annotations

from pathlib import Path

from .bounded_file import BoundedFile
from .duckdb.staging import opened_table
from .source import Log

TIME_KEY = "sacofa:time"
"""The attribute of a log, or the column of a table, with the mark on its times."""
ARTIFICIAL = "artificial"
"""Its value if times count seconds from 2000-01-01."""
PRIVATE = "private"
"""Its value if times were sampled from private answers about the times of the log."""
START_KEY = "start_timestamp"
"""The column for the start of work in tables, named as in pm4py."""
CORE_KEY = "sacofa:core"
"""The attribute that marks cases of the orderly core."""

HEAD_BYTES = 4096
"""The mark of a released XES file is before its first case, within this many bytes."""


def time_mark(log: Log) -> str | None:
    """Return the mark of a log on its times; None if they are recorded or missing."""
    if not log.has_times:
        return None
    if log.source.format == "xes":
        return time_mark_of_xes(log.source.content[0])
    if log.source.format not in ("csv", "tsv", "parquet", "frame"):
        return None
    with opened_table(log.source) as (database, table):
        if TIME_KEY not in table.columns:
            return None
        column, _ = table.columns[TIME_KEY]
        first = database.execute(f"SELECT {column} FROM {table.sql} LIMIT 1").fetchone()
    return None if first is None or first[0] is None else str(first[0])


def time_mark_of_xes(path: Path) -> str | None:
    """Return the mark of an XES file on its times; None if it has none."""
    with BoundedFile(path) as file:
        head = file.read(HEAD_BYTES).partition(b"<trace")[0]
    for mark in (PRIVATE, ARTIFICIAL):
        if f'<string key="{TIME_KEY}" value="{mark}"/>'.encode() in head:
            return mark
    return None
