"""Pay for a release from a ledger, and record what became of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import Argument, LedgerError, SettingError, Statement
from ..ledger import Entry, Ledger
from .certificate import Certificate
from .periods import Turn, charged_for

Tell = Callable[[Statement], None]
"""Receives what a ledger reports about a release."""


@dataclass(kw_only=True)
class BudgetReservation:
    """The payment for one release: what the run of it reports to the ledger on its way.

    Without a ledger nothing is recorded.
    """

    ledger: Ledger | None = None
    entry: Entry | None = None
    data_accessed: bool = False
    """Whether the mechanism may have queried the log: the price is not given back then."""

    def claim(self, turn: Turn) -> None:
        """Record which cases a release of a period takes, before anything is asked about them."""
        if self.ledger is not None and self.entry is not None:
            self.ledger.claim(self.entry, sorted(turn.hashes), sorted(turn.ids))

    def link(self, file: str | Path | None, size: int, certificate: Certificate) -> None:
        """Record which file the release is about to become; refused where it was not paid here.

        None is a file that does not stay: it is passed on.
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
        # If the ledger cannot be written to now, the entry stays reserved, which is spent.
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
    if period is not None:
        settings["period"] = period
    entry = ledger.reserve(
        dataset,
        mechanism=certificate.mechanism,
        settings=json.dumps(settings, sort_keys=True),
        price=certificate.epsilon,
        certificate=text,
        token=token,
        period=period,
        charged=charged,
    )
    account = ledger.account(dataset).in_period(period, charged)
    cost, left = Statement("price.none"), Statement("left.no_limit")
    if entry.price is not None:
        cost = Statement("price.finite", epsilon=entry.price)
    if account.left is not None:
        left = Statement("left.of_budget", left=account.left, budget=account.budget or 0)
    of_period = period is not None and charged != "dataset"
    spent = Statement(
        "notice.spent_in_period" if of_period else "notice.spent",
        cost=cost,
        dataset=dataset,
        left=left,
        **({"period": period} if of_period else {}),
    )
    if entry.repeats is None:
        return entry, spent
    return entry, Statement("notice.repeated", spent=spent, release=entry.repeats)
