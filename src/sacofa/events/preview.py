"""The first events of a log, and whether its times agree with its order. Secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

from ..errors import SacofaError, Statement
from . import formats
from .find_source import find_source
from .options import ReadOptions
from .source import ComparingReader, Log, Source

ROWS, COLUMNS, LETTERS = 6, 30, 80
"""So many rows, columns and letters of a value are shown."""
TABLES = tuple(
    name
    for name, each in formats.FORMATS.items()
    if each.suffixes and formats.TABLES in each.engines
)
"""Formats with rows to show."""
PLAIN = {"DOUBLE": "number", "BOOLEAN": "yes or no", "DATE": "date", "string": "text"}


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
    notes: list[Statement] = []
    try:
        if not log.has_times or not isinstance(log.source.content, tuple):
            return None
        if log.engine.compares_order:
            return cast(ComparingReader, log.reader).count_disordered(log)
        log.reader.count(replace(log, order="file"), None, notes.append)
    except SacofaError:
        # What stands in the way of reading times was told where they were asked for.
        return None
    counted = (n.values["number"] for n in notes if n.code == "notice.counts.disordered")
    return next((number for number in counted if isinstance(number, int)), 0)


def _of_table(source: Source) -> Preview:
    from .duckdb.source import open_database, open_table
    from .duckdb.staging import staged

    with staged(source) as readable, open_database(source.name) as database:
        table = open_table(database, readable)
        kinds = {name: kind for name, (_, kind) in table.columns.items()}
        texts = ", ".join(f"left({table.text(name)}, {LETTERS})" for name in list(kinds)[:COLUMNS])
        found = database.execute(f"SELECT {texts} FROM {table.sql} LIMIT {ROWS}").fetchall()
    return _shown(kinds, found)


def _of_xes(source: Source) -> Preview:
    from .xes import kinds
    from .xes_form import traces

    first = replace(source, content=source.content[:1])
    types = {name: kind for name, kind in kinds(first).items() if not name.startswith("case:")}
    cases = islice(traces(first.content[0], source.trusted, None), ROWS)
    events = islice((event for case in cases for event in case.iterchildren("{*}event")), ROWS)
    texts = [{each.get("key"): (each.get("value") or "")[:LETTERS] for each in e} for e in events]
    return _shown(types, [tuple(row.get(name) for name in list(types)[:COLUMNS]) for row in texts])


def _shown(types: Mapping[str, str], rows: Sequence[tuple[str | None, ...]]) -> Preview:
    """The first of these columns, whose rows are given."""
    shown = list(types.items())[:COLUMNS]
    values = list(zip(*rows, strict=True)) or [()] * len(shown)
    columns = tuple(
        PreviewColumn(name=name, type=_type_name(kind, column))
        for (name, kind), column in zip(shown, values, strict=True)
    )
    return Preview(columns=columns, rows=tuple(rows), left_out=len(types) - len(shown))


def _type_name(kind: str, values: tuple[str | None, ...]) -> str:
    """What people call a type of DuckDB or XES; of text, what it looks like."""
    if kind == "VARCHAR":
        return guess_type(values)
    if kind.startswith(("TIMESTAMP", "date")):
        return "time"
    if "INT" in kind or kind in ("int", "float"):
        return "number"
    return PLAIN.get(kind, kind.lower())


def guess_type(values: tuple[str | None, ...]) -> str:
    """What text looks like to people: a number, a time, or text."""
    there = [value for value in values if value]
    if not there:
        return "text"
    with suppress(ValueError):
        for value in there:
            float(value.replace(",", "."))
        return "number"
    is_time = all(v[0].isdigit() and sum(letter in "-/.:T" for letter in v) >= 2 for v in there)
    return "time" if is_time else "text"
