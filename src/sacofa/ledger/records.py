"""Records of a ledger: releases, budgets and accounts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeVar

from ..base.claims import FOR_SELECTION, largest_epsilon, least_epsilon
from ..base.periods import Period
from ..errors import Statement

State = Literal["reserved", "released", "failed", "returned"]
"""How far a release came.

`reserved`: paid for, and no more is known; it is still running or died. `released`: its file has
its name. `failed`: it ended with an error after it may have drawn noise. `returned`: it ended with
an error before that, and its price was given back. All but the last count as spent.
"""


@dataclass(frozen=True, kw_only=True)
class Rho:
    """What a release with a δ costs. It cannot be stated in ε."""

    rho: Fraction
    """The ρ of all its queries."""
    selection: Fraction = Fraction(0)
    """The part of its δ for variants that are published individually."""


Cost = Fraction | Rho | None
"""What a release costs: an ε, in pure differential privacy; a ρ; None where no ε is finite."""


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
    """The ε that the release claims; None where no ε is finite."""
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
    delta: Fraction = Fraction(0)
    """The δ that the release claims; 0 for pure differential privacy."""
    rho: Fraction | None = None
    """The ρ of all its queries; None in pure differential privacy."""
    selection: Fraction = Fraction(0)
    """The part of δ for variants that are published individually."""

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return self.price if self.rho is None else Rho(rho=self.rho, selection=self.selection)

    @property
    def spent(self) -> bool:
        """Whether it counts as spent."""
        return self.state != "returned"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A budget of a dataset, valid from the time when it was set."""

    id: int
    """Its number in the ledger."""
    dataset: str
    """Whose budget it is."""
    at: str
    """When it was set, in UTC."""
    epsilon: Fraction | None
    """Maximum ε of all releases together; None for no limit."""
    delta: Fraction = Fraction(0)
    """The δ that belongs to it; 0 for pure differential privacy."""
    rho: Fraction | None = None
    """The ρ that implies both, as it was worked out then; None without a δ or a limit."""


class Sum(NamedTuple):
    """What releases add up to, in the currency of a budget."""

    endless: int = 0
    """The number of releases without a finite ε."""
    finite: Fraction = Fraction(0)
    """The sum of all others: ε, or ρ."""
    selection: Fraction = Fraction(0)
    """The sum of their parts of δ for variants that are published individually."""


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
    """The sum of all finite costs, in the currency of the account."""
    endless: int = 0
    """The number of releases without a finite ε."""
    selection: Fraction = Fraction(0)
    """The sum of their parts of δ for variants that are published individually."""

    def charge(self, cost: Sum, times: int = 1) -> Part:
        """The part after a release, or with -1 after its price was given back."""
        return _charged(self, cost, times)


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
    periods add up as `Charged` says. The amount spent is that of the whole log and, of all cases
    and person-periods, the most that releases of periods add up to for one of them.

    A budget has one currency: ε, or with a δ ρ (zero-concentrated differential privacy). In ρ, a
    release of pure ε counts as ε²/2 (Bun and Steinke, 2016). All releases together are then
    (ε, δ)-differentially private, if the parts of δ for variants that are published individually
    add up to no more than their part of the δ of the budget: both bounds are fixed beforehand.
    """

    dataset: str
    """The name of the dataset."""
    budget: Fraction | None
    """Maximum of all releases together, in the currency of the budget; None for no limit."""
    finite: Fraction = Fraction(0)
    """The sum of all finite costs of releases that the whole dataset is charged for."""
    endless: int = 0
    """The number of such releases without a finite ε."""
    delta: Fraction = Fraction(0)
    """The δ of the budget, whose currency is then ρ; 0: the currency is ε."""
    selection: Fraction = Fraction(0)
    """The sum of the parts of δ for variants that are published individually."""
    parts: tuple[Part, ...] = field(default=(), metadata={"stored": False})
    """The sums of each period, in the order of periods."""

    @property
    def spent(self) -> Fraction | None:
        """The maximum spent on one case or person-period; None if it is not finite."""
        total = self.total
        return None if total.endless else total.finite

    @property
    def left(self) -> Fraction | None:
        """The remaining budget; None for no limit."""
        if self.budget is None:
            return None
        return max(Fraction(0), self.budget - self.spent) if self.spent is not None else Fraction(0)

    @property
    def left_for_selection(self) -> Fraction:
        """What may still be spent of δ on variants that are published individually."""
        return max(Fraction(0), FOR_SELECTION * self.delta - self.total.selection)

    def amounts(self, cost: Cost) -> Sum:
        """What a release costs in the currency of the budget."""
        if isinstance(cost, Rho):
            return Sum(finite=cost.rho, selection=cost.selection)
        if cost is None:
            return Sum(endless=1)
        return Sum(finite=cost**2 / 2 if self.delta else cost)

    def holds(self, cost: Cost) -> bool:
        """Whether its currency can hold the cost: a δ cannot be charged to a budget in ε."""
        return bool(self.delta) or not isinstance(cost, Rho)

    def allows(self, cost: Cost) -> bool:
        """Whether one more release fits. No finite budget allows a release without a finite ε."""
        amounts = self.amounts(cost)
        if amounts.selection > self.left_for_selection:
            return False
        if self.budget is None:
            return True
        if amounts.endless or self.spent is None:
            return False
        return self.spent + amounts.finite <= self.budget

    def epsilon(self, amount: Fraction, *, fits: bool = False) -> Fraction:
        """An amount as an ε for the δ of the budget: the least that it implies, or that `fits`."""
        if not self.delta:
            return amount
        convert = largest_epsilon if fits else least_epsilon
        return convert(amount, (1 - FOR_SELECTION) * self.delta)

    def number(self, amount: Fraction) -> Statement | Fraction:
        """What is left, or a limit, in a text that names the currency if it is ε."""
        return self.say(amount, fits=True) if self.delta else amount

    def say(self, amount: Fraction | None, *, fits: bool = False) -> Statement:
        """An amount in words; None: not finite."""
        if amount is None:
            return Statement("claim.none")
        if not self.delta:
            return Statement("claim.pure", epsilon=amount)
        epsilon = self.epsilon(amount, fits=fits)
        return Statement("claim.rho", rho=amount, epsilon=epsilon, delta=self.delta)

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
        return {period: None if sum.endless else sum.finite for period, sum in sums.items()}

    def book(self, cost: Cost, period: str | None, charged: Charged = "period") -> Account:
        """The account after a release of the whole log, or of a period."""
        paying, amounts = self.payer(period, charged), self.amounts(cost)
        if isinstance(paying, Account):
            return self.charge(amounts)
        parts = [paying.charge(amounts), *(part for part in self.parts if part != paying)]
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
        most = _largest(sums.get(name, Sum()) for name in {period, *touched})
        return replace(self.charge(most), parts=())

    @property
    def total(self) -> Sum:
        """What all releases add up to at most for one case or person-period."""
        most = _largest(self._sums(self._overlapping).values())
        return _add(Sum(self.endless, self.finite, self.selection), most)

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
        alone: defaultdict[str, Sum] = defaultdict(Sum)
        inside: defaultdict[str, Sum] = defaultdict(Sum)
        for part in self.parts:
            sum_of_part = Sum(part.endless, part.finite, part.selection)
            alone[part.period] = _add(alone[part.period], sum_of_part)
            for name in Period.parse(part.period).longer if overlapping else ():
                inside[name] = _add(inside[name], sum_of_part)
        # A period overlaps itself, those inside of it and those around it, and no others.
        return dict(alone) | {
            name: _add(alone[name], inside[name], *(alone[n] for n in Period.parse(name).longer))
            for name in overlapping
        }

    def charge(self, cost: Sum, times: int = 1) -> Account:
        """The account after a release, or with -1 after its price was given back."""
        return _charged(self, cost, times)


Payer = TypeVar("Payer", Account, Part)


def _charged(payer: Payer, cost: Sum, times: int) -> Payer:
    return replace(
        payer,
        endless=payer.endless + times * cost.endless,
        finite=payer.finite + times * cost.finite,
        selection=payer.selection + times * cost.selection,
    )


def _add(*sums: Sum) -> Sum:
    return Sum(*(sum(column, start=0) for column in zip(*sums, strict=True)))


def _largest(sums: Iterable[Sum]) -> Sum:
    """No less than each of some sums, in each respect."""
    return Sum(*map(max, zip(Sum(), *sums, strict=True)))
