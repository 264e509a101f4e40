"""SQL for the rows of a table, by the kind of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...base.temporary import secret_folder
from ...errors import ReadError, Statement
from ..cells import Use, duckdb_sql
from ..cells.duckdb_sql import is_moment
from ..columns import Columns
from ..frames import as_registered, frame_columns
from ..source import Source
from .csv_files import csv_sql, read_heads, wrong_encoding
from .database import borrowed, files_literal, quoted
from .parquet_files import has_several_types, refuse_bomb, refuse_wide
from .stamps import define_times, join_times

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

ROW_BITS = 40
"""Maximum number of bits for the place of a row in its file."""

ROW_NUMBER = "(row_number() OVER () - 1)"
"""The number of a row where rows are read in the order of the source."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of events as DuckDB sees it."""

    sql: str
    """The SQL relation."""
    columns: dict[str, tuple[str, str]]
    """For the name of each column how it is written in SQL, and its type (see `cells`)."""
    row: str
    """The number of a row, from 0, as SQL; rows are ordered by it as the source has them."""
    row_bits: int = ROW_BITS
    """Maximum number of bits for that number."""
    numbered: bool = False
    """Whether rows carry that number, so that they may be read in any order."""
    two_ways: Mapping[str, str] = field(default_factory=dict)
    """For joined time stamps whether their time of day can be read in two ways, as SQL."""

    def text(self, column: str, use: Use = "value") -> str:
        """Return a column as text, as SQL."""
        return duckdb_sql.text(*self.columns[column], use)

    def with_joined(self, columns: Columns | None) -> Table:
        """Add the time stamps whose date and time of day are in two columns."""
        if columns is None or not columns.joined:
            return self
        joined = {
            each.name: join_times(each, self.text, self.columns[each.time][1])
            for each in columns.joined
        }
        texts = {name: (text, "VARCHAR") for name, (text, _) in joined.items()}
        return replace(
            self,
            columns=self.columns | texts,
            two_ways={name: two_ways for name, (_, two_ways) in joined.items()},
        )


@contextmanager
def open_database(name: str) -> Iterator[DuckDBPyConnection]:
    """Open a temporary database; its errors become one clear line."""
    with secret_folder() as folder, clear_errors(name), borrowed(folder) as database:
        yield database


@contextmanager
def clear_errors(name: str) -> Iterator[None]:
    """Turn complaints of DuckDB into one clear line."""
    import duckdb

    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        raise interrupt_in(error) or error from None
    except duckdb.Error as error:
        message = str(error)
        if "unicode" in message.lower() or "utf-8" in message.lower():
            raise ReadError(name, wrong_encoding("utf-8")) from None
        line = re.search(r"CSV Error on Line: (\d+)", message)
        if line is None:
            # Text in quotes may be the value that caused the error.
            why = re.sub(r"'.*'|\".*\"", "…", message.strip().splitlines()[0])
            raise ReadError(name, Statement("file.unreadable", why=why)) from None
        what = Statement("read.csv.no_row", line=int(line[1]))
        if columns := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
            expected, found = map(int, columns.groups())
            values = {"line": int(line[1]), "found": found, "expected": expected}
            what = Statement("read.csv.columns_of_line", **values)
        raise ReadError(name, what) from None


def interrupt_in(error: Exception) -> KeyboardInterrupt | None:
    """Return the interrupt that DuckDB wrapped in an error of its own, if it is one."""
    import duckdb

    if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
        return KeyboardInterrupt()
    return None


def as_relation(name: str, query: object) -> tuple[DuckDBPyRelation, DuckDBPyConnection]:
    """Return the query of polars as a relation, and the database that it needs as long as it is
    used.

    Neither has a defined order: any other row can change which one comes first.
    """
    with clear_errors(name):
        database = borrowed()
        database.register("query", query)
        return database.table("query"), database


def open_table(
    database: DuckDBPyConnection, source: Source, columns: Columns | None = None
) -> Table:
    """Open files of one format, or a frame, of which these columns are needed."""
    if source.format in ("csv", "tsv"):
        heads = read_heads(source)
        # If two columns have the same name, the first one is used.
        found: dict[str, tuple[str, str]] = {}
        for place, name in enumerate(heads[0].columns):
            found.setdefault(name, (f"c{place}", "VARCHAR"))
        table = Table(sql=csv_sql(heads), columns=found, row=ROW_NUMBER)
    elif source.format == "parquet":
        table = _open_parquet(database, source, columns)
    else:
        frame = as_registered(source.content, columns, source.name)
        database.register("frame", frame)
        found = _typed(database, "frame", frame_columns(frame, source.name))
        table = Table(sql="frame", columns=found, row=ROW_NUMBER)
    kinds = () if columns is None else (table.columns[name][1] for name in columns.times)
    # To define the macros takes longer than to read a small log.
    if not all(map(is_moment, kinds)) or (columns is not None and columns.joined):
        define_times(database)
    return table.with_joined(columns)


def _open_parquet(database: DuckDBPyConnection, source: Source, columns: Columns | None) -> Table:
    paths = source.content
    for path in paths:
        refuse_wide(path)
    if not source.trusted:
        refuse_bomb(database, paths)
    hive = any("=" in path.parent.name for path in paths)
    several = has_several_types(database, paths, columns)
    # Folder names stay text, because their inferred type would depend on all of them.
    sql = (
        f"read_parquet({files_literal(paths)}, hive_partitioning = {hive}, "
        f"hive_types_autocast = false, union_by_name = {several})"
    )
    # Rows are numbered by file and place, so that any number of threads may read them.
    return Table(
        sql=sql,
        columns=_typed(database, sql),
        row=f"((file_index::BIGINT << {ROW_BITS}) + file_row_number)",
        row_bits=ROW_BITS + len(paths).bit_length(),
        numbered=True,
    )


def _typed(
    database: DuckDBPyConnection, sql: str, names: list[str] | None = None
) -> dict[str, tuple[str, str]]:
    """The canonical columns of a table with their types."""
    described = database.execute(f"DESCRIBE FROM {sql}").fetchall()
    # DuckDB renames columns that differ only in capitals.
    names = names or [name for name, *_ in described]
    return {
        name: duckdb_sql.canonical(quoted(called), kind)
        for name, (called, kind, *_) in zip(names, described, strict=True)
    }
