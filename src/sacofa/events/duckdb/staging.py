"""Tables that DuckDB cannot read directly, written to temporary files.

Spreadsheets, JSON lines, text in other encodings, and rows of a server or a cluster are copied row
by row to a private folder, so that cells are interpreted in one place, and one row is in memory.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...base.temporary import secret_folder, writing_in
from ...errors import Argument, ColumnsError, ReadError, Statement
from ..bounded_file import BoundedFile
from ..cells import Use, duckdb_sql, text_of
from ..cells.duckdb_sql import INSTANT
from ..columns import COMMON, MAX_TITLE_ROWS, Columns, find_header, partner, plain_name
from ..frames import in_column
from ..lifecycle import START
from ..options import ReadOptions
from ..source import Remote, Source, used_columns
from .csv_files import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    Head,
    read_heads,
    too_wide,
    wrong_encoding,
)
from .database import quoted
from .partitions import limited
from .source import Table, clear_errors, open_database, open_table
from .stamps import as_double, iso_time

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Row = list[object]
"""Cells as text, numbers, moments, True or False; None is missing."""

MAX_NAMED_FIELDS = 5
"""Number of fields that a message names."""


@contextmanager
def staged(source: Source, columns: Columns | None = None) -> Iterator[Source]:
    """Return a source that DuckDB can read, with only these columns for some kinds of source."""
    heads = read_heads(source) if source.format in ("csv", "tsv") else []
    remote, is_relation = remote_of(source), source.format == "relation"
    is_written = source.declared.is_read_by_row or is_relation or remote
    if not is_written and all(head.is_plain for head in heads):
        yield source
        return
    with secret_folder() as folder:
        if is_relation:
            with clear_errors(source.name):
                written = _write_ordered(source, folder, columns)
        elif remote is not None and columns is not None:
            written = _bring(source, folder, columns, remote)
        else:
            with writing_in(folder):
                written = _write_csv(source, folder, heads, columns)
        yield written


@contextmanager
def opened_table(
    source: Source, columns: Columns | None = None
) -> Iterator[tuple[DuckDBPyConnection, Table]]:
    """Open the rows of a source in a temporary database, with these columns."""
    with staged(source, columns) as here, open_database(source.name) as database:
        yield database, open_table(database, here, columns)


def remote_of(source: Source) -> Remote | None:
    """Return the module that reads the rows of a remote source."""
    if source.declared.remote is None:
        return None
    return cast(Remote, import_module(f"...{source.declared.remote}", __name__))


def _bring(source: Source, folder: Path, columns: Columns, remote: Remote) -> Source:
    """Write the rows of a server as Parquet: numbers and times keep their types."""
    types = remote.types(source)
    names = used_columns(columns, types)
    text = folder / "rows.csv"
    with writing_in(folder), text.open("wb") as file:
        file.write(csv_line(names))
        file.writelines(remote.rows(source, columns, names))
    # It was written here: no guard against hostile files is needed.
    here = replace(
        source, format="csv", content=(text,), encoding="utf-8", trusted=True, skip_rows=0
    )
    with open_database(source.name) as database, limited(database):
        table, fields = open_table(database, here), []
        for name in names:
            (field, _), kind = table.columns[name], types[name]
            if name in columns.times:
                kind = kind.replace("DECIMAL", "DOUBLE")
            if kind in ("BIGINT", "DOUBLE") or (kind == INSTANT and name in columns.times):
                field = f"try_cast({field} AS {kind})"
            fields.append(f"{field} AS {quoted(name)}")
        typed = database.sql(f"SELECT {', '.join(fields)} FROM {table.sql}")
        written = _write_ordered(replace(here, content=typed), folder, columns)
    text.unlink()
    return written


def _write_csv(source: Source, folder: Path, heads: list[Head], columns: Columns | None) -> Source:
    """Write files as CSV in UTF-8; of text tables the `heads` are known."""
    files = [folder / f"{number}.csv" for number in range(len(source.content))]
    for number, (path, file) in enumerate(zip(source.content, files, strict=True)):
        if heads:
            _transcode(heads[number], file, source.trusted)
        else:
            _write_rows(source, path, file, {} if columns is None else columns.uses)
    written = replace(source, content=tuple(files), encoding="utf-8")
    return written if heads else replace(written, format="csv", header=(), skip_rows=0)


def check_fields(source: Source, names: list[str], options: ReadOptions) -> None:
    """Refuse JSON lines in which an additional field could change how the others are read.

    The fields of a line are part of a case, so two candidates for one role are refused. If times
    are needed, a field for them is required.
    """
    for role in COMMON if source.declared.names_are_in_cases else ():
        if getattr(options, role):
            continue
        found = _fields_of(role, names)
        if len(found) > 1:
            what = {"role": role, "fields": found, "argument": Argument(role)}
            raise ReadError(source.name, Statement("read.json.several_fields", **what))
        if role == "timestamp" and not found and options.order != "file":
            raise ColumnsError(source.name, [role], names)


def _fields_of(role: str, names: list[str]) -> list[str]:
    """The fields that may have a role, by names in common use."""
    found = [name for name in names if plain_name(name) in COMMON[role]]
    pairs = [partner(name, names) or () for name in found if role in ("timestamp", "start")]
    return list(dict.fromkeys([*found, *chain(*pairs)]))


def _transcode(head: Head, target: Path, trusted: bool) -> None:
    """Write a text file as UTF-8; lines above its header become empty, so all keep their place."""
    decoder = codecs.getincrementaldecoder(head.encoding)()
    above, passed = head.skipped if head.titles else 0, 0
    block, is_first = b" ", True
    with BoundedFile(head.path, trusted=trusted) as stream, target.open("wb") as file:
        while block:
            block = stream.read(1 << 18)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                raise ReadError(head.path, wrong_encoding(head.encoding)) from None
            if is_first:
                is_first, text = not text, text.removeprefix("\ufeff")
            while passed < above and "\n" in text:
                line, _, text = text.partition("\n")
                file.write(
                    (f"{line}\n" if passed < head.declares_separator else head.line_end).encode()
                )
                passed += 1
            if passed == above:
                file.write(text.encode("utf-8", "replace"))


def _write_rows(source: Source, path: Path, target: Path, uses: Mapping[str, Use]) -> None:
    """Write rows as CSV, each cell converted by itself; short rows lack the last cells."""
    names, rows, _ = named_rows(source, path)
    used: list[tuple[str, Use]] = [(name, uses.get(name, "value")) for name in names]
    with target.open("wb") as file:
        file.write(csv_line(names))
        for row in rows:
            texts: list[str | None] = [None] * len(names)
            for place, (cell, (name, use)) in enumerate(zip(row, used, strict=False)):
                with in_column(path, name):
                    texts[place] = text_of(cell, use)
            file.write(csv_line(texts))


def csv_line(cells: Sequence[str | None]) -> bytes:
    """Format a row as a line of CSV; missing values are empty fields, and texts are quoted.

    A lone surrogate becomes a question mark, which is better than refusing all cases.
    """
    quoted = ("" if c is None else '"' + c.replace('"', '""') + '"' for c in cells)
    return (",".join(quoted) + "\n").encode("utf-8", "replace")


def named_rows(source: Source, path: Path) -> tuple[list[str], Iterator[Row], int]:
    """Return the column names, the rows below them, and the number of rows above them."""
    is_sheet = "sheet" in source.declared.options
    titled = is_sheet and source.skip_rows is None and not source.header
    if is_sheet:
        from ..sheets import sheet_rows  # It loads the library for XML.

        rows = sheet_rows(source, path)
    else:
        rows = (source.declared.rows or _json_rows)(path, source.trusted)
    first = list(islice(rows, MAX_TITLE_ROWS + 1 if titled else 1))
    if not first:
        raise ReadError(path, Statement("file.empty"))
    if source.header:
        return list(source.header), chain(first, rows), 0
    texts = [[text_of(cell) or "" for cell in row] for row in first]
    place = find_header(texts) if titled else 0
    return texts[place], chain(first[place + 1 :], rows), place


def _json_rows(path: Path, trusted: bool) -> Iterator[Row]:
    """Yield the fields of the first line, and then the values of each line."""
    names: list[str] = []
    with BoundedFile(path, trusted=trusted) as stream:
        for number, line in enumerate(stream.lines(MAX_ROW_BYTES), start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError):
                raise ReadError(path, Statement("read.json.no_json", line=number)) from None
            if not isinstance(fields, dict):
                raise ReadError(path, Statement("read.json.no_object", line=number))
            if not names:
                names = list(fields)
                if len(names) > MAX_COLUMNS:
                    raise too_wide(path)
                yield list(names)
            if not fields.keys() <= set(names):
                more = sorted(fields.keys() - set(names))[:MAX_NAMED_FIELDS]
                raise ReadError(path, Statement("read.json.more_fields", line=number, fields=more))
            # Nested values stay JSON, because they are text in the file, too.
            cells = map(fields.get, names)
            yield [
                json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell
                for cell in cells
            ]


def _write_ordered(source: Source, folder: Path, columns: Columns | None) -> Source:
    """Write a relation of DuckDB as Parquet, in an order that only the cells that are read decide.

    The type of a column may follow from all of its values.
    """
    target = folder / "rows.parquet"
    relation: DuckDBPyRelation = source.content
    found = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if columns is not None:
        found = {name: found[name] for name in used_columns(columns, found)}
    ordered = relation.order(", ".join(_order(found, columns)))
    ordered.project(", ".join(map(quoted, found))).write_parquet(str(target))
    return replace(source, format="parquet", content=(target,))


def _order(kinds: Mapping[str, str], columns: Columns | None) -> list[str]:
    """Return SQL that orders rows by time, activity, start before end, and all other columns.

    Moments and numbers are compared by size, all else by the bytes of its text, because a collation
    may treat two texts as equal.
    """
    uses = {} if columns is None else columns.uses
    known = {name: duckdb_sql.canonical(quoted(name), kind) for name, kind in kinds.items()}

    def key(name: str) -> list[str]:
        (sql, kind), use = known[name], uses.get(name, "value")
        if duckdb_sql.is_moment(kind):
            return [sql]
        number = [as_double(sql)] * (duckdb_sql.is_number(kind) and use == "value")
        return [*number, f"encode({duckdb_sql.text(sql, kind, use)})"]

    first: list[str] = []
    if columns is not None:
        if columns.timestamp is not None and columns.timestamp in known:
            sql, kind = known[columns.timestamp]
            first += [iso_time(sql)] if kind == "VARCHAR" else key(columns.timestamp)
        first += chain.from_iterable(map(key, columns.activity))
        if columns.lifecycle is not None:
            word = duckdb_sql.text(*known[columns.lifecycle])
            first.append(f"lower(trim(coalesce({word}, ''))) <> '{START}'")
    return [*first, *chain.from_iterable(map(key, kinds))]
