"""What a ledger holds: releases, budgets, and how an account stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

State = Literal["reserved", "released", "failed", "returned"]
"""How far a release came.

`reserved`: paid for, and no more is known; it is still running or died. `released`: its file has
its name. `failed`: it ended with an error after it may have drawn noise. `returned`: it ended with
an error before that, and its price was given back. All but the last count as spent.
"""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release of a dataset, whatever became of it."""

    id: int
    """Its number in the ledger."""
    token: str
    """A random id: two rows of one number, in a ledger and in a copy of it, differ in this."""
    dataset: str
    """What was released."""
    at: str
    """When it was asked for, in UTC."""
    mechanism: str
    """The name of the mechanism."""
    settings: str
    """The settings of the mechanism, as JSON."""
    price: Fraction | None
    """The ε of the whole release; None where no ε is finite."""
    chain: str
    """A hash of what was asked for and paid, and of the chain of the row before."""
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
    """The latest earlier release that was asked for in just the same way."""

    @property
    def spent(self) -> bool:
        """Whether it counts as spent."""
        return self.state != "returned"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a dataset may cost in all, from some time on."""

    id: int
    """Its number in the ledger."""
    dataset: str
    """Whose budget it is."""
    at: str
    """When it was set, in UTC."""
    epsilon: Fraction | None
    """The most that all releases may cost together; None for no limit."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What the releases of one period of a dataset cost."""

    dataset: str
    """Its name."""
    period: str
    """The period, such as 2026-10."""
    finite: Fraction = Fraction(0)
    """What those with a finite ε cost so far."""
    endless: int = 0
    """How many releases were made that have no finite ε."""

    @property
    def spent(self) -> Fraction | None:
        """What they cost together; None where no ε is finite."""
        return None if self.endless else self.finite

    def charge(self, price: Fraction | None, times: int = 1) -> Part:
        """The part after a release, or with -1 after its price was given back."""
        if price is None:
            return replace(self, endless=self.endless + times)
        return replace(self, finite=self.finite + times * price)


Charged = Literal["period", "dataset"]
"""What pays for a release of a period: that period alone, or the whole dataset."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Which cases a release of a period took: they are in no release of any other period."""

    entry: int
    """The number of the release."""
    period: str
    """The period."""
    charged: Charged
    """What paid for it."""
    number: int | None = None
    """How many cases it took; None: it did not come so far. Secret, like the cases."""
    digest: str | None = None
    """A hash of their keyed hashes."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """How a dataset stands.

    A release of the whole log touches every case. Releases of periods have no case in common, so a
    case pays for one period at most: what is spent is what the whole cost, and the dearest period.
    """

    dataset: str
    """Its name."""
    budget: Fraction | None
    """The most that all releases may cost together; None for no limit."""
    finite: Fraction = Fraction(0)
    """What releases of the whole log with a finite ε cost so far."""
    endless: int = 0
    """How many releases of the whole log were made that have no finite ε."""
    parts: tuple[Part, ...] = field(default=(), metadata={"stored": False})
    """What each period cost by itself, in the order of periods."""

    @property
    def spent(self) -> Fraction | None:
        """What all releases cost one case so far, at most; None where no ε is finite."""
        if self.endless or any(part.endless for part in self.parts):
            return None
        return self.finite + max((part.finite for part in self.parts), default=Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """What may still be spent; None for no limit."""
        if self.budget is None:
            return None
        return max(Fraction(0), self.budget - self.spent) if self.spent is not None else Fraction(0)

    def allows(self, price: Fraction | None) -> bool:
        """Tell whether one more release fits: no finite ε fits into no finite budget."""
        if self.budget is None:
            return True
        if price is None or self.spent is None:
            return False
        return self.spent + price <= self.budget

    def part(self, period: str) -> Part:
        """How a period stands."""
        found = (part for part in self.parts if part.period == period)
        return next(found, Part(dataset=self.dataset, period=period))

    def book(self, price: Fraction | None, period: str | None) -> Account:
        """The account after a release of the whole log, or of a period."""
        if period is None:
            return self.charge(price)
        others = tuple(part for part in self.parts if part.period != period)
        return replace(self, parts=(*others, self.part(period).charge(price)))

    def in_period(self, period: str) -> Account:
        """How the dataset stands for cases of one period alone."""
        return replace(self, parts=(self.part(period),))

    def charge(self, price: Fraction | None, times: int = 1) -> Account:
        """The account after a release, or with -1 after its price was given back."""
        if price is None:
            return replace(self, endless=self.endless + times)
        return replace(self, finite=self.finite + times * price)
