"""Ledgers that a stranger made, or that something broke: refused in a line, never a hang."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import LedgerError, SettingError
from sacofa.ledger import Entry, Ledger, rows


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a release that was paid and died."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(10))
    reserve(made)
    return made


def reserve(ledger: Ledger, price: Fraction = Fraction(1)) -> Entry:
    """Pay for a release that does not matter."""
    return ledger.reserve(
        "visits", mechanism="certified", settings="{}", price=price, certificate="{}"
    )


def use(path: Path) -> None:
    """Everything that a ledger is used for."""
    ledger = Ledger.open(path)
    ledger.check()
    ledger.accounts()
    ledger.entries()
    reserve(ledger)


def change(path: Path, statement: str, *values: Any) -> None:
    """Change a ledger behind its back, past the triggers, and leave these as they were."""
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = found.fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement, values)
        for _, made in triggers:
            database.execute(made)


def seal(path: Path, table: str, kind: type) -> None:
    """Seal all rows of a table again, as a forger would."""
    names = list(kind.__dataclass_fields__)
    with sqlite3.connect(path) as database:
        found = database.execute(f"SELECT rowid, {', '.join(names)} FROM {table}").fetchall()
    for row, *values in found:
        content = {
            name: value
            for name, value in zip(names, values, strict=True)
            if name not in rows.LATER or value is not None
        }
        change(path, f"UPDATE {table} SET seal = ? WHERE rowid = ?", rows._seal_row(content), row)


def make_pipe(path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def make_endless(path: Path) -> None:
    """A link to zeros without end."""
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_endless, Path.mkdir])
def test_a_pipe_a_device_or_a_folder_is_no_ledger(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """Opening it would wait forever, or read without end."""
    make(tmp_path / "strange")
    for use_it in (Ledger.open, Ledger.create):
        with pytest.raises(LedgerError, match="not a regular file"):
            use_it(tmp_path / "strange")


def test_neither_is_its_journal(ledger: Ledger) -> None:
    """The database would read that first."""
    make_pipe(Path(f"{ledger.path}-journal"))
    with pytest.raises(LedgerError, match="journal: is not a regular file"):
        use(ledger.path)


@pytest.mark.parametrize("name", ["a\0b", "\udcff"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    """Not taken for damage: whoever restored a copy then would lose what was spent since."""
    for use_it in (Ledger.open, Ledger.create):
        with pytest.raises(LedgerError, match="is not a valid file name"):
            use_it(tmp_path / name)


@pytest.mark.parametrize(
    "price", ["1e99999999", "abc", "1/0", "-1", "", "٣", "1" * 5_000, "1\0", b"\xff", 1.5]
)
def test_a_price_that_cannot_be_is_damage(ledger: Ledger, price: object) -> None:
    """Also where every seal is right."""
    change(ledger.path, "UPDATE entries SET price = ?", price)
    if not isinstance(price, bytes):
        seal(ledger.path, "entries", Entry)
    with pytest.raises(LedgerError, match="damaged"):
        use(ledger.path)


def test_rows_without_end_are_not_begun(ledger: Ledger) -> None:
    """A view in place of a table, which has a row for every number."""
    with sqlite3.connect(ledger.path) as database:
        database.execute("ALTER TABLE accounts RENAME TO real_accounts")
        database.execute(
            "CREATE VIEW accounts AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
            "FROM n) SELECT 'd' || i AS dataset, NULL AS budget, '0' AS finite, 0 AS endless, "
            "'' AS seal FROM n"
        )
    for use_it in (Ledger.open, Ledger.create, lambda path: reserve(Ledger(path))):
        with pytest.raises(LedgerError, match="damaged"):
            use_it(ledger.path)


@pytest.mark.parametrize("file", ["pipe", "/dev/zero", "a\0b", "\x1b[2J"])
def test_a_released_file_may_be_anything_by_now(ledger: Ledger, tmp_path: Path, file: str) -> None:
    """The row of a release that died names a pipe, a device or nothing that can be."""
    if file == "pipe":
        make_pipe(tmp_path / "pipe")
        file = str(tmp_path / "pipe")
    change(ledger.path, "UPDATE entries SET file = ?, size = 0, sha256 = ''", file)
    seal(ledger.path, "entries", Entry)
    use(ledger.path)
    assert [entry.state for entry in ledger.entries()] == ["reserved", "reserved"]


def test_an_old_copy_is_not_the_ledger_that_was_paid_from(ledger: Ledger, tmp_path: Path) -> None:
    """The row of that number is another release, which was paid with less."""
    old = shutil.copy(ledger.path, tmp_path / "old")
    paid = reserve(ledger, Fraction(5))
    shutil.copy(old, ledger.path)
    other = reserve(ledger, Fraction(1, 10))
    assert paid.id == other.id
    for end in (
        lambda: ledger.link(
            paid, file=tmp_path / "out", size=1, sha256="", certificate="{}"
        ),
        lambda: ledger.complete(paid),
        lambda: ledger.fail(paid, "ReadError", data_accessed=False),
    ):  # fmt: skip
        with pytest.raises(LedgerError, match="old copy"):
            end()
    assert ledger.account("visits").spent == 1 + Fraction(1, 10)


def test_a_sum_without_end_is_refused(ledger: Ledger) -> None:
    """Prices with nothing in common would make a number that cannot even be written."""
    with pytest.raises(SettingError, match="at most 100 digits"):
        reserve(ledger, Fraction(1, 10**4_500))
    primes = (10**90 + 289 + 2 * i for i in range(1_000))
    with pytest.raises(SettingError, match="a simpler fraction"):
        for number in primes:
            reserve(ledger, Fraction(1, number))
    ledger.check()


def test_what_was_interrupted_while_paying_is_found_by_its_token(ledger: Ledger) -> None:
    """The row is there though nobody was told its number."""
    entry = ledger.reserve(
        "visits", mechanism="m", settings="{}", price=Fraction(1), certificate="{}", token="t" * 32
    )
    assert ledger.find("t" * 32) == entry
    assert ledger.find("u" * 32) is None


def test_reserving_looks_at_a_few_rows(ledger: Ledger) -> None:
    """The work of the database does not grow with the number of rows."""

    def steps() -> int:
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        real = sqlite3.connect

        def connect(*arguments: Any, **more: Any) -> sqlite3.Connection:
            database = real(*arguments, **more)
            database.set_progress_handler(step, 10)
            return database

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite3, "connect", connect)
            reserve(ledger, Fraction(1, 10**6))
        return count

    few = steps()
    for _ in range(120):
        reserve(ledger, Fraction(1, 10**6))
    assert steps() <= 2 * few
