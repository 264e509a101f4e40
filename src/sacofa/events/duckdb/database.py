"""DuckDB databases with safe settings, and quoting of names and texts in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def borrowed(
    folder: Path | None = None, file: Path | None = None, settings: Mapping[str, str] | None = None
) -> DuckDBPyConnection:
    """Open a database that loads nothing from the network and never reads variables as tables.

    It spills to `folder`, if one is given, and stores its tables in a file, if one is given. It is
    closed at the end of the `with` block.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(folder or ""),
        "autoinstall_known_extensions": False,
        "python_enable_replacements": False,
        **(settings or {}),
    }
    database = duckdb.connect(str(file or ":memory:"), config=config)
    database.execute("SET GLOBAL TimeZone = 'UTC'; SET enable_progress_bar = false")
    return database


def first_row(database: DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    """The first row of the answer to a query that has one."""
    return database.execute(sql).fetchone() or ()


def as_os_error(error: Exception) -> OSError:
    """Extract the error of the operating system when a file could not be written.

    The name of the temporary file is dropped: users know the name of the target only.
    """
    said = str(error).splitlines()[0]
    # Could not write file "…": No space left on device; in some versions inside a line of JSON.
    why = re.search(r'": ([^"]+)', said)
    return OSError(why[1] if why else said)


def literal(text: object) -> str:
    """Quote text for SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """Name a file literally: DuckDB takes `[1]`, `*` and `?` for patterns of other files."""
    return literal(re.sub(r"[\[\]*?]", r"[\g<0>]", str(path)))


def files_literal(paths: Iterable[Path]) -> str:
    """Name several files, as a list."""
    return f"[{', '.join(map(file_literal, paths))}]"


def quoted(column: str) -> str:
    """Quote a column name for SQL."""
    return '"' + column.replace('"', '""') + '"'
