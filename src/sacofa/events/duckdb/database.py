"""Databases of DuckDB, and names and texts as SQL has them, so that none is taken for more."""

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
    """Open a database that loads nothing from the net and takes no variable for a table.

    What finds no room in memory goes into a folder, or nowhere. Its tables lie in a file if one is
    named. It closes at the end of a `with`.
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
    """What the system said when a file could not be written.

    Whoever named the file knows its name: that of a part of it would tell people nothing.
    """
    said = str(error).splitlines()[0]
    # Could not write file "…": No space left on device; in some versions inside a line of JSON.
    why = re.search(r'": ([^"]+)', said)
    return OSError(why[1] if why else said)


def literal(text: object) -> str:
    """Give text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """Name a file literally: DuckDB takes `[1]`, `*` and `?` for patterns of other files."""
    return literal(re.sub(r"[\[\]*?]", r"[\g<0>]", str(path)))


def files_literal(paths: Iterable[Path]) -> str:
    """Name several files, as a list."""
    return f"[{', '.join(map(file_literal, paths))}]"


def quoted(column: str) -> str:
    """Give the name of a column as SQL has it."""
    return '"' + column.replace('"', '""') + '"'
