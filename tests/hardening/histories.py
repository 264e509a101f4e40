"""Random histories of releases, deaths, restarts and periods, against a simple model of a ledger.

    python -m tests.hardening.histories run COUNT SEED [MISTAKE] | crowd PROCESSES [MISTAKE]

A release goes through its steps and may die after any of them; what dies inside of a step is the
business of `killed`. The model is a list of what happened and no more: what a case costs is added
up from it case by case, each time, in the plainest way there is.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sacofa.errors import BudgetError, LedgerError
from sacofa.logs import open_log
from sacofa.mechanisms.paper import Laplace
from sacofa.privacy.ledger import Entry, Ledger
from sacofa.privacy.ledger import rows as ledger_rows
from sacofa.release import publish

from .killed import PLACE, ended, forked

CASES = [number.to_bytes(16, "big") for number in range(12)]
PERIODS = ("2025-01", "2025-02", "2025-Q1")
PRICES = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(1, 3)]
STEPS = ("reserved", "claimed", "linked", "named", "completed")


@dataclass
class Past:
    """One release, as the model remembers it."""

    price: Fraction
    period: str | None
    charged: str
    cases: frozenset[bytes] = frozenset()
    state: str = "reserved"
    file: Path | None = None


@dataclass
class Model:
    """What a ledger should know: everything that happened."""

    budget: Fraction
    highest: Fraction
    """The highest budget there ever was."""
    past: list[Past] = field(default_factory=list)

    def paid(self, case: bytes) -> Fraction:
        """What a case has cost: whole releases, and those of periods that took it."""
        return sum(
            (
                one.price
                for one in self.past
                if one.state != "returned" and (one.charged == "dataset" or case in one.cases)
            ),
            Fraction(0),
        )

    def cost(self, period: str | None) -> Fraction:
        """What the cases of a period can have cost at most."""
        return sum(
            (
                one.price
                for one in self.past
                if one.state != "returned" and (one.charged == "dataset" or one.period == period)
            ),
            Fraction(0),
        )

    def dearest(self) -> Fraction:
        """What the dearest period has cost, beside whole releases."""
        return max(self.cost(period) for period in (*PERIODS, None))

    def allows(self, price: Fraction, period: str | None, charged: str) -> bool:
        """Whether one more release fits."""
        before = self.cost(period) if charged == "period" else self.dearest()
        return before + price <= self.budget

    def taken(self, period: str) -> set[bytes]:
        """Cases that are out, or that a release of another period took, dead or alive."""
        return {
            case
            for one in self.past
            if one.state == "released" or (one.state != "returned" and one.period != period)
            for case in one.cases
        }


def one_history(folder: Path, template: Path, chance: random.Random) -> int:
    """Go through one history; give how many releases got out."""
    path = folder / "a.ledger"
    shutil.copyfile(template, path)
    ledger = Ledger(path)
    first = Fraction(chance.choice([1, 2, 3]))
    model = Model(budget=first, highest=first)
    ledger.set_budget("visits", model.budget)
    for number in range(chance.randint(4, 10)):
        if chance.random() < 0.1:
            model.budget = Fraction(chance.choice([1, 2, 3]))
            model.highest = max(model.highest, model.budget)
            ledger.set_budget("visits", model.budget)
        period = chance.choice([*PERIODS, None])
        charged = "dataset" if period is None else chance.choice(["period", "period", "dataset"])
        price = chance.choice(PRICES)
        # A restart: nothing is kept but the file.
        ledger = Ledger.open(path)
        settle(model)
        if not model.allows(price, period, charged):
            try:
                reserve(ledger, price, period, charged)
            except BudgetError:
                continue
            raise AssertionError("a release over the budget")
        entry = reserve(ledger, price, period, charged)
        past = Past(price, period, charged)
        model.past.append(past)
        dies_after = chance.choice([*STEPS, "completed", "completed", "completed"])
        go_through(ledger, model, entry, past, folder / f"{number}", dies_after, chance)
        # Whatever happened, no case has cost more than was ever allowed.
        assert max(map(model.paid, CASES)) <= model.highest, "overspent"
    check(ledger, model)
    return sum(one.state == "released" for one in model.past)


def go_through(
    ledger: Ledger,
    model: Model,
    entry: Entry,
    past: Past,
    file: Path,
    dies_after: str,
    chance: random.Random,
) -> None:
    """Take the steps of one release until it is done, fails or dies."""
    if chance.random() < 0.1:
        ledger.fail(entry, "ReadError", data_accessed=False)
        past.state = "returned"
        return
    if dies_after == "reserved":
        return
    if past.period is not None:
        taken = ledger.taken("visits", past.period)
        assert taken == model.taken(past.period), "another opinion about who is taken"
        wanted = chance.sample(CASES, chance.randint(0, 8))
        if taken and chance.random() < 0.3:
            stolen = chance.choice(sorted(taken))
            try:
                ledger.claim(entry, [stolen])
            except LedgerError:
                pass
            else:
                raise AssertionError("a case twice")
        past.cases = frozenset(case for case in wanted if case not in taken)
        ledger.claim(entry, sorted(past.cases))
    if dies_after == "claimed":
        return
    if chance.random() < 0.1:
        ledger.fail(entry, "MemoryError", data_accessed=True)
        past.state = "failed"
        return
    content = f"{entry.token}".encode()
    ledger.link(
        entry,
        file=file,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        certificate="{}",
    )
    if dies_after == "linked":
        return
    file.write_bytes(content)
    past.file = file
    if dies_after == "named":
        return
    ledger.complete(entry)
    past.state = "released"


def settle(model: Model) -> None:
    """What died after its file had its name is released, once anybody looks."""
    for one in model.past:
        if one.state == "reserved" and one.file is not None:
            one.state = "released"


def check(ledger: Ledger, model: Model) -> None:
    """Compare everything that the ledger knows with the model."""
    ledger.settle()
    settle(model)
    ledger.check()
    entries = ledger.entries()
    assert [e.state for e in entries] == [one.state for one in model.past], "a row is lost"
    assert [e.price for e in entries] == [one.price for one in model.past]
    account = ledger.account("visits")
    assert account.spent == model.dearest(), "another sum"
    out = [case for one in model.past if one.state == "released" for case in one.cases]
    assert len(out) == len(set(out)), "a case is out twice"
    claims = ledger.claims()
    for entry, one in zip(entries, model.past, strict=True):
        if one.period is not None:
            assert (claims[entry.id].number or 0) == len(one.cases), "cases are lost"


def reserve(ledger: Ledger, price: Fraction, period: str | None, charged: str) -> Entry:
    """Take a price."""
    return ledger.reserve(
        "visits", mechanism="m", settings="{}", price=price, certificate="{}",
        period=period, charged=charged,  # type: ignore[arg-type]
    )  # fmt: skip


def run(count: int, seed: int) -> None:
    """Go through many histories."""
    released = 0
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        template = Path(name) / "template"
        Ledger.create(template)
        for number in range(count):
            chance = random.Random(1_000_003 * seed + number)
            folder = Path(name) / "one"
            folder.mkdir()
            try:
                released += one_history(folder, template, chance)
            except BaseException:
                sys.stderr.write(f"history {number} of seed {seed}\n")
                raise
            shutil.rmtree(folder)
    sys.stdout.write(f"{count} histories, {released} releases: as the model says\n")


def crowd(processes: int) -> None:
    """Let many processes release overlapping periods of one log at once; some are killed."""
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = Path(name)
        rows = [f"c{i},a,2025-{1 + i % 3:02}-{1 + i % 28:02}" for i in range(60)]
        (folder / "log.csv").write_text("\n".join(["case,activity,timestamp", *rows]))
        ledger = Ledger.create(folder / "a.ledger")
        ledger.set_budget("visits", Fraction(1))
        periods = ["2025-01", "2025-02", "2025-03", "2025-Q1", "2025"]

        def work(number: int) -> None:
            log = open_log(folder / "log.csv", period=periods[number % len(periods)])
            mechanism = Laplace(level_epsilon=Fraction(1, 2), max_length=1, prune=1)
            try:
                publish(
                    log, mechanism, folder / f"{number}.csv", ledger=ledger, dataset="visits"
                )  # fmt: skip
            except BudgetError:
                os._exit(3)

        children = [forked(lambda pipe, n=number: work(n)) for number in range(processes)]
        statuses = [os.waitstatus_to_exitcode(ended(*child)[0]) for child in children]
        assert set(statuses) <= {0, 3}, statuses
        ledger = Ledger.open(folder / "a.ledger")
        ledger.check()
        entries, claims = ledger.entries(), ledger.claims()
        assert len(entries) == statuses.count(0)
        with ledger._reading() as database:
            out = [case for entry in entries for case in ledger_rows.claimed(database, entry.id)]
        assert len(out) == len(set(out)) == 60, f"{len(out)} cases, {len(set(out))} different"
        assert sum(claim.number or 0 for claim in claims.values()) == 60
        spent = [part.spent for part in ledger.account("visits").parts]
        assert all(price is not None and price <= 1 for price in spent), "overspent"
        sys.stdout.write(f"{processes} at once: {statuses.count(0)} releases, no case twice\n")


def sabotage(mistake: str) -> None:
    """Put a mistake into the package, to show that the model finds it."""
    if mistake == "forget":
        ledger_rows.find_taken = lambda *_: set()  # type: ignore[assignment]
    elif mistake == "free-periods":
        from sacofa.privacy.ledger import Account

        Account.allows = lambda *_: True  # type: ignore[method-assign,assignment]
    elif mistake == "lose-returns":
        from sacofa.privacy.ledger.records import Part

        charge = Part.charge
        Part.charge = lambda self, price, times=1: charge(self, price) if times > 0 else self  # type: ignore[method-assign]
    else:
        raise ValueError(mistake)


if __name__ == "__main__":
    way, count, *more = sys.argv[1:]
    for mistake in more[1:] if way == "run" else more:
        sabotage(mistake)
    if way == "run":
        run(int(count), int(more[0]))
    else:
        crowd(int(count))
