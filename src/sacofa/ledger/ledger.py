"""The ledger: budgets of datasets, and every release with its ε.

A release goes through a ledger in four steps. `reserve` takes the price, durably, before the log is
opened. `link` records the file's name and hash before the file gets its name. `complete` says that
it has it. `fail` says that the release ended otherwise. Whatever dies in between stays `reserved`,
which counts as spent; where the linked file is there all the same, with the recorded hash, only
`complete` is missing, and the entry is taken as released.

A release of a period takes one step more: before its mechanism asks anything, `claim` writes down,
as keyed hashes, which cases it takes. A case that got out, or that another period took, is never
taken again; so releases of different periods have no case in common. For a case, ε is that of one
period; for a person-period, that of all periods that overlap it (`Charged`).

Each step looks at a few rows, however many there are. `check` and `entries` look at all of them.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from ..base.claims import FOR_SELECTION
from ..errors import Argument, BudgetError, LedgerError, SettingError, Statement, advised
from ..kernel.accounting import ZCDP
from . import rows
from .case_key import CaseKey, holding_key, make_key
from .policy import Policies, current_user, policy_path, read_policies
from .records import Account, Budget, Charged, Claim, Cost, Entry, Rho
from .storage import DamageError, create, reading, refusal, writing

LONGEST_NAME = 200
LONGEST_PRICE = 100
"""Maximum number of digits of an ε, in the numerator and in the denominator."""
MOST_OPEN = 200
"""Number of the latest unfinished releases whose files are looked up on disk."""


@dataclass(frozen=True)
class Ledger:
    """The record of every release of some datasets, in a file; it cannot be overspent."""

    path: Path
    """The file."""

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """Open an existing ledger; other files and other versions are refused."""
        ledger = cls(Path(path))
        with reading(ledger.path) as database:
            rows.read_head(database)
        return ledger

    @classmethod
    def create(cls, path: str | Path) -> Ledger:
        """Open a ledger, or create it if it does not exist."""
        create(Path(path), lambda database: rows.write(database, rows.Head()))
        return cls.open(path)

    def check(self) -> None:
        """Look at every row: the database, seals, chain and sums; damage is refused."""
        with reading(self.path) as database:
            if database.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise DamageError
            expected = {budget.dataset: _opened(budget) for budget in rows.read_budgets(database)}
            claims = rows.read_claims(database)
            for entry in rows.read_entries(database):
                if entry.dataset not in expected:
                    raise DamageError
                account = _charged(expected[entry.dataset], entry, claims.pop(entry.id, None))
                expected[entry.dataset] = account
            found = {account.dataset: account for account in rows.read_accounts(database)}
            number = sum(len(account.parts) for account in found.values())
            (parts,) = database.execute("SELECT count(*) FROM parts").fetchone()
            if claims or found != expected or number != parts:
                raise DamageError

    def set_budget(
        self, dataset: str, epsilon: Fraction | None, delta: Fraction = Fraction(0)
    ) -> Account:
        """Set the maximum that all releases of a dataset may spend together; None for no limit.

        What was spent stays spent, and the history keeps every earlier budget. With a δ the budget
        is in ρ, and earlier releases of pure ε count as ε²/2. Without a δ the budget is in ε, and
        refuses releases with a δ.
        """
        _check_limit(dataset, epsilon)
        rho = None
        if epsilon is not None and delta:
            # A release of certified with this ε and δ fits exactly.
            rho = ZCDP(epsilon, delta, FOR_SELECTION * delta).amount
        with writing(self.path) as database:
            head = rows.read_head(database)
            number = head.budgets + 1
            budget = Budget(
                id=number, dataset=dataset, at=_now(), epsilon=epsilon, delta=delta, rho=rho
            )
            rows.write(database, budget)
            account, known = _opened(budget), rows.find(database, Account, dataset)
            if known is not None and bool(known.delta) == bool(delta):
                account = replace(known, budget=account.budget, delta=delta)
            elif known is not None:
                account = self._in_other_currency(database, account)
            rows.write(database, account)
            for part in account.parts:
                rows.write(database, part)
            rows.write(database, replace(head, budgets=number))
        return self.account(dataset)

    def _in_other_currency(self, database: sqlite3.Connection, account: Account) -> Account:
        """The account after all releases that were charged to it in the other currency."""
        for entry in rows.select(database, Entry, "WHERE dataset = ? ORDER BY id", account.dataset):
            if entry.rho is not None and not account.delta:
                must = Statement("must.be.delta_given", dataset=account.dataset)
                raise SettingError("delta", 0, must)
            account = _charged(account, entry, rows.find(database, Claim, entry.id))
        return account

    def reserve(
        self,
        dataset: str,
        *,
        mechanism: str,
        settings: str,
        price: Fraction | None,
        certificate: str,
        token: str | None = None,
        period: str | None = None,
        charged: Charged = "period",
        delta: Fraction = Fraction(0),
        rho: Rho | None = None,
    ) -> Entry:
        """Take the price of a release, or refuse it.

        A release that claims a `delta` costs its `rho`; `price` is the ε that it claims.

        A release of a `period` needs to fit only together with the releases that it adds up with,
        which `charged` says.

        When this returns, the price is on disk. A request that was made before costs again: it
        would draw fresh noise; `repeats` of the entry tells. By a `token`, a random id, the entry
        can be found also by whoever was interrupted before this returned.
        """
        _check_price(price)
        _check_together(delta, rho)
        policies = self.policies()
        policy = None if policies is None else policies.of(dataset)
        if policy is not None:
            policy.check(dataset, price, delta, current_user())
        self.settle()
        with writing(self.path) as database:
            account = self._account(database, dataset)
            cost = price if rho is None else rho
            _check_budget(account, cost, period, charged)
            now = _now()
            if policy is not None and policy.largest_year is not None:
                year = _spent_in_year(database, account, now[:4])
                policy.check_year(now[:4], year.book(cost, period, charged))
            payer = account.payer(period, charged).charge(account.amounts(cost))
            if _digits(payer.finite) > rows.MOST_DIGITS:
                raise SettingError("price", price, Statement("must.be.simpler_fraction"))
            head = rows.read_head(database)
            entry = Entry(
                id=head.entries + 1,
                token=token or secrets.token_hex(16),
                dataset=dataset,
                at=now,
                mechanism=mechanism,
                settings=settings,
                price=price,
                chain="",
                certificate=certificate,
                state="reserved",
                delta=delta,
                rho=None if rho is None else rho.rho,
                selection=Fraction(0) if rho is None else rho.selection,
            )
            (repeats,) = database.execute(
                "SELECT max(id) FROM entries WHERE asked = ? AND state <> 'returned'",
                (rows.asked(entry),),
            ).fetchone()
            entry = replace(entry, chain=rows.chain_of(head.chain, entry), repeats=repeats)
            rows.write(database, entry)
            rows.write(database, payer)
            if period is not None:
                rows.write(database, Claim(entry=entry.id, period=period, charged=charged))
            rows.write(database, replace(head, entries=entry.id, chain=entry.chain))
        return entry

    @contextmanager
    def holding_case_key(self) -> Iterator[CaseKey]:
        """Hold the key that hashes case ids; other releases of periods wait meanwhile.

        It is made at first. From then on the ledger knows it again: with another key, cases that
        were released would look new.
        """
        known = self.key_mark()
        if known is None:
            make_key(self.path)
            # From now on a reader of the database file can count the cases.
            with suppress(OSError):
                os.chmod(self.path, stat.S_IMODE(os.stat(self.path).st_mode) & ~0o077)
        with holding_key(self.path) as key:
            if known is None:
                with writing(self.path) as database:
                    if rows.find(database, rows.KeyCheck, 1) is None:
                        rows.write(database, rows.KeyCheck(fingerprint=key.fingerprint))
                known = self.key_mark()
            if known != key.fingerprint:
                raise self._refusal("other_key")
            yield key

    def key_mark(self) -> str | None:
        """The confidential fingerprint of the hash key; None without a key."""
        with reading(self.path) as database:
            known = rows.find(database, rows.KeyCheck, 1)
        return None if known is None else known.fingerprint

    def taken(self, dataset: str, period: str) -> set[bytes]:
        """The keyed hashes of cases that a release of a period must leave out. Secret."""
        self.settle()
        with reading(self.path) as database:
            return rows.find_taken(database, dataset, period)

    def claim(self, entry: Entry, hashes: Sequence[bytes], ids: Sequence[bytes] = ()) -> None:
        """Record which cases a release takes, before its mechanism asks anything about them.

        `hashes` are those of the cases, and refused if a release has one of them already. `ids` are
        those of ids alone, which several persons may have.
        """
        with writing(self.path) as database:
            found = self._find(database, entry)
            claim = rows.find(database, Claim, entry.id)
            if found.state != "reserved" or claim is None or claim.number is not None:
                raise self._refusal("no_more_cases", release=entry.id)
            if not rows.find_taken(database, found.dataset, claim.period).isdisjoint(hashes):
                raise self._refusal("cases_taken")
            rows.claim_cases(database, claim, [*hashes, *ids])

    def find(self, token: str) -> Entry | None:
        """Find a release by its random id."""
        with reading(self.path) as database:
            return next(rows.select(database, Entry, "WHERE token = ?", token), None)

    def link(
        self, entry: Entry, *, file: Path | None, size: int, sha256: str, certificate: str
    ) -> None:
        """Record which file a release is about to become, before the file has its name.

        None is a file that does not stay where it is written, and is known by its hash alone.

        Refused where the row that was paid is not there: then the ledger is not the one that was
        paid from, for instance an old copy that was put in its place, and nothing may get out.
        """
        place = None if file is None else str(file.absolute())
        self._change(entry, file=place, size=size, sha256=sha256, certificate=certificate)

    def complete(self, entry: Entry) -> None:
        """Record that the linked file has its name, unless `settle` did."""
        self._change(entry, state="released")

    def fail(self, entry: Entry, reason: str, *, data_accessed: bool) -> None:
        """Record that a release ended without a file, with the kind of error that ended it.

        The price is given back only if the mechanism had not begun to look at the log: after that
        noise may have been drawn, and whoever saw it cannot unsee it. Where the file has its name
        all the same, there is a release.
        """
        self.settle()
        with reading(self.path) as database:
            ended = self._find(database, entry).state == "released"
        if not ended:
            self._change(entry, state="failed" if data_accessed else "returned", reason=reason)

    def settle(self) -> None:
        """Complete what died after its file had its name."""
        latest = "WHERE state = 'reserved' AND file IS NOT NULL ORDER BY id DESC LIMIT ?"
        with reading(self.path) as database:
            found = list(rows.select(database, Entry, latest, MOST_OPEN))
        for entry in found:
            if _is_there(entry):
                self.complete(entry)

    def policies(self) -> Policies | None:
        """Read the policy; one that names an unknown dataset is refused as a whole.

        The name may be misspelt, and then the intended limits would not apply.
        """
        found = read_policies(self.path)
        if found is not None and found.own:
            names = [account.dataset for account in self.accounts()]
            for name in found.own:
                if name not in names:
                    unknown = Statement("policy.unknown_dataset", dataset=name)
                    raise refusal(policy_path(self.path), advised(unknown, name, names))
        return found

    def account(self, dataset: str) -> Account:
        """Return the account of a dataset."""
        with reading(self.path) as database:
            return self._account(database, dataset)

    def accounts(self) -> list[Account]:
        """Return the accounts of all datasets, by name."""
        with reading(self.path) as database:
            return rows.read_accounts(database)

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """Return all releases, or those of a dataset, in the order of their requests."""
        with reading(self.path) as database:
            if dataset is not None:
                self._account(database, dataset)
            found = [e for e in rows.read_entries(database) if dataset in (None, e.dataset)]
        return [replace(e, state="released") if _is_there(e) else e for e in found]

    def claims(self) -> dict[int, Claim]:
        """Return the releases of periods by number; their numbers of cases are confidential."""
        with reading(self.path) as database:
            return rows.read_claims(database)

    def budgets(self, dataset: str | None = None) -> list[Budget]:
        """List every budget that ever held, the latest last."""
        with reading(self.path) as database:
            return [b for b in rows.read_budgets(database) if dataset in (None, b.dataset)]

    def _find(self, database: sqlite3.Connection, entry: Entry) -> Entry:
        """Find the row of a release: by its number, and it must be that very release."""
        found = rows.find(database, Entry, entry.id)
        if found is None or (found.token, found.chain) != (entry.token, entry.chain):
            raise self._refusal("release_lost", release=entry.id)
        return found

    def _change(self, entry: Entry, **changes: object) -> None:
        """Change an entry that has not ended."""
        with writing(self.path) as database:
            found = self._find(database, entry)
            if found.state not in ("reserved", changes.get("state")):
                raise self._refusal("ended", release=entry.id)
            if found.state == "reserved":
                changed = replace(found, **changes)  # type: ignore[arg-type]
                rows.write(database, changed)
                if not changed.spent:
                    claim = rows.find(database, Claim, found.id)
                    account = self._account(database, found.dataset)
                    payer, amounts = account.payer(*_period_of(claim)), account.amounts(found.cost)
                    rows.write(database, payer.charge(amounts, -1))

    def _refusal(self, code: str, **values: object) -> LedgerError:
        return refusal(self.path, Statement(f"ledger.{code}", **values))

    def _account(self, database: sqlite3.Connection, dataset: str) -> Account:
        for account in rows.read_accounts(database, "WHERE dataset = ?", dataset):
            return account
        # A misspelt name must not create an account without a limit.
        names = [account.dataset for account in rows.read_accounts(database)]
        unknown = Statement("ledger.no_dataset", dataset=dataset, path=str(self.path))
        raise refusal(self.path, advised(unknown, dataset, names))


def _opened(budget: Budget) -> Account:
    """An account with nothing spent."""
    amount = budget.rho if budget.delta else budget.epsilon
    return Account(dataset=budget.dataset, budget=amount, delta=budget.delta)


def _spent_in_year(database: sqlite3.Connection, account: Account, year: str) -> Account:
    """Return the account of the releases of one year.

    Those of later years count, too: they are there where the clock was set back, and that must not
    begin a year anew.
    """
    spent = Account(dataset=account.dataset, budget=None, delta=account.delta)
    of_year = "WHERE dataset = ? AND substr(at, 1, 4) >= ? AND state <> 'returned'"
    for entry in rows.select(database, Entry, of_year, account.dataset, year):
        spent = spent.book(entry.cost, *_period_of(rows.find(database, Claim, entry.id)))
    return spent


def _period_of(claim: Claim | None) -> tuple[str | None, Charged]:
    return (None, "dataset") if claim is None else (claim.period, claim.charged)


def _charged(account: Account, entry: Entry, claim: Claim | None) -> Account:
    """The account after a release; a sum that `reserve` would not have made is damage."""
    period, charged = _period_of(claim)
    # A price that was given back left a row of its period.
    charged_so_far = account.book(entry.cost if entry.spent else Fraction(0), period, charged)
    # Adding on to a longer one could take forever.
    if _digits(charged_so_far.payer(period, charged).finite) > rows.MOST_DIGITS + 1:
        raise DamageError
    return charged_so_far


def _check_limit(dataset: str, epsilon: Fraction | None) -> None:
    """Refuse names that are none, and a limit that nothing would fit into."""
    if not dataset or not dataset.isprintable() or len(dataset) > LONGEST_NAME:
        raise SettingError("dataset", repr(dataset), Statement("must.be.name", most=LONGEST_NAME))
    if epsilon is not None and epsilon <= 0:
        raise SettingError("budget", epsilon, Statement("must.be.above", bound=0))


def _check_price(price: Fraction | None) -> None:
    if price is None:
        return
    if price < 0:
        raise SettingError("price", price, Statement("must.be.at_least", least=0))
    if _digits(price) > LONGEST_PRICE:
        raise SettingError("price", "…", Statement("must.be.digits_at_most", most=LONGEST_PRICE))


def _check_together(delta: Fraction, rho: Rho | None) -> None:
    """Refuse a δ without its ρ: it would be charged as pure ε."""
    if bool(delta) != (rho is not None):
        argument = Argument("delta" if rho else "rho")
        name = "rho" if rho else "delta"
        raise SettingError(name, rho or delta, Statement("must.given_with", argument=argument))


def _check_budget(account: Account, cost: Cost, period: str | None, charged: Charged) -> None:
    """Refuse a release that exceeds the remaining budget of somebody who may be in it."""
    if not account.holds(cost):
        raise LedgerError(Statement("ledger.budget_in_epsilon", dataset=account.dataset))
    touched = account.in_period(period, charged)
    if touched.allows(cost):
        return
    left, where = touched.left or Fraction(0), None if touched is account else period
    price = cost.rho if isinstance(cost, Rho) else cost
    said = _say_refusal(account, touched, cost) if account.delta else None
    raise BudgetError(account.dataset, price, left, account.budget, where, said)


def _say_refusal(account: Account, touched: Account, cost: Cost) -> Statement:
    """Why a release does not fit into a budget in ρ."""
    amounts, dataset = account.amounts(cost), account.dataset
    if amounts.selection > touched.left_for_selection:
        left = touched.left_for_selection
        return Statement(
            "error.budget_for_selection", dataset=dataset, selection=amounts.selection, left=left
        )
    charge = Statement("budget.infinite")
    if not amounts.endless:
        charge = Statement("budget.charges", amount=account.say(amounts.finite))
    return Statement(
        "error.budget_in_rho",
        dataset=dataset,
        release=charge,
        left=touched.say(touched.left or Fraction(0), fits=True),
        budget=account.say(account.budget),
    )


def _digits(price: Fraction) -> int:
    """Estimate the number of digits of a fraction; writing a huge one takes too long."""
    longer = max(abs(price.numerator), price.denominator)
    return longer.bit_length() * 30103 // 100_000 + 1


def _is_there(entry: Entry) -> bool:
    """Whether the file that an unfinished entry is linked to exists."""
    if entry.state != "reserved" or entry.file is None:
        return False
    try:
        # The name may now belong to a pipe, and opening one blocks.
        place = os.open(entry.file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(place, "rb") as file:
            now = os.fstat(place)
            if not stat.S_ISREG(now.st_mode) or now.st_size != entry.size:
                return False
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
    except (OSError, ValueError):
        return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
