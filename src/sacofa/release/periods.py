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
from typing import TypedDict

from ..base.periods import Period
from ..errors import SettingError, Statement
from ..events import Log
from ..kernel.unit import Unit
from ..ledger import CaseKey, Ledger
from ..ledger.records import Charged


class PeriodContent(TypedDict):
    """A period as it stands in a certificate."""

    name: str
    first_day: str
    day_after: str
    series: str | None
    composition: str


@dataclass(frozen=True, kw_only=True)
class PeriodStatement:
    """Which part of a log a release is of, and how it adds up with releases of other parts."""

    period: Period
    """The period."""
    series: str | None = None
    """The name of a series of releases that have no case in common; None: nothing is known."""

    def composition(self, unit: Unit) -> Statement:
        """How it adds up with releases of other periods."""
        if self.series is None:
            return Statement("composition.log_alone")
        return Statement(f"composition.{unit.kind}s")

    def assumption(self, unit: Unit) -> Statement:
        """Which cases are meant."""
        code = "period_of_cases" if unit.person is None else "period_of_persons"
        return Statement(f"assumption.{code}", period=self.period.name)

    def to_content(self, unit: Unit) -> PeriodContent:
        """As it stands in a certificate."""
        return {
            "name": self.period.name,
            "first_day": self.period.start.isoformat(),
            "day_after": self.period.end.isoformat(),
            "series": self.series,
            "composition": str(self.composition(unit)),
        }

    @classmethod
    def from_content(cls, content: PeriodContent) -> PeriodStatement:
        """Read from a certificate."""
        series = content["series"]
        if not (series is None or isinstance(series, str)):
            raise ValueError(series)
        return cls(period=Period.parse(str(content["name"])), series=series)


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

    def limit(self, log: Log) -> Log:
        """The same log without the cases that must be left out."""
        return replace(log, wanted=self.wants)

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
def take_turn(log: object, ledger: Ledger | None, dataset: str | None) -> Iterator[Turn | None]:
    """Wait for other releases of periods from a ledger; None where this is no such release."""
    if not isinstance(log, Log) or log.period is None or ledger is None or dataset is None:
        yield None
        return
    if not log.period.is_over():
        raise SettingError("period", log.period.name, Statement("must.be.period_over"))
    # A dataset that is not there is refused before a key is made.
    ledger.account(dataset)
    with ledger.holding_case_key() as key:
        yield Turn(ledger=ledger, dataset=dataset, period=log.period, key=key, unit=log.unit)
