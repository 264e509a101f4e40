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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TypeVar, get_args

from ..base.periods import Period
from ..errors import SettingError
from .records import Account, Budget, Charged, Claim, Entry, Part, State
from .storage import DamageError

MOST_DIGITS = 4_000
"""No sum of prices is written with more; Python itself refuses to read a little more than that."""
_PRICE = re.compile(f"[0-9]{{1,{MOST_DIGITS}}}(/[1-9][0-9]{{0,{MOST_DIGITS}}})?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Head:
    """The head of a ledger: its number of rows, and the end of the chain."""

    entries: int = 0
    budgets: int = 0
    chain: str = ""


@dataclass(frozen=True, kw_only=True)
class KeyCheck:
    """The fingerprint of the key that hashes cases."""

    fingerprint: str


Record = Entry | Budget | Account | Head | Part | Claim | KeyCheck
Row = TypeVar("Row", bound=Record)

TABLES: dict[type, tuple[str, str]] = {
    Entry: ("entries", "id"),
    Budget: ("budgets", "id"),
    Account: ("accounts", "dataset"),
    Head: ("head", "one"),
    Part: ("parts", "dataset, period, charged"),
    Claim: ("claims", "entry"),
    KeyCheck: ("case_key", "one"),
}
"""The table and the key column of each kind of row."""
PRICES = ("price", "epsilon", "budget", "finite", "delta", "rho", "selection")
NUMBERS = ("id", "size", "repeats", "entries", "budgets", "endless", "entry", "number")
OPTIONAL = (
    "price", "epsilon", "budget", "file", "size", "sha256", "reason", "repeats", "number", "digest",
)  # fmt: skip
LATER = ("delta", "rho", "selection")
"""Columns that former versions do not have: empty where there is nothing in them, and not in the
seal then, so that rows of former versions stay as they are."""
WORDS = {"state": get_args(State), "charged": get_args(Charged)}
"""The words that columns may hold."""


def select(
    database: sqlite3.Connection, kind: type[Row], where: str, *values: object
) -> Iterator[Row]:
    """Read rows of a table; the seal and the values of each are checked."""
    names = _columns(kind)
    found = database.execute(
        f"SELECT {', '.join(names)}, seal FROM {TABLES[kind][0]} {where}", values
    )
    for *content, seal in found:
        row = {n: v for n, v in zip(names, content, strict=True) if n not in LATER or v is not None}
        if seal != _seal_row(row):
            raise DamageError
        # The values fit the columns: each was checked.
        yield kind(**{name: _checked(name, value) for name, value in row.items()})  # type: ignore[arg-type]


def _columns(kind: type) -> list[str]:
    """The fields of a record that are columns."""
    return [field.name for field in fields(kind) if field.metadata.get("stored", True)]


def _checked(name: str, value: object) -> object:
    """Check the type and range of a value; a valid seal proves nothing."""
    if value is None and name in OPTIONAL:
        return None
    if name in NUMBERS:
        if not isinstance(value, int) or value < 0:
            raise DamageError
        return value
    if not isinstance(value, str) or value not in WORDS.get(name, (value,)):
        raise DamageError
    if name == "period":
        _check_period(value)
    return _read_price(value) if name in PRICES else value


def _check_period(name: str) -> None:
    try:
        Period.parse(name)
    except SettingError:
        raise DamageError from None


def _read_price(text: str) -> Fraction:
    """Parse an ε as the ledger writes it. `1e999999999` would need gigabytes of memory."""
    if not _PRICE.fullmatch(text):
        raise DamageError
    return Fraction(text)


def write(database: sqlite3.Connection, record: Record) -> None:
    """Write a row, new or changed."""
    table, key = TABLES[type(record)]
    row = {name: getattr(record, name) for name in _columns(type(record))}
    row |= {name: _text(row[name]) for name in PRICES if name in row}
    row |= {name: None for name in LATER if row.get(name) == "0"}
    seal = _seal_row({n: v for n, v in row.items() if n not in LATER or v is not None})
    if isinstance(record, Entry):
        row["asked"] = asked(record)
    if isinstance(record, Head | KeyCheck):
        row["one"] = 1
    row["seal"] = seal
    changes = ", ".join(f"{name} = excluded.{name}" for name in row)
    database.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) "
        f"ON CONFLICT ({key}) DO UPDATE SET {changes}",
        tuple(row.values()),
    )


def asked(entry: Entry) -> str:
    """Hash a request; releases with the same hash differ in their noise only."""
    claimed = [_text(entry.price)]
    if entry.delta or entry.rho is not None or entry.selection:
        claimed += map(_text, (entry.delta, entry.rho, entry.selection))
    return _seal([entry.dataset, entry.mechanism, entry.settings, *claimed])


def chain_of(before: str, entry: Entry) -> str:
    """Chain a request and its ε to the row before; later changes of state are not included."""
    return _seal([before, entry.id, entry.token, entry.at, asked(entry)])


def _text(price: Fraction | None) -> str | None:
    return None if price is None else str(price)


def _seal_row(row: Mapping[str, object]) -> str:
    """The seal of a row; its later columns are named, because any of them may be missing."""
    later = [[name, row[name]] for name in LATER if name in row]
    return _seal([*(value for name, value in row.items() if name not in LATER), *later])


def _seal(values: list[object]) -> str:
    try:
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()
    except TypeError:
        raise DamageError from None


def find(database: sqlite3.Connection, kind: type[Row], key: object) -> Row | None:
    """Read one row, or None."""
    return next(select(database, kind, f"WHERE {TABLES[kind][1]} = ?", key), None)


def read_head(database: sqlite3.Connection) -> Head:
    """Read the head; the last entry and the last budget must be those that it knows."""
    head = find(database, Head, 1)
    entry = next(select(database, Entry, "ORDER BY id DESC LIMIT 1"), None)
    (budgets,) = database.execute("SELECT coalesce(max(id), 0) FROM budgets").fetchone()
    last = (0, "") if entry is None else (entry.id, entry.chain)
    if head is None or last != (head.entries, head.chain) or budgets != head.budgets:
        raise DamageError
    return head


def read_entries(database: sqlite3.Connection) -> Iterator[Entry]:
    """Read all entries in their order; each must be chained to the one before."""
    head, chain, number = read_head(database), "", 0
    for number, entry in enumerate(select(database, Entry, "ORDER BY id"), start=1):
        if entry.id != number or entry.chain != chain_of(chain, entry):
            raise DamageError
        chain = entry.chain
        yield entry
    if (number, chain) != (head.entries, head.chain):
        raise DamageError


def read_budgets(database: sqlite3.Connection) -> list[Budget]:
    """Read all budgets in their order."""
    budgets = list(select(database, Budget, "ORDER BY id"))
    if [budget.id for budget in budgets] != list(range(1, read_head(database).budgets + 1)):
        raise DamageError
    return budgets


def read_accounts(
    database: sqlite3.Connection, where: str = "ORDER BY dataset", *values: object
) -> list[Account]:
    """Read accounts, by name, with the sums of their periods."""
    of_account = "WHERE dataset = ? ORDER BY period, charged"
    return [
        replace(account, parts=tuple(select(database, Part, of_account, account.dataset)))
        for account in select(database, Account, where, *values)
    ]


def read_claims(database: sqlite3.Connection) -> dict[int, Claim]:
    """Read every claim by the number of its release, with its cases."""
    claims = {claim.entry: claim for claim in select(database, Claim, "ORDER BY entry")}
    for claim in claims.values():
        claimed(database, claim)
    return claims


def claimed(database: sqlite3.Connection, claim: Claim) -> list[bytes]:
    """The keyed hashes of the cases that a release took, checked against their number and hash."""
    query = "SELECT hash FROM claimed WHERE entry = ? ORDER BY hash"
    hashes = [bytes(hash) for (hash,) in database.execute(query, (claim.entry,))]
    if (claim.number or 0) != len(hashes) or (claim.digest or digest([])) != digest(hashes):
        raise DamageError
    return hashes


def claim_cases(database: sqlite3.Connection, claim: Claim, hashes: Sequence[bytes]) -> None:
    """Write down which cases a release takes."""
    database.executemany(
        "INSERT INTO claimed (hash, entry) VALUES (?, ?)", ((hash, claim.entry) for hash in hashes)
    )
    write(database, replace(claim, number=len(hashes), digest=digest(sorted(hashes))))


def find_taken(database: sqlite3.Connection, dataset: str, period: str) -> set[bytes]:
    """The cases of a dataset that a release of a period must leave out.

    A case that is out, in whatever period, is out for good. One that was taken by a release that
    died can be taken again by releases of the same period: that period pays again.
    """
    releases = database.execute(
        "SELECT claims.entry FROM claims JOIN entries ON entries.id = claims.entry "
        "WHERE entries.dataset = ? AND claims.number IS NOT NULL "
        "AND (entries.state = 'released' OR (entries.state <> 'returned' AND claims.period <> ?))",
        (dataset, period),
    ).fetchall()
    taken: set[bytes] = set()
    for (entry,) in releases:
        claim = find(database, Claim, entry)
        if claim is None or claim.digest is None:
            raise DamageError
        taken.update(claimed(database, claim))
    return taken


def digest(hashes: Sequence[bytes]) -> str:
    """A hash of keyed hashes of cases, in their order."""
    return hashlib.sha256(b"".join(hashes)).hexdigest()
