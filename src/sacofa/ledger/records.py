"""Records of a ledger: releases, budgets and accounts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ..base.periods import Period

State = Literal["reserved", "released", "failed", "returned"]
"""How far a release came.

`reserved`: paid for, and no more is known; it is still running or died. `released`: its file has
its name. `failed`: it ended with an error after it may have drawn noise. `returned`: it ended with
an error before that, and its price was given back. All but the last count as spent.
"""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release of a dataset, in any state."""

    id: int
    """Its number in the ledger."""
    token: str
    """A random id: two rows of one number, in a ledger and in a copy of it, differ in this."""
    dataset: str
    """The released data."""
    at: str
    """Time of the request, in UTC."""
    mechanism: str
    """The name of the mechanism."""
    settings: str
    """The settings of the mechanism, as JSON."""
    price: Fraction | None
    """The ε of the whole release; None where no ε is finite."""
    chain: str
    """A hash of the request and its ε, and of the chain of the row before."""
    certificate: str
    """The certificate, as JSON."""
    state: State
    """How far it came."""
    file: str | None = None
    """The released file, once it is known."""
    size: int | None = None
    """The bytes of the released file, once they are known."""
    sha256: str | None = None
    """The hash of the released file, once it is known."""
    reason: str | None = None
    """The kind of error that ended it."""
    repeats: int | None = None
    """The latest earlier release with the same request."""

    @property
    def spent(self) -> bool:
        """Whether it counts as spent."""
        return self.state != "returned"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The budget of a dataset from a point in time on."""

    id: int
    """Its number in the ledger."""
    dataset: str
    """Whose budget it is."""
    at: str
    """When it was set, in UTC."""
    epsilon: Fraction | None
    """Maximum ε of all releases together; None for no limit."""


Sum = tuple[int, Fraction]
"""The number of releases without a finite ε, and the sum of all finite ε: in order of size."""
NOTHING: Sum = (0, Fraction(0))

Charged = Literal["period", "overlapping", "dataset"]
"""Which releases add up with a release of a period.

`period`: those of the same period. That is enough where a case is protected, because no case is in
releases of two periods. `overlapping`: those of every period with a day in common. That is needed
where a person-period is protected: a person can have several cases in January, of which one is in
the release of January and another in that of the year. `dataset`: all releases of the dataset. That
is needed where a person is protected over all periods.
"""


@dataclass(frozen=True, kw_only=True)
class Part:
    """The ε of the releases of one period of a dataset that are charged in the same way."""

    dataset: str
    """The name of the dataset."""
    period: str
    """The period, such as 2026-10."""
    charged: Charged = "period"
    """Which releases they add up with."""
    finite: Fraction = Fraction(0)
    """The sum of all finite ε."""
    endless: int = 0
    """The number of releases without a finite ε."""

    @property
    def spent(self) -> Fraction | None:
        """The sum of ε; None if one of them is not finite."""
        return None if self.endless else self.finite

    def charge(self, price: Fraction | None, times: int = 1) -> Part:
        """The part after a release, or with -1 after its price was given back."""
        if price is None:
            return replace(self, endless=self.endless + times)
        return replace(self, finite=self.finite + times * price)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Which cases a release of a period took: they are in no release of any other period."""

    entry: int
    """The number of the release."""
    period: str
    """The period."""
    charged: Charged
    """Which releases it adds up with."""
    number: int | None = None
    """The number of keyed hashes that it recorded; None: it did not come so far. Confidential."""
    digest: str | None = None
    """A hash of these keyed hashes."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """The account of a dataset.

    A release of the whole log touches every case, so it adds up with everything. Releases of
    periods add up as `Charged` says. The ε spent is that of the whole log and, of all cases and
    person-periods, the most that releases of periods add up to for one of them.
    """

    dataset: str
    """The name of the dataset."""
    budget: Fraction | None
    """Maximum ε of all releases together; None for no limit."""
    finite: Fraction = Fraction(0)
    """The sum of all finite ε of releases that the whole dataset is charged for."""
    endless: int = 0
    """The number of such releases without a finite ε."""
    parts: tuple[Part, ...] = field(default=(), metadata={"stored": False})
    """The sums of each period, in the order of periods."""

    @property
    def spent(self) -> Fraction | None:
        """The maximum ε spent on one case or person-period; None if it is not finite."""
        endless, finite = max(self._sums(self._overlapping).values(), default=NOTHING)
        return None if self.endless or endless else self.finite + finite

    @property
    def left(self) -> Fraction | None:
        """The remaining budget; None for no limit."""
        if self.budget is None:
            return None
        return max(Fraction(0), self.budget - self.spent) if self.spent is not None else Fraction(0)

    def allows(self, price: Fraction | None) -> bool:
        """Whether one more release fits. No finite budget allows a release without a finite ε."""
        if self.budget is None:
            return True
        if price is None or self.spent is None:
            return False
        return self.spent + price <= self.budget

    def payer(self, period: str | None, charged: Charged = "period") -> Account | Part:
        """The sum that a release is added to: of the whole dataset, or of its period."""
        if period is None or charged == "dataset":
            return self
        found = (p for p in self.parts if (p.period, p.charged) == (period, charged))
        return next(found, Part(dataset=self.dataset, period=period, charged=charged))

    @property
    def in_periods(self) -> dict[str, Fraction | None]:
        """The ε that releases of periods alone spend on one case or person-period, by period."""
        sums = self._sums(self._overlapping)
        return {period: None if endless else finite for period, (endless, finite) in sums.items()}

    def book(
        self, price: Fraction | None, period: str | None, charged: Charged = "period"
    ) -> Account:
        """The account after a release of the whole log, or of a period."""
        paying = self.payer(period, charged)
        if isinstance(paying, Account):
            return self.charge(price)
        parts = [paying.charge(price), *(part for part in self.parts if part != paying)]
        parts.sort(key=lambda part: (part.period, part.charged))
        return replace(self, parts=tuple(parts))

    def in_period(self, period: str | None, charged: Charged = "period") -> Account:
        """How the dataset stands for those who may be in one more such release."""
        if period is None or charged == "dataset":
            return self
        overlapping = self._overlapping | ({period} if charged == "overlapping" else set())
        longer = Period.parse(period).longer
        touched = {
            name for name in overlapping if name in longer or period in Period.parse(name).longer
        }
        sums = self._sums(overlapping)
        endless, finite = max(sums.get(name, NOTHING) for name in {period, *touched})
        return replace(self, finite=self.finite + finite, endless=self.endless + endless, parts=())

    @property
    def _overlapping(self) -> set[str]:
        """The periods of which person-periods are protected."""
        return {
            part.period
            for part in self.parts
            if part.charged == "overlapping" and (part.finite or part.endless)
        }

    def _sums(self, overlapping: set[str]) -> dict[str, Sum]:
        """For each period, the sum over releases of it, or over all that overlap it."""
        alone: defaultdict[str, Sum] = defaultdict(lambda: NOTHING)
        inside: defaultdict[str, Sum] = defaultdict(lambda: NOTHING)
        for part in self.parts:
            sum_of_part = part.endless, part.finite
            alone[part.period] = _add(alone[part.period], sum_of_part)
            for name in Period.parse(part.period).longer if overlapping else ():
                inside[name] = _add(inside[name], sum_of_part)
        # A period overlaps itself, those inside of it and those around it, and no others.
        return dict(alone) | {
            name: _add(alone[name], inside[name], *(alone[n] for n in Period.parse(name).longer))
            for name in overlapping
        }

    def charge(self, price: Fraction | None, times: int = 1) -> Account:
        """The account after a release, or with -1 after its price was given back."""
        if price is None:
            return replace(self, endless=self.endless + times)
        return replace(self, finite=self.finite + times * price)


def _add(*sums: Sum) -> Sum:
    return sum(endless for endless, _ in sums), sum((finite for _, finite in sums), Fraction(0))
