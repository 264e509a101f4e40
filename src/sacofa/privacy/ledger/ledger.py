"""The ledger: budgets of datasets, and every release with its price.

A release goes through a ledger in four steps. `reserve` takes the price, durably, before the log is
opened. `link` records the file's name and hash before the file gets its name. `complete` says that
it has it. `fail` says that the release ended otherwise. Whatever dies in between stays `reserved`,
which counts as spent; where the linked file is there all the same, with the recorded hash, only
`complete` is missing, and the entry is taken as released.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...errors import BudgetError, LedgerError, SettingError, nearest
from . import storage
from .records import Account, Budget, Entry
from .rows import DamageError, read_budgets, read_entries, write_budget, write_entry

LONGEST_NAME = 200


@dataclass(frozen=True, kw_only=True)
class Book:
    """All that a ledger holds at one moment."""

    entries: list[Entry]
    """Every release."""
    budgets: list[Budget]
    """Every budget that ever held."""

    @property
    def names(self) -> list[str]:
        """The datasets."""
        return sorted({budget.dataset for budget in self.budgets})


@dataclass(frozen=True)
class Ledger:
    """The record of every release of some datasets, in a file; it cannot be overspent."""

    path: Path
    """The file."""

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """Open a ledger that exists; a damaged one, or one of a newer version, is refused."""
        storage.check(Path(path))
        return cls(Path(path))

    @classmethod
    def create(cls, path: str | Path) -> Ledger:
        """Open a ledger, or make it where there is none."""
        storage.create(Path(path))
        return cls(Path(path))

    def set_budget(self, dataset: str, epsilon: Fraction | None) -> Account:
        """Say what all releases of a dataset may cost together; None for no limit.

        What was spent stays spent, and every budget that ever held stays in the history.
        """
        if not dataset or not dataset.isprintable() or len(dataset) > LONGEST_NAME:
            raise SettingError("dataset", repr(dataset), f"a name of 1 to {LONGEST_NAME} letters")
        if epsilon is not None and epsilon <= 0:
            raise SettingError("budget", epsilon, "above 0")
        with self._writing() as (database, book):
            budget = Budget(id=len(book.budgets) + 1, dataset=dataset, at=_now(), epsilon=epsilon)
            write_budget(database, budget)
        return self.account(dataset)

    def reserve(
        self,
        dataset: str,
        *,
        mechanism: str,
        settings: str,
        price: Fraction | None,
        certificate: str,
    ) -> Entry:
        """Take the price of a release, or refuse it.

        When this returns, the price is on disk. A request that was made before costs again: it
        would draw fresh noise; `repeats` of the entry tells.
        """
        if price is not None and price < 0:
            raise SettingError("price", price, "0 or more")
        self.settle()
        with self._writing() as (database, book):
            account = self._account(book, dataset)
            if not account.allows(price):
                raise BudgetError(dataset, price, account.left or Fraction(0), account.budget)
            request = (dataset, mechanism, settings, price)
            entry = Entry(
                id=len(book.entries) + 1,
                dataset=dataset,
                at=_now(),
                mechanism=mechanism,
                settings=settings,
                price=price,
                certificate=certificate,
                state="reserved",
                repeats=max(
                    (e.id for e in book.entries if e.spent and _asked(e) == request), default=None
                ),
            )
            write_entry(database, entry)
        return entry

    def link(self, id: int, *, file: Path, sha256: str, certificate: str) -> None:
        """Record which file a release is about to become, before the file has its name."""
        self._change(id, file=str(file.absolute()), sha256=sha256, certificate=certificate)

    def complete(self, id: int) -> None:
        """Record that the linked file has its name, unless `settle` did."""
        self._change(id, state="released")

    def fail(self, id: int, reason: str, *, data_accessed: bool) -> None:
        """Record that a release ended without a file, with the kind of error that ended it.

        The price is given back only if the mechanism had not begun to look at the log: after that
        noise may have been drawn, and whoever saw it cannot unsee it. Where the file has its name
        all the same, there is a release.
        """
        self.settle()
        if not any(e.id == id and e.state == "released" for e in self._read().entries):
            self._change(id, state="failed" if data_accessed else "returned", reason=reason)

    def settle(self) -> None:
        """Complete what died after its file had its name."""
        there = {entry.id for entry in self._read().entries if _is_there(entry)}
        if there:
            with self._writing() as (database, book):
                for entry in book.entries:
                    if entry.id in there and entry.state == "reserved":
                        write_entry(database, replace(entry, state="released"))

    def account(self, dataset: str) -> Account:
        """Tell how a dataset stands."""
        return self._account(self._read(), dataset)

    def accounts(self) -> list[Account]:
        """Tell how every dataset stands, by name."""
        book = self._read()
        return [self._account(book, name) for name in book.names]

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """List all releases, or those of a dataset, in the order in which they were asked for."""
        book = self._read()
        if dataset is not None:
            self._account(book, dataset)
        return [
            replace(entry, state="released") if _is_there(entry) else entry
            for entry in book.entries
            if dataset in (None, entry.dataset)
        ]

    def budgets(self, dataset: str | None = None) -> list[Budget]:
        """List every budget that ever held, the latest last."""
        return [budget for budget in self._read().budgets if dataset in (None, budget.dataset)]

    def _read(self) -> Book:
        with storage.reading(self.path) as database:
            return self._load(database)

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, Book]]:
        """Open for one change, with all that was recorded before it."""
        with storage.writing(self.path) as database:
            yield database, self._load(database)

    def _load(self, database: sqlite3.Connection) -> Book:
        try:
            return Book(entries=read_entries(database), budgets=read_budgets(database))
        except DamageError:
            raise storage.damaged(self.path) from None

    def _change(self, id: int, **changes: Any) -> None:
        """Change an entry that has not ended."""
        with self._writing() as (database, book):
            entry = next((e for e in book.entries if e.id == id), None)
            if entry is None or entry.state not in ("reserved", changes.get("state")):
                raise LedgerError(f"{self.path}: release {id} has ended already, or never began")
            if entry.state == "reserved":
                write_entry(database, replace(entry, **changes))

    def _account(self, book: Book, dataset: str) -> Account:
        budget = next((b for b in reversed(book.budgets) if b.dataset == dataset), None)
        if budget is None:
            # A name that was mistyped must not become an account of its own without a limit.
            raise LedgerError(
                f'{self.path}: no dataset "{dataset}".{nearest(dataset, book.names)} '
                f"A new one gets a budget first: sacofa ledger budget {self.path} DATASET EPSILON"
            )
        prices = [e.price for e in book.entries if e.dataset == dataset and e.spent]
        finite = [price for price in prices if price is not None]
        spent = sum(finite, Fraction(0)) if len(finite) == len(prices) else None
        return Account(dataset=dataset, budget=budget.epsilon, spent=spent)


def _asked(entry: Entry) -> tuple[str, str, str, Fraction | None]:
    """What was asked for; two that are the same differ in their noise only."""
    return entry.dataset, entry.mechanism, entry.settings, entry.price


def _is_there(entry: Entry) -> bool:
    """Tell whether an entry that has not ended is linked to a file that has its name."""
    if entry.state != "reserved" or entry.file is None:
        return False
    try:
        with open(entry.file, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
    except OSError:
        return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
