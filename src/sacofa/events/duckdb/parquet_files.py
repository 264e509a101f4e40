"""Checks on Parquet files before they are read: few columns, and the same types in all.

A small file can hold the names of a million columns, for which libraries take minutes and
gigabytes. With several files, the first would determine the type of a column for all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.files import unreadable
from ...errors import Argument, ReadError, Statement
from ..cells.duckdb_sql import LONG_WHOLE, SHORT_WHOLE
from ..columns import Columns, resolve_columns
from ..options import ReadOptions
from ..source import used_columns
from .csv_files import MAX_COLUMNS, too_wide
from .database import file_literal, files_literal, first_row

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COMPARABLE_TYPES = {*SHORT_WHOLE, *LONG_WHOLE, "DOUBLE"}
"""Types that may differ between files: their cells have the same text in each."""

UNCHECKED_ROWS = 100_000_000
"""Up to this many rows any Parquet file is let through."""

ROWS_A_BYTE = 10
"""A Parquet file with more rows than this for each of its bytes is refused unless trusted."""

LARGEST_FOOTER = 1 << 20
"""Upper bound on a footer that does not begin with its columns, unlike those of known programs."""

# The footer is a FileMetaData in Thrift's compact protocol: field 1, the version as a number;
# field 2, the schema as a list, whose length is in four bits or, if it is 15 or more, in a separate
# number.
_NUMBER = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_FOOTER = re.compile(rb"\x15" + _NUMBER + rb"\x19(?:\xfc(" + _NUMBER + rb")|[\x0c-\xec])")


def refuse_wide(path: Path) -> None:
    """Refuse a Parquet file with more columns than a table may have."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - 8, 0))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != b"PAR1" or length > size - 8:
                raise ReadError(path, Statement("read.parquet.damaged"))
            file.seek(size - 8 - length)
            found = _FOOTER.match(file.read(16))
    except OSError as error:
        raise unreadable(path, error) from None
    if found is None and length > LARGEST_FOOTER:
        raise ReadError(path, Statement("read.parquet.no_columns"))
    if found is not None and found[1] is not None:
        # A number has seven bits a byte, the lowest first. The first column is the root.
        columns = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(found[1])) - 1
        if columns > MAX_COLUMNS:
            raise too_wide(path)


def refuse_bomb(database: DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Refuse files that claim implausibly many rows: a few bytes can declare a billion."""
    metadata = f"parquet_file_metadata({files_literal(paths)})"
    (rows,) = first_row(database, f"SELECT sum(num_rows) FROM {metadata}")
    size = sum(path.stat().st_size for path in paths)
    if rows is not None and rows > max(UNCHECKED_ROWS, ROWS_A_BYTE * size):
        trusted = Argument("trusted", True)
        what = Statement("read.parquet.bomb", rows=int(rows), bytes=size, trusted=trusted)
        raise ReadError(paths[0], what)


def has_several_types(
    database: DuckDBPyConnection,
    paths: Sequence[Path],
    columns: Columns | None,
    comparable: Set[str] = COMPARABLE_TYPES,
) -> bool:
    """Whether columns have different types in different files; refused unless they are
    `comparable`.

    Whole numbers and doubles may differ: libraries write doubles where one number is missing, and
    a cell is read the same from either.
    """
    if len(paths) == 1 or columns is None:
        return False
    types = _types(database, paths)
    present = set().union(*types)
    several = False
    # Folder names may define columns that are not in any file.
    for name in sorted(present & set(used_columns(columns, present))):
        first = types[0].get(name)
        for path, each in zip(paths, types, strict=True):
            kind = each.get(name)
            if kind == first:
                continue
            if kind is None or first is None:
                raise ReadError(path, Statement("read.parquet.not_in_all", column=name))
            if not {kind, first} <= comparable:
                what = Statement("read.parquet.other_type", column=name, kind=kind, first=first)
                raise ReadError(path, what)
            several = True
    return several


def refuse_other_roles(
    database: DuckDBPyConnection,
    paths: Sequence[Path],
    present: Sequence[str],
    columns: Columns,
    options: ReadOptions,
) -> None:
    """Refuse files in which columns would have other roles than in all files together (`present`).

    Otherwise the first file would decide whether the others have times, starts and transitions.
    """
    types = _types(database, paths)
    # Folder names may define columns that are not in any file.
    of_folders = set(present).difference(*types)
    for path, each in zip(paths, types, strict=True):
        if resolve_columns(str(path), [*each, *of_folders], options) != columns:
            raise ReadError(path, Statement("read.files.other_columns"))


def lengths_of_time(database: DuckDBPyConnection, paths: Sequence[Path]) -> list[str]:
    """Name the columns that pandas wrote for lengths of time: the file has whole numbers there.

    Pandas chooses the unit, and the type in memory (`numpy_type`), by all values. For lengths of
    time, `pandas_type` is "object" in any case; for whole numbers it never is.
    """
    found: list[object] = []
    for path, types in zip(paths, _types(database, paths), strict=True):
        told = database.execute(
            f"SELECT value FROM parquet_kv_metadata({file_literal(path)}) "
            "WHERE key = 'pandas'::BLOB"
        ).fetchall()
        # Metadata from programs other than pandas is irrelevant.
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            found += [
                each["field_name"]
                for (value,) in told
                for each in json.loads(bytes(value))["columns"]
                if str(each["numpy_type"]).startswith("timedelta")
                or (each["pandas_type"] == "object" and types.get(each["field_name"]) == "BIGINT")
            ]
    return [name for name in found if isinstance(name, str)]


def _types(database: DuckDBPyConnection, paths: Sequence[Path]) -> list[dict[str, str]]:
    """The columns of each file with their types, without the root and nested fields."""
    schema = database.execute(
        f"SELECT file_name, name, coalesce(duckdb_type, type, 'STRUCT'), coalesce(num_children, 0) "
        f"FROM parquet_schema({files_literal(paths)})"
    ).fetchall()
    found = []
    for _, (_, *fields) in groupby(schema, itemgetter(0)):
        found.append(dict[str, str]())
        inside = 0
        for _, name, kind, children in fields:
            if not inside:
                found[-1][name] = kind
            inside += children - bool(inside)
    return found
