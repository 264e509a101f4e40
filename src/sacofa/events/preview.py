"""The first events of a log, and whether its times agree with its order. Secret."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SacofaError
from ..kernel.cases import NO_TIME, CaseBatch
from . import formats
from .find_source import find_source
from .log import open_log
from .options import ReadOptions
from .source import Log, Source

ROWS, COLUMNS, LETTERS = 6, 30, 80
"""So many rows, columns and letters of a value are shown."""
TABLES = tuple(
    name
    for name, each in formats.FORMATS.items()
    if each.suffixes and formats.TABLES in each.engines
)
"""Formats with rows to show."""
PLAIN = {"VARCHAR": "text", "DOUBLE": "number", "BOOLEAN": "yes or no", "DATE": "date"}


@dataclass(frozen=True, kw_only=True)
class PreviewColumn:
    """One column, and what is in it."""

    name: str
    type: str


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The first events of a log."""

    columns: tuple[PreviewColumn, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    left_out: int = 0
    """How many more columns there are."""


def preview(path: str | Path, options: ReadOptions) -> Preview:
    """Show the first events; nothing for variants that were counted already.

    Which column holds what need not be known: people choose columns by what they see here.
    """
    source = find_source(path, options)
    if source.format == "xes":
        return _of_xes(source)
    return _of_table(source) if source.format in TABLES else Preview()


def count_disordered(log: Log) -> int | None:
    """Count the cases whose times contradict the order of the file; None where that is not known.

    The whole log is read once more, in the order of the file, whichever order was asked for.
    """
    if not log.has_times or not isinstance(log.source.content, tuple):
        return None
    try:
        in_file_order = open_log(log.source.name, replace(log.options, order="file"))
        with in_file_order.reader.cases(in_file_order) as by_case:
            return sum(by_case.map_parts(_disordered))
    except SacofaError:
        # What stands in the way of reading times was told where they were asked for.
        return None


def _disordered(number: int, batch: CaseBatch) -> int:
    times = batch.times
    if times is None or not len(times):
        return 0
    case = np.repeat(np.arange(len(batch)), batch.lengths)
    known = times != NO_TIME
    times, case = times[known], case[known]
    back = (np.diff(times) < 0) & (np.diff(case) == 0)
    return len(np.unique(case[1:][back]))


def _of_table(source: Source) -> Preview:
    from .duckdb.source import open_database, open_table
    from .duckdb.staging import staged

    with staged(source) as readable, open_database(source.name) as database:
        table = open_table(database, readable)
        names = list(table.columns)[:COLUMNS]
        texts = ", ".join(f"left({table.text(name)}, {LETTERS})" for name in names)
        found = database.execute(f"SELECT {texts} FROM {table.sql} LIMIT {ROWS}").fetchall()
        types = [table.columns[name][1] for name in names]
    return _make(names, types, found, len(table.columns) - len(names))


def _of_xes(source: Source) -> Preview:
    from .xes_stream import traces

    rows: list[dict[str, str]] = []
    types: dict[str, str] = {}
    for path in source.content:
        for trace in islice(traces(path, source.trusted, None), ROWS):
            for event in trace.iterchildren("{*}event"):
                if len(rows) < ROWS:
                    rows.append(_attributes(event, types))
        break
    names = list(types)[:COLUMNS]
    values = [tuple(row.get(name) for name in names) for row in rows]
    return _make(names, [types[name] for name in names], values, len(types) - len(names))


def _attributes(event: Any, types: dict[str, str]) -> dict[str, str]:
    found = {}
    for child in event:
        name = child.get("key")
        if name:
            types.setdefault(name, child.tag.rpartition("}")[2])
            found[name] = (child.get("value") or "")[:LETTERS]
    return found


def _make(names: list[str], types: list[str], rows: list[Any], left_out: int) -> Preview:
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    columns = tuple(
        PreviewColumn(name=name, type=guess_type(column) if kind == "VARCHAR" else _word(kind))
        for name, kind, column in zip(names, types, values, strict=True)
    )
    return Preview(columns=columns, rows=tuple(map(tuple, rows)), left_out=left_out)


def _word(kind: str) -> str:
    if kind.startswith(("TIMESTAMP", "date")):
        return "time"
    if "INT" in kind or kind in ("int", "float"):
        return "number"
    return PLAIN.get(kind, "text" if kind == "string" else kind.lower())


def guess_type(values: tuple[str | None, ...]) -> str:
    """What text looks like to people: a number, a time, or text."""
    there = [value for value in values if value]
    if there and all(_is_number(value) for value in there):
        return "number"
    return "time" if there and all(map(_is_time, there)) else "text"


def _is_time(value: str) -> bool:
    return value[:1].isdigit() and sum(letter in "-/.:T" for letter in value) >= 2


def _is_number(value: str) -> bool:
    try:
        float(value.replace(",", "."))
    except ValueError:
        return False
    return True
