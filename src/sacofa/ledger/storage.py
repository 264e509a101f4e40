"""The file of a ledger: an SQLite database that survives a crash at any moment.

Changes go through a rollback journal, and a change counts as made once the file, the journal and
the folder that they lie in have reached the disk (`synchronous = EXTRA`). A write-ahead log would
be faster, but spreads the ledger over three files of which a copy easily misses one, and does not
work on network drives. A ledger has a few writes a day: what counts is that it is one plain file.

Every operation opens the file anew, so that nothing is shared between threads or processes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from ..base.files import is_name
from ..errors import LedgerError, Statement

APPLICATION = 0x5AC0FA01
"""Marks an SQLite file as a ledger."""
VERSION = 4
"""The layout of the tables; a newer one is refused, because its rules are not known."""
WAIT = 60.0
"""Seconds to wait for the writes of other processes."""
LARGEST_VALUE = 1 << 26
"""No value of a row is longer than this; a hostile one would fill the memory."""

_FOLDER = Path(__file__).parent
SCHEMA = (_FOLDER / "tables.sql").read_text(encoding="utf-8") + (
    f"PRAGMA application_id = {APPLICATION};\nPRAGMA user_version = 2;\n"
)
"""The tables of version 2."""
UPGRADES = {
    before: f"{(_FOLDER / name).read_text(encoding='utf-8')}PRAGMA user_version = {before + 1};\n"
    for before, name in ((2, "periods.sql"), (3, "deltas.sql"))
}
"""What each version has more than the one before: releases of periods, and the cases of each; then
budgets in ρ, and releases with a δ."""
LAYOUT = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name LIMIT 100"

NO_LEDGER = Statement("ledger.other_file")
DAMAGED = Statement("ledger.damaged")
COMPLAINTS = {
    sqlite3.SQLITE_NOTADB: NO_LEDGER,
    sqlite3.SQLITE_READONLY: Statement("ledger.read_only"),
    sqlite3.SQLITE_FULL: Statement("ledger.disk_full"),
    sqlite3.SQLITE_IOERR: Statement("ledger.disk_fails"),
    sqlite3.SQLITE_CANTOPEN: Statement("ledger.cannot_open"),
    sqlite3.SQLITE_BUSY: Statement("ledger.busy"),
    sqlite3.SQLITE_PERM: Statement("ledger.no_right"),
    sqlite3.SQLITE_AUTH: Statement("ledger.no_right"),
}
"""Database errors that have other causes than damage."""


class DamageError(Exception):
    """A ledger lacks content that was once written to it."""


def refusal(path: Path | str, what: Statement) -> LedgerError:
    """Return the error for an unusable file of a ledger, or one next to it."""
    return LedgerError(Statement("error.file", path=str(path), what=what))


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger to read one state of it."""
    with _connected(path) as database:
        database.execute("BEGIN")
        # The file may be read only: it gets its new tables and columns with the next change.
        for statement in _as_views(_check_kind(path, database)):
            database.execute(statement)
        yield database


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger for one change, alone; at the end it is on disk, after an error undone."""
    with _connected(path) as database:
        database.execute("BEGIN IMMEDIATE")
        for statement in _statements(_script(_check_kind(path, database))):
            database.execute(statement)
        yield database
        database.execute("COMMIT")


def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Create a ledger with the rows of an empty one, unless it exists."""
    with _connected(path, mode="rwc") as database:
        database.execute("BEGIN IMMEDIATE")
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (kind,) = database.execute("PRAGMA application_id").fetchone()
        if tables == 0 and kind == 0:
            for statement in _statements(SCHEMA + _script(2)):
                database.execute(statement)
            fill(database)
        database.execute("COMMIT")


def _script(version: int, wanted: int = VERSION) -> str:
    """What makes a ledger of a version one of another."""
    return "".join(UPGRADES[before] for before in range(version, wanted))


def _as_views(version: int) -> Iterator[str]:
    """Views that present a ledger of a former version as one of this version."""
    columns: dict[str, list[str]] = {}
    for statement in _statements(_script(version)):
        words = statement.split()
        if words[:2] == ["CREATE", "TABLE"]:
            yield statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1)
        elif words[:2] == ["ALTER", "TABLE"]:
            columns.setdefault(words[2], []).append(words[5])
    for table, names in columns.items():
        if version == 2 and table == "parts":
            yield from (f"ALTER TABLE parts ADD COLUMN {name} TEXT" for name in names)
            continue
        more = ", ".join(f"NULL AS {name}" for name in names)
        yield f"CREATE TEMP VIEW {table} AS SELECT *, {more} FROM main.{table}"


def _statements(script: str) -> Iterator[str]:
    """One statement at a time: `executescript` would commit before the first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@cache
def _layout(version: int) -> list[tuple[str, ...]]:
    """Return the schema that the database reports for the tables above."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA + _script(2, version))
        return database.execute(LAYOUT).fetchall()


@contextmanager
def _connected(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Connect; every database error becomes a one-line message."""
    _check_files(path, mode)
    try:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        # Closing without a commit rolls back.
        with closing(sqlite3.connect(uri, WAIT, isolation_level=None, uri=True)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("PRAGMA fullfsync = ON")
            yield database
    except (DamageError, UnicodeDecodeError):
        raise refusal(path, DAMAGED) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise refusal(path, COMPLAINTS.get(code, DAMAGED)) from None


def _check_files(path: Path, mode: str) -> None:
    """Refuse a ledger, or a journal of it, that is a pipe or a device: it could be read forever.

    And one that has two names (a hard link): what a crash leaves lies beside the name that was
    used, and so does the policy. By the other name neither would be found.
    """
    if not is_name(path):
        raise refusal(ascii(str(path)), Statement("file.no_name"))
    try:
        for file in (path, Path(f"{path}-journal"), Path(f"{path}-wal")):
            if file.exists() and not file.is_file():
                raise refusal(file, Statement("file.not_regular"))
        names = path.stat().st_nlink if path.exists() else 0
    except OSError as error:
        raise refusal(path, Statement("file.unreadable", why=error.strerror)) from None
    if names > 1:
        raise refusal(path, Statement("ledger.hard_link"))
    if mode == "rw" and not names:
        raise refusal(path, Statement("ledger.missing", path=str(path)))


def _check_kind(path: Path, database: sqlite3.Connection) -> int:
    """Refuse another database, a strange version, tables not just those above; give the version."""
    kind, version, pages, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version", "page_count", "page_size")
    )
    if kind != APPLICATION:
        raise refusal(path, NO_LEDGER)
    if version > VERSION:
        raise refusal(path, Statement("ledger.newer", version=version, known=VERSION))
    if version == 1:
        raise refusal(path, Statement("ledger.version_1"))
    # A view in place of a table could have rows without end, and a trigger could do anything.
    if version < 1 or database.execute(LAYOUT).fetchall() != _layout(version):
        raise DamageError
    # The file is not opened for that: closing it would give up the locks of the database on it.
    if path.stat().st_size < pages * size:
        raise DamageError
    return version
