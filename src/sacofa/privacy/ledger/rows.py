"""Entries and budgets as rows of the database.

Every row carries a seal, a hash of what it says, and rows are numbered without gaps. So a row that
was damaged or lost on disk is noticed before anything is spent by it. It is no signature: whoever
changes a ledger on purpose can seal it again.

Prices are text such as `1/10`: a database would add them up as floats.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import fields
from fractions import Fraction
from typing import Any

from .records import Budget, Entry


class DamageError(Exception):
    """A row that does not say what was once written there."""


def read_entries(database: sqlite3.Connection) -> list[Entry]:
    """Read all entries in their order."""
    return [Entry(**row) for row in _read(database, "entries", Entry)]


def read_budgets(database: sqlite3.Connection) -> list[Budget]:
    """Read all budgets in their order."""
    return [Budget(**row) for row in _read(database, "budgets", Budget)]


def write_entry(database: sqlite3.Connection, entry: Entry) -> None:
    """Write an entry, new or changed."""
    _write(database, "entries", entry)


def write_budget(database: sqlite3.Connection, budget: Budget) -> None:
    """Write a new budget."""
    _write(database, "budgets", budget)


PRICES = ("price", "epsilon")


def _read(database: sqlite3.Connection, table: str, kind: type) -> list[dict[str, Any]]:
    names = [field.name for field in fields(kind)]
    found = database.execute(f"SELECT {', '.join(names)}, seal FROM {table} ORDER BY id").fetchall()
    last = database.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    if len(found) != (last[0] if last else 0):
        raise DamageError
    rows = []
    for number, (*values, seal) in enumerate(found, start=1):
        row = dict(zip(names, values, strict=True))
        if row["id"] != number or seal != _seal(values):
            raise DamageError
        for name in PRICES:
            if row.get(name) is not None:
                row[name] = Fraction(row[name])
        rows.append(row)
    return rows


def _write(database: sqlite3.Connection, table: str, record: Entry | Budget) -> None:
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    for name in PRICES:
        if row.get(name) is not None:
            row[name] = str(row[name])
    values = list(row.values())
    changes = ", ".join(f"{name} = excluded.{name}" for name in (*row, "seal"))
    database.execute(
        f"INSERT INTO {table} ({', '.join(row)}, seal) VALUES ({'?, ' * len(row)}?) "
        f"ON CONFLICT (id) DO UPDATE SET {changes}",
        (*values, _seal(values)),
    )


def _seal(values: list[Any]) -> str:
    try:
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()
    except TypeError:
        raise DamageError from None
