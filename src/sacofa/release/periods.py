"""Releases that repeat: one for each period, with no case in two of them.

A case belongs to the period in which its last event lies, and the first release that reads it keeps
it permanently: a ledger records keyed hashes of the cases that were taken. Both follow from that
case alone, so adding or removing one case changes the releases of one period and no others
(parallel composition). A case that comes again with later events is left out; only the holder of
the log is told.

The cases of one person and period can be in releases of several periods if these overlap, so there
the ε of overlapping periods adds up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..base.periods import Period
from ..errors import SettingError, Statement
from ..events import Log
from ..kernel.cases import Cases
from ..kernel.unit import Unit
from ..ledger import CaseKey, Ledger
from ..ledger.records import Charged
from .certificate import PeriodStatement


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
        """What the certificate says about it."""
        return PeriodStatement(period=self.period, series=self.key.series(self.dataset))

    def wants(self, case_id: str, person: str | None) -> bool:
        """Tell whether a case is read, and record it if so; `person` only if persons count."""
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

    Yields:
        The log without the cases that must be left out, the period that is read, and which cases
            are taken. None: the log is not of a period, or no ledger keeps it apart from others.
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
