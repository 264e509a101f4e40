"""Entries, budgets and accounts as rows of the database.

Every row carries a seal, a hash of what it says. Entries are numbered without gaps, and each is
chained to the one before by a hash of what was asked for and paid; a single row, the head, holds
the numbers and the end of the chain. So a row that was damaged, lost or comes from another copy is
noticed. It is no signature: whoever changes a ledger on purpose can seal it again, and so nothing
here trusts a value because its seal is right.

Prices are text such as `1/10`: a database would add them up as floats.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, get_args

from .records import Account, Budget, Entry, State

PRICES = ("price", "epsilon", "budget", "finite")
NUMBERS = ("id", "size", "repeats", "entries", "budgets", "endless")
MOST_DIGITS = 4_000
"""No sum of prices is written with more; Python itself refuses to read a little more than that."""
_PRICE = re.compile(f"[0-9]{{1,{MOST_DIGITS}}}(/[1-9][0-9]{{0,{MOST_DIGITS}}})?", re.ASCII)


class DamageError(Exception):
    """A row that does not say what was once written there."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a ledger knows of itself: how many rows there are, and where the chain ends."""

    entries: int = 0
    budgets: int = 0
    chain: str = ""


TABLES: dict[type, tuple[str, str]] = {
    Entry: ("entries", "id"),
    Budget: ("budgets", "id"),
    Account: ("accounts", "dataset"),
    Head: ("head", "one"),
}
"""For each kind of row its table, and what it is found by."""


def read_head(database: sqlite3.Connection) -> Head:
    """Read the head; the last entry and the last budget must be those that it knows."""
    head: Head | None = find(database, Head, 1)
    if head is None:
        raise DamageError
    entry = next(iter(_rows(database, Entry, "ORDER BY id DESC LIMIT 1")), None)
    (budgets,) = database.execute("SELECT coalesce(max(id), 0) FROM budgets").fetchone()
    last = (0, "") if entry is None else (entry.id, entry.chain)
    if last != (head.entries, head.chain) or budgets != head.budgets:
        raise DamageError
    return head


def find(database: sqlite3.Connection, kind: type, key: object) -> Any:
    """Read one row, or None."""
    return next(iter(_rows(database, kind, f"WHERE {TABLES[kind][1]} = ?", key)), None)


def find_token(database: sqlite3.Connection, token: str) -> Entry | None:
    """Find an entry by its random id."""
    return next(iter(_rows(database, Entry, "WHERE token = ?", token)), None)


def list_open(database: sqlite3.Connection, most: int) -> list[tuple[int, str, int]]:
    """List number, file and size of the latest entries that have not ended and know their file."""
    return database.execute(
        "SELECT id, file, size FROM entries WHERE state = 'reserved' AND file IS NOT NULL "
        "ORDER BY id DESC LIMIT ?",
        (most,),
    ).fetchall()


def find_repeated(database: sqlite3.Connection, asked: str) -> int | None:
    """Give the latest entry that counts as spent and was asked for in just the same way."""
    found: int | None
    (found,) = database.execute(
        "SELECT max(id) FROM entries WHERE asked = ? AND state <> 'returned'", (asked,)
    ).fetchone()
    return found


def read_entries(database: sqlite3.Connection) -> Iterator[Entry]:
    """Read all entries in their order; each must be chained to the one before."""
    head, chain, number = read_head(database), "", 0
    for number, entry in enumerate(_rows(database, Entry, "ORDER BY id"), start=1):
        if entry.id != number or entry.chain != chain_of(chain, entry):
            raise DamageError
        chain = entry.chain
        yield entry
    if (number, chain) != (head.entries, head.chain):
        raise DamageError


def read_budgets(database: sqlite3.Connection) -> list[Budget]:
    """Read all budgets in their order."""
    budgets: list[Budget] = list(_rows(database, Budget, "ORDER BY id"))
    if [budget.id for budget in budgets] != list(range(1, read_head(database).budgets + 1)):
        raise DamageError
    return budgets


def read_accounts(database: sqlite3.Connection) -> list[Account]:
    """Read all accounts, by name."""
    return list(_rows(database, Account, "ORDER BY dataset"))


def write(database: sqlite3.Connection, record: Entry | Budget | Account | Head) -> None:
    """Write a row, new or changed."""
    table, key = TABLES[type(record)]
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    for name in PRICES:
        if row.get(name) is not None:
            row[name] = str(row[name])
    values = list(row.values())
    seal = _seal(values)
    if isinstance(record, Entry):
        row["asked"] = asked(record)
    if isinstance(record, Head):
        row["one"] = 1
    row["seal"] = seal
    changes = ", ".join(f"{name} = excluded.{name}" for name in row)
    database.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) "
        f"ON CONFLICT ({key}) DO UPDATE SET {changes}",
        tuple(row.values()),
    )


def asked(entry: Entry) -> str:
    """A hash of what was asked for; two that are the same differ in their noise only."""
    return _seal([entry.dataset, entry.mechanism, entry.settings, _text(entry.price)])


def chain_of(before: str, entry: Entry) -> str:
    """Chain what was asked for and paid to the row before; what becomes of it later is not in."""
    return _seal([before, entry.id, entry.token, entry.at, asked(entry)])


def _text(price: Fraction | None) -> str | None:
    return None if price is None else str(price)


def _rows(database: sqlite3.Connection, kind: type, where: str, *values: object) -> Iterator[Any]:
    names = [field.name for field in fields(kind)]
    found = database.execute(
        f"SELECT {', '.join(names)}, seal FROM {TABLES[kind][0]} {where}", values
    )
    for *content, seal in found:
        if seal != _seal(content):
            raise DamageError
        yield kind(**{name: _checked(name, value) for name, value in zip(names, content)})  # noqa: B905


def _checked(name: str, value: Any) -> Any:
    """Take a value as what its column must hold; a right seal proves nothing."""
    if value is None and name in ("price", "epsilon", "budget", *OPTIONAL):
        return None
    if name in NUMBERS:
        if not isinstance(value, int) or value < 0:
            raise DamageError
        return value
    if not isinstance(value, str):
        raise DamageError
    if name in PRICES:
        return read_price(value)
    if name == "state" and value not in get_args(State):
        raise DamageError
    return value


OPTIONAL = ("file", "size", "sha256", "reason", "repeats")


def read_price(text: str) -> Fraction:
    """Read a price as it is written here; `1e999999999` would be a number that fills the memory."""
    if not _PRICE.fullmatch(text):
        raise DamageError
    return Fraction(text)


def _seal(values: list[Any]) -> str:
    try:
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()
    except TypeError:
        raise DamageError from None
