"""Databases in memory, each lent to one user at a time and wiped before the next.

To make a database takes longer than to read a small log. So a process keeps one that nobody uses.
Whoever borrows it has it alone, with tables, settings and temporary files of its own; others who
come meanwhile get another. One that cannot be wiped, that had settings of its own, or that
something went wrong in, is not lent again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CATALOG = "log"
"""What holds the tables of whoever borrows a database; it goes when they give it back."""

_idle: dict[int, DuckDBPyConnection] = {}
"""The database of a process that nobody uses: a fork has no use for that of its parent."""


@contextmanager
def borrowed(
    folder: Path | None, file: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[DuckDBPyConnection]:
    """Lend a database; what finds no room in memory goes into a folder, or nowhere.

    Its tables lie in a file if one is named. A database with settings of its own is closed at the
    end: `RESET memory_limit` does not lift the limit in force in DuckDB 1.4 and 1.5.
    """
    process, settings = os.getpid(), settings or {}
    database = _idle.pop(process, None) or make_database()
    try:
        database.execute(
            f"SET temp_directory = {literal(folder or '')}; "
            "SET enable_external_file_cache = true; "
            + "".join(f"SET {name} = {literal(value)}; " for name, value in settings.items())
            + f"ATTACH {literal(file or ':memory:')} AS {CATALOG}"
        )
        with closing(database.cursor()) as session:
            session.execute(f"USE {CATALOG}; SET enable_progress_bar = false")
            yield session
        database.execute(f"DETACH {CATALOG}")
    except BaseException:
        database.close()
        raise
    if settings or not _wipe(database) or _idle.setdefault(process, database) is not database:
        database.close()


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


def make_database() -> DuckDBPyConnection:
    """Make a database that loads nothing from the net and takes no variable for a table."""
    import duckdb

    database = duckdb.connect(
        config={
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "python_enable_replacements": False,
        }
    )
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


def _wipe(database: DuckDBPyConnection) -> bool:
    """Forget files; tell whether that is possible."""
    import duckdb

    try:
        # A file that was written again is another one, whatever was seen under its name.
        database.execute(
            "SET enable_external_file_cache = false; "
            # This fails where temporary files were written: they go with their database alone.
            "SET temp_directory = ''"
        )
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False
    return True
