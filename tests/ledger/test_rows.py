"""Rows of a ledger: what was changed, lost or never was one is not taken for a row."""

from __future__ import annotations

import hashlib
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from sacofa.errors import LedgerError, SettingError
from sacofa.ledger import Entry, Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a large budget."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(1_000))
    return made


def reserve(ledger: Ledger, price: Fraction) -> Entry:
    """Reserve the price of a release."""
    return ledger.reserve(
        "visits", mechanism="certified", settings="{}", price=price, certificate="{}"
    )


def execute(ledger: Ledger, change: str) -> None:
    """Change the database by hand; its triggers are the same afterwards."""
    with sqlite3.connect(ledger.path) as database:
        listed = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = database.execute(listed).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute(change)
        for _, made in triggers:
            database.execute(made)


@pytest.mark.parametrize("column", ["certificate", "file", "sha256", "reason"])
def test_what_became_of_a_release_cannot_be_changed_unnoticed(ledger: Ledger, column: str) -> None:
    """It is not chained to other rows: the seal of the row alone tells."""
    reserve(ledger, Fraction(1))
    execute(ledger, f"UPDATE entries SET {column} = 'another'")
    with pytest.raises(LedgerError, match="damaged"):
        ledger.check()
    with pytest.raises(LedgerError, match="damaged"):
        ledger.entries()


@pytest.mark.parametrize("table", ["entries", "budgets"])
def test_a_lost_last_row_is_noticed_when_a_ledger_is_opened(ledger: Ledger, table: str) -> None:
    """And nothing is reserved from it, however much is left."""
    for _ in range(2):
        reserve(ledger, Fraction(1))
        ledger.set_budget("visits", Fraction(1_000))
    execute(ledger, f"DELETE FROM {table} WHERE id = (SELECT max(id) FROM {table})")
    with pytest.raises(LedgerError, match="damaged"):
        Ledger.open(ledger.path)
    with pytest.raises(LedgerError, match="damaged"):
        reserve(ledger, Fraction(1))


def test_a_release_gives_nothing_back(ledger: Ledger) -> None:
    """A price below 0 would be more to spend."""
    with pytest.raises(SettingError, match="price"):
        reserve(ledger, Fraction(-1))
    assert ledger.account("visits").left == 1_000


def test_a_file_of_that_name_and_size_is_the_release_if_it_has_the_hash(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Else the release died before its file had its name."""
    entry, file = reserve(ledger, Fraction(1)), tmp_path / "out.csv"
    digest = hashlib.sha256(b"released").hexdigest()
    ledger.link(entry, file=file, size=8, sha256=digest, certificate="{}")
    for content, state in ((b"RELEASED", "reserved"), (b"released", "released")):
        file.write_bytes(content)
        assert [entry.state for entry in ledger.entries()] == [state]
