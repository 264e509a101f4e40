"""Where the rows of a table come from, as SQL that DuckDB reads."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...errors import ReadError
from ..bounded_file import BoundedFile, is_gzip
from ..columns import Columns
from ..formats import Format
from ..frames import as_registered
from ..source import Source

MAX_ROW_BYTES = 1 << 24
"""The longest row of a CSV file."""

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
    """For the name of each column how it is written in SQL, and its type."""
    row: str
    """The number of a row, from 0, as SQL; rows are ordered by it as the source has them."""
    row_bits: int = ROW_BITS
    """How many bits that number takes at most."""
    numbered: bool = False
    """Whether rows carry that number, so that they may be read in any order."""

    def text(self, column: str) -> str:
        """Give a column as text, as SQL."""
        sql, kind = self.columns[column]
        return sql if kind == "VARCHAR" else f"{sql}::VARCHAR"


@contextmanager
def open_database(name: str) -> Iterator[Any]:
    """Open a database that leaves nothing behind; what it complains of becomes one clear line."""
    import duckdb

    with TemporaryDirectory(prefix="sacofa-") as folder:
        database = duckdb.connect(
            config={
                "temp_directory": folder,
                "autoinstall_known_extensions": False,
                "python_enable_replacements": False,
            }
        )
        try:
            database.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
            yield database
        except duckdb.Error as error:
            what = str(error).strip().splitlines()[0]
            raise ReadError(name, f"cannot be read: {what}") from None
        finally:
            database.close()


def open_table(database: Any, source: Source, columns: Columns | None = None) -> Table:
    """Open files of one format, or a frame, of which these columns are needed."""
    if source.format in ("csv", "tsv"):
        return _open_csv(source.content, source.format)
    if source.format == "parquet":
        files = ", ".join(file_literal(path) for path in source.content)
        if not source.trusted:
            _refuse_parquet_bomb(database, source.content, files)
        hive = "true" if any("=" in path.parent.name for path in source.content) else "false"
        # Names of folders stay text: what type they look like would depend on all of them.
        sql = f"read_parquet([{files}], hive_partitioning = {hive}, hive_types_autocast = false)"
        # Rows are numbered by file and place, so that any number of threads may read them.
        row = f"((file_index::BIGINT << {ROW_BITS}) + file_row_number)"
        row_bits, numbered = ROW_BITS + len(source.content).bit_length(), True
    else:
        database.register("frame", as_registered(source.content, columns))
        sql, row = "frame", "(row_number() OVER () - 1)"
        row_bits, numbered = ROW_BITS, False
    described = database.execute(f"DESCRIBE FROM {sql}").fetchall()
    found = {name: (_quoted(name), kind) for name, kind, *_ in described}
    return Table(sql=sql, columns=found, row=row, row_bits=row_bits, numbered=numbered)


def csv_header(paths: Sequence[Path], format: Format) -> tuple[list[str], str]:
    """Give the names of the columns, and what stands between them, of files that are alike."""
    first = _header(paths[0], format)
    packed = is_gzip(paths[0])
    for path in paths[1:]:
        if is_gzip(path) != packed:
            raise ReadError(path, "must be gzip if the first file is, and only then")
        if _header(path, format) != first:
            raise ReadError(path, "has other columns than the first file")
    for path in paths:
        _refuse_long_start(path)
    return first


def _open_csv(paths: Sequence[Path], format: Format) -> Table:
    header, comma = csv_header(paths, format)
    packed = is_gzip(paths[0])
    files = ", ".join(file_literal(path) for path in paths)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    sql = (
        f"read_csv([{files}], auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {literal(comma)}, quote = '\"', escape = '\"', nullstr = '', "
        f"allow_quoted_nulls = false, compression = '{'gzip' if packed else 'none'}', "
        f"max_line_size = {MAX_ROW_BYTES})"
    )
    # Where two columns have the same name, the first is meant.
    places = {name: (f"c{i}", "VARCHAR") for i, name in reversed(list(enumerate(header)))}
    columns_in_order = {name: places[name] for name in header}
    return Table(sql=sql, columns=columns_in_order, row="(row_number() OVER () - 1)")


def check_gzip(source: Source) -> None:
    """Unpack once and throw away: a file that is cut short or a bomb is found before it is used."""
    if source.format in ("csv", "tsv"):
        for path in filter(is_gzip, source.content):
            with BoundedFile(path, trusted=source.trusted) as stream:
                while stream.read(1 << 20):
                    pass


def _refuse_long_start(path: Path) -> None:
    """Refuse a first row that does not end: DuckDB takes a file that begins so for empty."""
    quotes = rows = done = 0
    with BoundedFile(path, trusted=True) as stream:
        while done <= 2 * MAX_ROW_BYTES and (block := stream.read(1 << 16)):
            done += len(block)
            *lines, rest = block.replace(b"\r", b"\n").split(b"\n")
            for line in lines:
                quotes += line.count(b'"')
                rows += quotes % 2 == 0
            quotes += rest.count(b'"')
            if rows > 1:
                return
    if done > 2 * MAX_ROW_BYTES:
        raise ReadError(path, f"a row is longer than {MAX_ROW_BYTES >> 20} MB")


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
            "say that it is trusted (--trusted) if that is meant",
        )


def _header(path: Path, format: Format) -> tuple[list[str], str]:
    """Read the names of the columns, and what stands between them."""
    with BoundedFile(path) as stream:
        start = b""
        while len(start) < MAX_ROW_BYTES and (more := stream.read(1 << 16)):
            start += more
            if b"\n" in more and start.count(b'"') % 2 == 0:
                break
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
        comma = "\t" if format == "tsv" else max(",;\t|", key=text.partition("\n")[0].count)
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=comma), None)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReadError(path, f"not a text table in UTF-8: {error}") from None
    if not header:
        raise ReadError(path, "the file is empty")
    return header, comma


def file_literal(path: Path) -> str:
    """Name a file literally: DuckDB takes `[1]`, `*` and `?` for patterns of other files."""
    return literal(re.sub(r"[\[\]*?]", r"[\g<0>]", str(path)))


def literal(text: object) -> str:
    """Give text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
