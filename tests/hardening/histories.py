"""Random histories of releases, deaths, restarts and periods, against a simple model of a ledger.

    python -m tests.hardening.histories run COUNT SEED [MISTAKE] | crowd PROCESSES [MISTAKE]

Releases protect cases, persons or person-periods, of periods that may overlap. Each goes through
its steps and may die after any of them; deaths inside of a step are the business of `killed`. The
log changes all the time: cases arrive late, go on in later periods, and ids of cases are given to
other persons. The model is a list of what happened and no more: what a case or a person-period has
cost is added up from it each time, in the plainest way there is.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

from sacofa.errors import BudgetError, LedgerError
from sacofa.events import open_log
from sacofa.events.periods import Period
from sacofa.kernel.unit import Unit
from sacofa.ledger import CaseKey, Entry, Ledger, storage
from sacofa.ledger import rows as ledger_rows
from sacofa.mechanisms.paper import Laplace
from sacofa.release import publish, reservation

from .killed import PLACE, ended, forked

DATASET = "visits"
KEY = CaseKey(b"k" * 32)
IDS = [str(number) for number in range(5)]
PERSONS = ["anna", "bert", "carl"]
DAYS = [date(2025, 1, 3), date(2025, 1, 15), date(2025, 2, 7), date(2025, 3, 9)]
PERIODS = ["2025-01-15", "2025-01", "2025-02", "2025-Q1", "2025"]
UNITS = [
    Unit(),
    Unit(person="patient", max_cases=2),
    Unit(person="patient", max_cases=2, per_period=True),
]
PRICES = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(1, 3)]
STEPS = ("reserved", "claimed", "linked", "named", "completed")
Log = dict[str, tuple[str, date]]
"""For the id of each case, whose it is and when it ended."""


@dataclass(frozen=True)
class Case:
    """A case as a release took it."""

    id: str
    person: str
    ended: date


def days_of(period: str) -> set[date]:
    """All days of a period."""
    found = Period.parse(period)
    return {found.start + timedelta(n) for n in range((found.end - found.start).days)}


ALL_DAYS = {period: days_of(period) for period in PERIODS}


@dataclass
class Past:
    """One release, as the model remembers it."""

    price: Fraction
    period: str | None
    unit: Unit
    cases: frozenset[Case] = frozenset()
    state: str = "reserved"
    file: Path | None = None

    @property
    def everyone_pays(self) -> bool:
        """Whether it adds up with all others: the whole log, or persons over all periods."""
        return self.period is None or (self.unit.person is not None and not self.unit.per_period)

    def took(self, id: str, person: str, unit: Unit) -> bool:
        """Whether it took a case: by its id, or where both protect persons by id and person."""
        by_person = self.unit.person is not None and unit.person is not None
        return any(c.id == id and (c.person == person or not by_person) for c in self.cases)


@dataclass
class Model:
    """What a ledger should know: everything that happened."""

    budget: Fraction
    highest: Fraction
    """The highest budget there ever was."""
    past: list[Past] = field(default_factory=list)

    @property
    def spent(self) -> list[Past]:
        """The releases that count."""
        return [one for one in self.past if one.state != "returned"]

    @property
    def whole(self) -> Fraction:
        """What those cost that everyone pays for."""
        return sum((one.price for one in self.spent if one.everyone_pays), Fraction(0))

    def of_case(self, period: str) -> Fraction:
        """What a case of a period has cost at most, in releases of periods."""
        found = [one for one in self.spent if not one.everyone_pays and one.period == period]
        return sum((one.price for one in found), Fraction(0))

    def of_person(self, period: str) -> Fraction:
        """What a person in a period has cost at most, in releases of periods."""
        days = ALL_DAYS[period]
        found = [
            one.price
            for one in self.spent
            if not one.everyone_pays and not days.isdisjoint(ALL_DAYS[one.period or ""])
        ]
        return sum(found, Fraction(0))

    @property
    def person_periods(self) -> set[str]:
        """The periods of which person-periods are protected."""
        return {one.period for one in self.spent if one.unit.per_period and one.period is not None}

    def total(self) -> Fraction:
        """What the ledger should say is spent."""
        parts = [self.of_case(period) for period in PERIODS]
        parts += [self.of_person(period) for period in self.person_periods]
        return self.whole + max(parts)

    def allows(self, asked: Past) -> bool:
        """Whether one more release fits."""
        if asked.everyone_pays:
            return self.total() + asked.price <= self.budget
        assert asked.period is not None
        days = ALL_DAYS[asked.period]
        persons = self.person_periods | ({asked.period} if asked.unit.per_period else set())
        parts = [self.of_person(one) for one in persons if not days.isdisjoint(ALL_DAYS[one])]
        before = max([*parts, self.of_case(asked.period)])
        return self.whole + before + asked.price <= self.budget

    def is_taken(self, id: str, person: str, asked: Past) -> bool:
        """Whether a case is out, or a release of another period took it, dead or alive."""
        return any(
            one.took(id, person, asked.unit)
            for one in self.spent
            if one.state == "released" or one.period != asked.period
        )

    def check_costs(self) -> None:
        """No case and no person-period costs more than was ever allowed, or is said to be spent."""
        cases = {(case.id, case.person) for one in self.spent for case in one.cases}
        paid = [
            sum(one.price for one in self.spent if one.everyone_pays or one.took(*case, UNITS[1]))
            for case in cases
        ]
        for period in self.person_periods:
            for person in PERSONS:
                paid.append(
                    sum(
                        one.price
                        for one in self.spent
                        if one.everyone_pays
                        or any(
                            c.person == person and c.ended in ALL_DAYS[period] for c in one.cases
                        )
                    )
                )
        assert max(paid, default=0) <= self.highest, "overspent"
        assert max(paid, default=0) <= self.total(), "more than the model says"

    def check_cases(self) -> None:
        """No case is out twice, and none is in releases of two periods, whatever became of them."""
        for number, one in enumerate(self.spent):
            for other in self.spent[:number]:
                out = one.state == other.state == "released"
                if out or one.period != other.period:
                    both = [
                        case for case in one.cases if other.took(case.id, case.person, one.unit)
                    ]
                    assert not both, f"a case is in two releases: {both}"


def change(log: Log, chance: random.Random) -> None:
    """Let cases arrive late, go on or be deleted, and ids be given to others."""
    for _ in range(chance.randint(2, 5)):
        log[chance.choice(IDS)] = (chance.choice(PERSONS), chance.choice(DAYS))
    if chance.random() < 0.3:
        log.pop(chance.choice(IDS), None)


def one_history(folder: Path, template: Path, chance: random.Random) -> int:
    """Go through one history; give how many releases got out."""
    path = folder / "a.ledger"
    shutil.copyfile(template, path)
    ledger = Ledger(path)
    first = Fraction(chance.choice([1, 2, 3]))
    model = Model(budget=first, highest=first)
    ledger.set_budget(DATASET, model.budget)
    units = chance.sample(UNITS, chance.randint(1, 3))
    log: Log = {}
    for number in range(chance.randint(4, 10)):
        if chance.random() < 0.1:
            model.budget = Fraction(chance.choice([1, 2, 3]))
            model.highest = max(model.highest, model.budget)
            ledger.set_budget(DATASET, model.budget)
        change(log, chance)
        # A restart: nothing is kept but the file.
        ledger = Ledger.open(path)
        settle(model)
        asked = Past(
            price=chance.choice(PRICES),
            period=chance.choice([*PERIODS, *PERIODS, None]),
            unit=chance.choice(units),
        )
        if not model.allows(asked):
            try:
                reserve(ledger, asked)
            except BudgetError:
                continue
            raise AssertionError("a release over the budget")
        release = OneRelease(ledger, model, reserve(ledger, asked), asked, chance)
        model.past.append(asked)
        release.go_through(log, folder / f"{number}")
        model.check_costs()
        model.check_cases()
    check(ledger, model)
    return sum(one.state == "released" for one in model.past)


@dataclass(frozen=True)
class OneRelease:
    """A release on its way."""

    ledger: Ledger
    model: Model
    entry: Entry
    past: Past
    chance: random.Random

    def go_through(self, log: Log, file: Path) -> None:
        """Take the steps until it is done, fails or dies."""
        dies_after = self.chance.choice([*STEPS, "completed", "completed", "completed"])
        if self.chance.random() < 0.1:
            self.ledger.fail(self.entry, "ReadError", data_accessed=False)
            self.past.state = "returned"
            return
        if dies_after == "reserved":
            return
        if self.past.period is not None:
            self._claim(self.past.period, log)
        if dies_after == "claimed":
            return
        if self.chance.random() < 0.1:
            self.ledger.fail(self.entry, "MemoryError", data_accessed=True)
            self.past.state = "failed"
            return
        self._write(file, dies_after)

    def _claim(self, period: str, log: Log) -> None:
        """Read the cases of a period that no release took; try to take another one as well."""
        by_person = self.past.unit.person is not None
        turn = reservation.Turn(
            ledger=self.ledger,
            dataset=DATASET,
            period=Period.parse(period),
            key=KEY,
            unit=self.past.unit,
        )
        took = []
        for id, (person, day) in log.items():
            if day in ALL_DAYS[period]:
                wanted = turn.wants(id, person if by_person else None)
                said = not self.model.is_taken(id, person, self.past)
                assert wanted == said, "another opinion about who is taken"
                took += [Case(id, person, day)] * wanted
        taken = self.ledger.taken(DATASET, period)
        if taken and self.chance.random() < 0.3:
            try:
                self.ledger.claim(self.entry, [self.chance.choice(sorted(taken))])
            except LedgerError:
                pass
            else:
                raise AssertionError("a case twice")
        self.ledger.claim(self.entry, sorted(turn.hashes), sorted(turn.ids))
        self.past.cases = frozenset(took)

    def _write(self, file: Path, dies_after: str) -> None:
        content = f"{self.entry.token}".encode()
        self.ledger.link(
            self.entry,
            file=file,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            certificate="{}",
        )
        if dies_after == "linked":
            return
        file.write_bytes(content)
        self.past.file = file
        if dies_after == "named":
            return
        self.ledger.complete(self.entry)
        self.past.state = "released"


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
    assert ledger.account(DATASET).spent == model.total(), "another sum"
    model.check_cases()
    claims = ledger.claims()
    for entry, one in zip(entries, model.past, strict=True):
        if one.period is not None:
            # Where persons are protected, the ids of their cases are recorded as well.
            each = 1 if one.unit.person is None else 2
            assert (claims[entry.id].number or 0) == each * len(one.cases), "cases are lost"


def reserve(ledger: Ledger, asked: Past) -> Entry:
    """Take a price."""
    charged = reservation.charged_for(asked.unit)
    return ledger.reserve(
        DATASET, mechanism="m", settings="{}", price=asked.price, certificate="{}",
        period=asked.period, charged=charged,
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
        with storage.reading(ledger.path) as database:
            out = [
                case for claim in claims.values() for case in ledger_rows.claimed(database, claim)
            ]
        assert len(out) == len(set(out)) == 60, f"{len(out)} cases, {len(set(out))} different"
        assert sum(claim.number or 0 for claim in claims.values()) == 60
        spent = [part.finite for part in ledger.account("visits").parts]
        assert all(price is not None and price <= 1 for price in spent), "overspent"
        sys.stdout.write(f"{processes} at once: {statuses.count(0)} releases, no case twice\n")


def sabotage(mistake: str) -> None:
    """Put a mistake into the package, to show that the model finds it."""
    if mistake == "forget":
        ledger_rows.find_taken = lambda *_: set()  # type: ignore[assignment]
    elif mistake == "free-periods":
        from sacofa.ledger import Account

        Account.allows = lambda *_: True  # type: ignore[method-assign,assignment]
    elif mistake == "periods-alone":
        reservation.charged_for = lambda unit: (  # type: ignore[assignment]
            "dataset" if unit.person is not None and not unit.per_period else "period"
        )
    elif mistake == "lose-ids":
        wants = reservation.Turn.wants

        def forgetful(turn: reservation.Turn, case_id: str, person: str | None) -> bool:
            wanted = wants(turn, case_id, person)
            turn.ids -= turn._taken or set()
            return wanted

        reservation.Turn.wants = forgetful  # type: ignore[method-assign]
    elif mistake == "lose-returns":
        from sacofa.ledger.records import Part

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
