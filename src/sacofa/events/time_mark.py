"""Tells what the times of a log are, by what the log itself says: private, made up, or real."""

from __future__ import annotations

from pathlib import Path

from .bounded_file import BoundedFile
from .duckdb.source import open_database, open_table
from .duckdb.staging import staged
from .released import ARTIFICIAL, PRIVATE, TIME_KEY
from .source import Log

HEAD = 4096
"""The mark of a released XES file lies before its first case, within so many letters."""


def time_mark(log: Log) -> str | None:
    """What a log says of its times; nothing where they are as they were recorded, or missing."""
    if not log.has_times:
        return None
    if log.source.format == "xes":
        return _in_xes(log.source.content[0])
    if log.source.format not in ("csv", "tsv", "parquet", "frame"):
        return None
    with staged(log.source) as source, open_database(log.name) as database:
        table = open_table(database, source)
        if TIME_KEY not in table.columns:
            return None
        column, _ = table.columns[TIME_KEY]
        first = database.execute(f"SELECT {column} FROM {table.sql} LIMIT 1").fetchone()
    return None if first is None or first[0] is None else str(first[0])


def _in_xes(path: Path) -> str | None:
    with BoundedFile(path) as file:
        head = file.read(HEAD).partition(b"<trace")[0]
    for mark in (PRIVATE, ARTIFICIAL):
        if f'<string key="{TIME_KEY}" value="{mark}"/>'.encode() in head:
            return mark
    return None
