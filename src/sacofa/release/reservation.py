"""Pay for a release from a ledger, take its cases in turn, and record what became of it.

Releases that repeat are of periods, with no case in two of them. A case belongs to the period in
which its last event lies, and the first release that reads it keeps it permanently: a ledger
records keyed hashes of the cases that were taken. Both follow from that case alone, so adding or
removing one case changes the releases of one period and no others (parallel composition). A case
that comes again with later events is left out; only the holder of the log is told.

The cases of one person and period can be in releases of several periods if these overlap, so there
the ε of overlapping periods adds up.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from ..base.periods import Period
from ..errors import Argument, LedgerError, SettingError, Statement
from ..events import Log
from ..kernel.cases import Cases
from ..kernel.unit import Unit
from ..ledger import CaseKey, Entry, Ledger
from ..ledger.records import Charged
from .certificate import Certificate, PeriodStatement

Tell = Callable[[Statement], None]
"""Receives what a ledger reports about a release."""


def charged_for(unit: Unit) -> Charged:
    """Which releases of a series add up with a release that protects this unit."""
    if unit.person is None:
        return "period"
    return "overlapping" if unit.per_period else "dataset"


@dataclass(kw_only=True)
class Turn:
    """One release of a period: which cases it may take, and which it takes."""

    ledger: Ledger
    dataset: str
    period: Period
    key: CaseKey
    unit: Unit
    """Whose cases they are: one id of two persons means two cases."""
    hashes: set[bytes] = field(default_factory=set, repr=False)
    """The keyed hashes of the cases that were read."""
    ids: set[bytes] = field(default_factory=set, repr=False)
    """The keyed hashes of their ids alone, if they are cases of persons."""
    _taken: set[bytes] | None = field(default=None, repr=False)

    @property
    def statement(self) -> PeriodStatement:
        """The statement for the certificate."""
        return PeriodStatement(period=self.period, series=self.key.series(self.dataset))

    def wants(self, case_id: str, person: str | None) -> bool:
        """Whether a case is read; if so, record it. `person` is None unless persons count."""
        if self._taken is None:
            self._taken = self.ledger.taken(self.dataset, self.period.name)
        by_id = self.key.case(self.dataset, case_id)
        id_of_persons = self.key.id_of_persons(self.dataset, case_id)
        if self.unit.person is None:
            if not self._taken.isdisjoint((by_id, id_of_persons)):
                return False
            self.hashes.add(by_id)
            return True
        of_person = self.key.case_of_person(self.dataset, case_id, person)
        if not self._taken.isdisjoint((by_id, of_person)):
            return False
        self.hashes.add(of_person)
        # Releases that protect cases tell them apart by id alone and must leave this one out. A
        # release that died may have recorded the same id; its own period can still retry it.
        self.ids.add(id_of_persons)
        return True


@contextmanager
def take_turn(
    log: Log | Cases, ledger: Ledger | None, dataset: str | None
) -> Iterator[tuple[Log | Cases, PeriodStatement | None, Turn | None]]:
    """Wait for other releases of periods from a ledger.

    Yields the log without the cases that must be left out, the period that is read, and which cases
    are taken; None if the log is not of a period, or no ledger keeps it apart from others.
    """
    period = log.period if isinstance(log, Log) else None
    if not isinstance(log, Log) or period is None or ledger is None or dataset is None:
        yield log, None if period is None else PeriodStatement(period=period), None
        return
    if not period.is_over():
        raise SettingError("period", period.name, Statement("must.be.period_over"))
    # A dataset that is not there is refused before a key is made.
    ledger.account(dataset)
    with ledger.holding_case_key() as key:
        turn = Turn(ledger=ledger, dataset=dataset, period=period, key=key, unit=log.unit)
        yield replace(log, wanted=turn.wants), turn.statement, turn


@dataclass(kw_only=True)
class BudgetReservation:
    """The payment for one release: reports the progress of the release to the ledger.

    Without a ledger nothing is recorded.
    """

    ledger: Ledger | None = None
    entry: Entry | None = None
    data_accessed: bool = False
    """Whether the mechanism may have queried the log: the price is not given back then."""

    def claim(self, turn: Turn) -> None:
        """Record the cases of a release of a period before the mechanism queries them."""
        if self.ledger is not None and self.entry is not None:
            self.ledger.claim(self.entry, sorted(turn.hashes), sorted(turn.ids))

    def link(self, file: str | Path | None, size: int, certificate: Certificate) -> None:
        """Record the file that the release is about to become; refused if it was not paid for here.

        None stands for output that is passed on and not kept as a file.
        """
        if self.ledger is not None and self.entry is not None:
            self.ledger.link(
                self.entry,
                file=None if file is None else Path(file),
                size=size,
                sha256=certificate.sha256 or "",
                certificate=certificate.to_json(),
            )


def check_payer(ledger: object, dataset: str | None) -> None:
    """Refuse a ledger without a dataset, and the other way round."""
    if (ledger is None) != (dataset is None):
        name, value, other = (
            ("ledger", ledger, "dataset") if dataset is None else ("dataset", dataset, "ledger")
        )
        raise SettingError(name, value, Statement("must.given_with", argument=Argument(other)))


@contextmanager
def reserve_budget(
    ledger: Ledger | None, dataset: str | None, certificate: Certificate, tell: Tell | None = None
) -> Iterator[BudgetReservation]:
    """Pay before the log is opened; at the end, record whether there is a release.

    An error before the mechanism asked the log anything gives the price back: no noise was drawn,
    and nothing that a price could pay for has happened. After that it stays spent. Only the kind
    of error is recorded, because its text may speak of the log.
    """
    if ledger is None or dataset is None:
        yield BudgetReservation()
        return
    say: Tell = tell or (lambda notice: None)
    reservation, token = BudgetReservation(), secrets.token_hex(16)
    try:
        entry, notice = _reserve(ledger, dataset, certificate, token)
        reservation = BudgetReservation(ledger=ledger, entry=entry)
        say(notice)
        yield reservation
    except BaseException as error:
        # If the ledger cannot be written to now, the entry stays reserved, which counts as spent.
        with suppress(LedgerError):
            reserved = ledger.find(token)
            if reserved is None:
                raise
            ledger.fail(reserved, type(error).__name__, data_accessed=reservation.data_accessed)
            if not reservation.data_accessed:
                say(Statement("notice.given_back"))
        raise
    # The file has its name and is linked by its hash: the ledger knows it without this, too.
    try:
        ledger.complete(entry)
    except LedgerError as error:
        say(Statement("notice.not_recorded", error=error.statement))


def _reserve(
    ledger: Ledger, dataset: str, certificate: Certificate, token: str
) -> tuple[Entry, Statement]:
    """Take the price of a release, and describe how the dataset stands then."""
    text = certificate.to_json()
    settings, charged = json.loads(text)["settings"], charged_for(certificate.unit)
    period = None if certificate.period is None else certificate.period.period.name
    entry = ledger.reserve(
        dataset,
        mechanism=certificate.mechanism,
        settings=json.dumps(settings | ({"period": period} if period else {}), sort_keys=True),
        price=certificate.epsilon,
        delta=certificate.delta,
        rho=certificate.rho,
        certificate=text,
        token=token,
        period=period,
        charged=charged,
    )
    account = ledger.account(dataset).in_period(period, charged)
    amounts, left = account.amounts(entry.cost), Statement("left.no_limit")
    if account.left is not None:
        limits = map(account.number, (account.left, account.budget or Fraction(0)))
        left = Statement("left.of_budget", **dict(zip(("left", "budget"), limits, strict=True)))
    cost = account.say(None if amounts.endless else amounts.finite)
    values = {"cost": cost, "dataset": dataset, "left": left}
    spent = Statement("notice.spent", **values)
    if period is not None and charged != "dataset":
        spent = Statement("notice.spent_in_period", **values, period=period)
    if entry.repeats is None:
        return entry, spent
    return entry, Statement("notice.repeated", spent=spent, release=entry.repeats)
