"""Where the rows of a table come from, as SQL that DuckDB reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...base.temporary import secret_folder
from ...errors import Argument, ReadError
from ..cells import Use, duckdb_sql
from ..columns import Columns
from ..frames import as_registered, frame_columns
from ..source import Source
from .csv_files import ADVICE, csv_sql, read_heads
from .database import borrowed, make_database
from .joining import JoinedTime
from .parquet_files import has_several_types, refuse_wide
from .sql import file_literal, quoted

MANY_ROWS = 100_000_000
"""Up to this many rows any Parquet file is let through."""

ROW_BITS = 40
"""How many bits the place of a row in its file takes at most."""

ROWS_A_BYTE = 10
"""A Parquet file with more rows than this for each of its bytes is refused unless trusted."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of events as DuckDB sees it."""

    sql: str
    """What stands after FROM."""
    columns: dict[str, tuple[str, str]]
    """For the name of each column how it is written in SQL, and its type (see `cells`)."""
    row: str
    """The number of a row, from 0, as SQL; rows are ordered by it as the source has them."""
    row_bits: int = ROW_BITS
    """How many bits that number takes at most."""
    numbered: bool = False
    """Whether rows carry that number, so that they may be read in any order."""
    two_ways: Mapping[str, str] = field(default_factory=dict)
    """For joined time stamps whether their time of day can be read in two ways, as SQL."""

    def text(self, column: str, use: Use = "value") -> str:
        """Give a column as text, as SQL."""
        return duckdb_sql.text(*self.columns[column], use)

    def with_joined(self, columns: Columns | None) -> Table:
        """Add the time stamps whose date and time of day are in two columns."""
        if columns is None or not columns.joined:
            return self
        joined = {
            each.name: JoinedTime.of(each, self.text, self.columns[each.time][1])
            for each in columns.joined
        }
        texts = {name: (each.text, "VARCHAR") for name, each in joined.items()}
        return replace(
            self,
            columns=self.columns | texts,
            two_ways={name: each.two_ways for name, each in joined.items()},
        )


@contextmanager
def open_database(name: str) -> Iterator[Any]:
    """Open a database that leaves nothing behind; what it complains of becomes one clear line."""
    with secret_folder() as folder, clear_errors(name), borrowed(folder) as database:
        yield database


@contextmanager
def looking(name: str) -> Iterator[Any]:
    """Give a database that sees what columns a table has, and is given no rows to keep."""
    with clear_errors(name), borrowed(None) as database:
        yield database


@contextmanager
def clear_errors(name: str) -> Iterator[None]:
    """Turn what DuckDB complains of into one clear line."""
    import duckdb

    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        raise interrupt_in(error) or error from None
    except duckdb.Error as error:
        if "unicode" in str(error).lower() or "utf-8" in str(error).lower():
            raise ReadError(name, "is not written in utf-8", *ADVICE) from None
        raise ReadError(name, f"cannot be read: {_plain_words(str(error))}") from None


def _plain_words(message: str) -> str:
    """What DuckDB says, in one line and without anything from the log."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line is not None and columns is not None:
        return f"line {line[1]} has {columns[2]} columns, not {columns[1]}"
    if line is not None:
        return f"line {line[1]} is no row of a text table"
    # What stands in quotes may be the value that it stumbled upon.
    first = message.strip().splitlines()[0]
    return re.sub(r"'.*'|\".*\"", "…", first)


def interrupt_in(error: Exception) -> KeyboardInterrupt | None:
    """The interrupt that DuckDB made an error of its own of, if that is what it is."""
    import duckdb

    if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
        return KeyboardInterrupt()
    return None


def as_relation(name: str, query: Any) -> tuple[Any, Any]:
    """Give a query of polars as a relation, and the database that it needs for as long as it lives.

    Neither has an order of its own: which row comes first may change with any other.
    """
    with clear_errors(name):
        database = make_database()
        database.register("query", query)
        return database.table("query"), database


def open_table(database: Any, source: Source, columns: Columns | None = None) -> Table:
    """Open files of one format, or a frame, of which these columns are needed."""
    return _open(database, source, columns).with_joined(columns)


def _open(database: Any, source: Source, columns: Columns | None) -> Table:
    names: list[str] | None = None
    if source.format in ("csv", "tsv"):
        return _open_csv(source)
    if source.format == "parquet":
        files = ", ".join(file_literal(path) for path in source.content)
        for path in source.content:
            refuse_wide(path)
        if not source.trusted:
            _refuse_parquet_bomb(database, source.content, files)
        hive = "true" if any("=" in path.parent.name for path in source.content) else "false"
        several = has_several_types(database, source.content, columns)
        # Names of folders stay text: what type they look like would depend on all of them.
        sql = (
            f"read_parquet([{files}], hive_partitioning = {hive}, hive_types_autocast = false, "
            f"union_by_name = {str(several).lower()})"
        )
        # Rows are numbered by file and place, so that any number of threads may read them.
        row = f"((file_index::BIGINT << {ROW_BITS}) + file_row_number)"
        row_bits, numbered = ROW_BITS + len(source.content).bit_length(), True
    else:
        frame = as_registered(source.content, columns, source.name)
        names = frame_columns(frame, source.name)
        database.register("frame", frame)
        sql, row = "frame", "(row_number() OVER () - 1)"
        row_bits, numbered = ROW_BITS, False
    described = database.execute(f"DESCRIBE FROM {sql}").fetchall()
    # DuckDB gives columns other names where only capitals tell them apart.
    names = names or [name for name, *_ in described]
    found = {
        name: duckdb_sql.canonical(quoted(called), kind)
        for name, (called, kind, *_) in zip(names, described, strict=True)
    }
    return Table(sql=sql, columns=found, row=row, row_bits=row_bits, numbered=numbered)


def _open_csv(source: Source) -> Table:
    heads = read_heads(source)
    header = heads[0].columns
    # Where two columns have the same name, the first is meant.
    places = {name: (f"c{i}", "VARCHAR") for i, name in reversed(list(enumerate(header)))}
    columns_in_order = {name: places[name] for name in header}
    return Table(sql=csv_sql(heads), columns=columns_in_order, row="(row_number() OVER () - 1)")


def _refuse_parquet_bomb(database: Any, paths: Sequence[Path], files: str) -> None:
    """Refuse files that claim rows beyond belief: a few bytes can stand for a billion."""
    (rows,) = database.execute(
        f"SELECT sum(num_rows) FROM parquet_file_metadata([{files}])"
    ).fetchone()
    size = sum(path.stat().st_size for path in paths)
    if rows is not None and rows > max(MANY_ROWS, ROWS_A_BYTE * size):
        raise ReadError(
            paths[0],
            f"holds {rows:,} rows in {size:,} bytes, which is beyond belief: "
            "say that it is trusted (",
            Argument("trusted", True),
            ") if that is meant",
        )
