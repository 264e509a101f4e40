"""The file of a ledger: an SQLite database that survives a crash at any moment.

Changes go through a rollback journal, and a change counts as made once the file, the journal and
the folder that they lie in have reached the disk (`synchronous = EXTRA`). A write-ahead log would
be faster, but spreads the ledger over three files of which a copy easily misses one, and does not
work on network drives. A ledger has a few writes a day: what counts is that it is one plain file.

Every operation opens the file anew, so that nothing is shared between threads or processes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ...errors import LedgerError

APPLICATION = 0x5AC0FA01
"""Marks an SQLite file as a ledger."""

VERSION = 1
"""The layout of the tables; a newer one is refused, because its rules are not known."""

WAIT = 60.0
"""How many seconds to wait for other processes to finish their writes."""

SCHEMA = f"""
CREATE TABLE budgets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL,
    at TEXT NOT NULL,
    epsilon TEXT,
    seal TEXT NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL,
    at TEXT NOT NULL,
    mechanism TEXT NOT NULL,
    settings TEXT NOT NULL,
    price TEXT,
    certificate TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'failed', 'returned')),
    file TEXT,
    sha256 TEXT,
    reason TEXT,
    repeats INTEGER,
    seal TEXT NOT NULL
);
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
    BEGIN SELECT raise(ABORT, 'a release cannot be taken back'); END;
CREATE TRIGGER prices_stay BEFORE UPDATE OF id, dataset, price ON entries
    WHEN new.id <> old.id OR new.dataset <> old.dataset OR new.price IS NOT old.price
    BEGIN SELECT raise(ABORT, 'a price cannot be changed'); END;
CREATE TRIGGER ends_stay BEFORE UPDATE OF state ON entries WHEN old.state <> 'reserved'
    BEGIN SELECT raise(ABORT, 'a release ends once'); END;
CREATE TRIGGER budgets_stay BEFORE DELETE ON budgets
    BEGIN SELECT raise(ABORT, 'a budget cannot be taken back'); END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger to read one state of it."""
    with _connected(path) as database:
        database.execute("BEGIN")
        _check_version(path, database)
        yield database


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger for one change, alone; at the end it is on disk, after an error undone."""
    with _connected(path) as database:
        database.execute("BEGIN IMMEDIATE")
        _check_version(path, database)
        yield database
        database.execute("COMMIT")


def check(path: Path) -> None:
    """Refuse a file that is no ledger, is of a newer version, or is damaged."""
    with reading(path) as database:
        if database.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise damaged(path)


def create(path: Path) -> None:
    """Make a new ledger, unless there is one."""
    with _connected(path, mode="rwc") as database:
        database.execute("BEGIN IMMEDIATE")
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (kind,) = database.execute("PRAGMA application_id").fetchone()
        if tables == 0 and kind == 0:
            for statement in _statements():
                database.execute(statement)
        database.execute("COMMIT")
    check(path)


def _statements() -> Iterator[str]:
    """One statement at a time: `executescript` would commit before the first."""
    statement = ""
    for line in SCHEMA.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def _connected(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Connect; whatever the database complains of becomes one clear line."""
    if mode == "rw" and not path.is_file():
        raise LedgerError(
            f"{path}: there is no ledger: make one with sacofa ledger budget {path} DATASET EPSILON"
        )
    try:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        # Closing without a commit rolls back.
        with closing(sqlite3.connect(uri, WAIT, isolation_level=None, uri=True)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("PRAGMA fullfsync = ON")
            yield database
    except UnicodeError:
        raise damaged(path) from None
    except sqlite3.Error as error:
        raise _explained(path, error) from None


def _check_version(path: Path, database: sqlite3.Connection) -> None:
    (kind,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if kind != APPLICATION:
        raise LedgerError(f"{path}: not a ledger: name another file")
    if version > VERSION:
        raise LedgerError(
            f"{path}: a ledger of version {version}, and this program knows version {VERSION}: "
            "update sacofa"
        )
    if version < 1:
        raise damaged(path)


def damaged(path: Path) -> LedgerError:
    """Say that a ledger is damaged."""
    return LedgerError(
        f"{path}: the ledger is damaged: unescape_formula a copy, and mind what was released since"
    )


def _explained(path: Path, error: sqlite3.Error) -> LedgerError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(f"{path}: not a ledger: name another file")
    why = {
        sqlite3.SQLITE_READONLY: "cannot be written to: allow it for the file and its folder",
        sqlite3.SQLITE_FULL: "the disk is full: make room",
        sqlite3.SQLITE_IOERR: "the disk does not read or write (full, or broken?): look at it",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: look at its folder and the rights to it",
        sqlite3.SQLITE_BUSY: "other processes keep it busy: try again",
        sqlite3.SQLITE_PERM: "no right to open it",
        sqlite3.SQLITE_AUTH: "no right to open it",
    }.get(code)
    return damaged(path) if why is None else LedgerError(f"{path}: {why}")
