"""Pay for a release from a ledger, and record what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import LedgerError, SettingError
from ..privacy.ledger import Entry, Ledger
from .certificate import Certificate

Tell = Callable[[str], None]
"""Told, in words, what a ledger has to say about a release."""


class BudgetReservation:
    """The payment for one release: what the run of it tells the ledger on its way."""

    def __init__(self, ledger: Ledger | None = None, entry: Entry | None = None) -> None:
        """Begin with what was reserved; without a ledger nothing is recorded."""
        self._ledger, self._entry = ledger, entry
        self.data_accessed = False
        """Whether the mechanism may have asked the log: the price is not given back then."""

    def link(self, file: str | Path, certificate: Certificate) -> None:
        """Record which file the release is about to become."""
        if self._ledger is not None and self._entry is not None:
            self._ledger.link(
                self._entry.id,
                file=Path(file),
                sha256=certificate.sha256 or "",
                certificate=certificate.to_json(),
            )


@contextmanager
def reserve_budget(
    ledger: Ledger | None, dataset: str | None, certificate: Certificate, tell: Tell | None = None
) -> Iterator[BudgetReservation]:
    """Pay before the log is opened; at the end, record whether there is a release.

    An error before the mechanism asked the log anything gives the price back: no noise was drawn,
    and nothing that a price could pay for has happened. After that it stays spent. Only the kind
    of error is recorded, because its text may speak of the log.
    """
    if (ledger is None) != (dataset is None):
        name, value = ("ledger", ledger) if dataset is None else ("dataset", dataset)
        raise SettingError(name, value, "given together with ledger and dataset")
    if ledger is None or dataset is None:
        yield BudgetReservation()
        return
    content = json.loads(certificate.to_json())
    entry = ledger.reserve(
        dataset,
        mechanism=certificate.mechanism,
        settings=json.dumps(content["settings"], sort_keys=True),
        price=certificate.epsilon,
        certificate=certificate.to_json(),
    )
    if tell is not None:
        tell(_describe(ledger, entry))
    reservation = BudgetReservation(ledger, entry)
    try:
        yield reservation
    except BaseException as error:
        # Where the ledger cannot be written to now, the entry stays reserved, which is spent.
        with suppress(LedgerError):
            ledger.fail(entry.id, type(error).__name__, data_accessed=reservation.data_accessed)
            if tell is not None and not reservation.data_accessed:
                tell("given back, because the mechanism had not asked the log anything")
        raise
    # The file has its name and is linked by its hash: the ledger knows it without this, too.
    with suppress(LedgerError):
        ledger.complete(entry.id)


def _describe(ledger: Ledger, entry: Entry) -> str:
    account = ledger.account(entry.dataset)
    cost = "no finite ε" if entry.price is None else f"ε = {entry.price}"
    left = "no limit is set" if account.left is None else f"{account.left} of {account.budget} left"
    again = (
        ""
        if entry.repeats is None
        else f"; this repeats release {entry.repeats}: it draws fresh noise, so it costs again"
    )
    return f'{cost} spent on dataset "{entry.dataset}", {left}{again}'
