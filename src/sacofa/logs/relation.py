"""Where the rows of a table come from, as SQL that DuckDB reads."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import ReadError
from .formats import Format
from .stream import Stream, is_gzip

MAX_ROW_BYTES = 1 << 24
"""The longest row of a CSV file."""

_FRAMES = ("pandas", "polars", "pyarrow")


def frame_name(source: Any) -> str:
    """Name a frame in messages; anything else is refused."""
    family = type(source).__module__.split(".")[0]
    if family not in _FRAMES:
        kind = f"{type(source).__module__}.{type(source).__qualname__}"
        raise ReadError(kind, "is no path and no frame of pandas, polars or pyarrow")
    return f"{family} frame"


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
            database.execute("SET TimeZone = 'UTC'")
            yield database
        except duckdb.Error as error:
            what = str(error).strip().splitlines()[0]
            raise ReadError(name, f"cannot be read: {what}") from None
        finally:
            database.close()


def describe(database: Any, source: Any, name: str, format: Format) -> list[tuple[str, str]]:
    """Name the columns of a source with their types; they are c0, c1, ... in `relation`."""
    if format in ("csv", "tsv"):
        return [(column, "VARCHAR") for column in _header(source, format)[0]]
    rows = database.execute(f"DESCRIBE FROM {_raw(database, source, format)}").fetchall()
    return [(row[0], row[1]) for row in rows]


def relation(database: Any, source: Any, name: str, format: Format) -> str:
    """Give a source as SQL, with columns c0, c1, ... in the order of `describe`."""
    if format in ("csv", "tsv"):
        return _csv(source, format)
    described = describe(database, source, name, format)
    fields = ", ".join(f"{_quoted(column)} AS c{i}" for i, (column, _) in enumerate(described))
    return f"(SELECT {fields} FROM {_raw(database, source, format)})"


def _raw(database: Any, source: Any, format: Format) -> str:
    if format == "parquet":
        return f"read_parquet({_literal(source)})"
    database.register("frame", source)
    return "frame"


def _csv(path: Path, format: Format) -> str:
    header, comma = _header(path, format)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    packed = "gzip" if is_gzip(path) else "none"
    return (
        f"read_csv({_literal(path)}, auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_literal(comma)}, quote = '\"', escape = '\"', nullstr = '', "
        f"allow_quoted_nulls = false, compression = '{packed}', max_line_size = {MAX_ROW_BYTES})"
    )


def _header(path: Path, format: Format) -> tuple[list[str], str]:
    """Read the names of the columns, and what stands between them."""
    with Stream(path) as stream:
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


def _literal(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
