"""Budgets, and every access to the confidential log: charged (a spend) or not (a leak).

A release has one budget in one currency. In pure ε-differential privacy the amounts are ε, and they
add up. In ρ-zero-concentrated differential privacy (Bun and Steinke, 2016) they are ρ, which add up
as well, for queries chosen adaptively too (Whitehouse, Ramdas, Rogers and Wu, 2023), and the sum is
converted once to (ε, δ).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import exp, log, log1p
from typing import ClassVar

from .laws import DiscreteGaussian, DiscreteLaplace, Law
from .reals import WIDE
from .statements import SettingError, Statement, stated

SMALLEST_PER_CASE = Fraction(1, 10**9)
"""Below this, noise hides all cases of any real log and exceeds machine integers."""


@dataclass(frozen=True, kw_only=True)
class Spend:
    """A query that was answered with noise, and its charge."""

    what: Statement
    """The query; a string is its own wording."""
    amount: Fraction
    """The charge, in ε or ρ as the budget."""
    line: str = field(default="", compare=False)
    """The line of the promise that it is charged to."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", stated(self.what))


@dataclass(frozen=True, kw_only=True)
class Leak:
    """An access to the confidential log without noise or charge."""

    what: Statement
    """The data that was read; a string is its own wording."""
    why: Statement
    """The consequence for the guarantee."""
    line: str = field(default="", compare=False)
    """The line of the promise that names it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", stated(self.what))
        object.__setattr__(self, "why", stated(self.why))


Access = Spend | Leak


@dataclass(frozen=True)
class PureDP:
    """A budget of pure ε-differential privacy: discrete Laplace noise, changes bounded in L1."""

    epsilon: Fraction
    """The ε that is claimed, and the sum of all amounts."""
    delta: ClassVar[Fraction] = Fraction(0)
    selection: ClassVar[Fraction] = Fraction(0)

    @property
    def amount(self) -> Fraction:
        """The sum that may be spent."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """Its ρ in a sum: ε²/2 (Bun and Steinke 2016, Proposition 1.4)."""
        return self.epsilon**2 / 2

    def law(self, change: int, amount: Fraction) -> Law:
        """The noise on each cell of a table that changes by at most this much in sum (L1)."""
        return DiscreteLaplace(amount / change)


@dataclass(frozen=True)
class ZCDP:
    """A budget of ρ-zCDP with the claim (ε, δ): discrete Gaussian noise, changes bounded in L2."""

    epsilon: Fraction
    delta: Fraction
    selection: Fraction = Fraction(0)
    """The part of δ for reporting which cells of the histogram are not empty."""

    @cached_property
    def amount(self) -> Fraction:
        """The ρ that may be spent: the largest that implies the claim, rounded down.

        For every α > 1, ρ-zCDP implies (ε, δ)-DP with ε = αρ + c(α, δ), where
        c(α, δ) = (ln(1/δ) − ln α) / (α − 1) + ln(1 − 1/α) (Canonne, Kamath and Steinke 2020,
        Corollary 13). Floats choose α, which may be any number; decimals compute ρ for that α.
        """
        delta, epsilon = self.delta - self.selection, float(self.epsilon)
        alpha = _best_order(lambda alpha, offset: (epsilon - offset) / alpha, delta)
        with localcontext(WIDE, prec=50):
            claimed = Decimal(self.epsilon.numerator) / self.epsilon.denominator
            rho = (claimed - _offset(alpha, delta)) / alpha
            # Far more than the error of 50 digits.
            return Fraction(rho - abs(rho) * Decimal(10) ** -20)

    @property
    def rho(self) -> Fraction:
        """Its ρ in a sum; its `selection` is added to δ."""
        return self.amount

    def law(self, change: int, amount: Fraction) -> Law:
        """The same for the L2 norm: ρ = Δ²/(2σ²) (Theorem 14 of Canonne et al., 2020)."""
        return DiscreteGaussian(change**2 / (2 * amount))

    def shown_from(self, law: Law, cases: int) -> int:
        """The minimum count that a cell may be reported with because a case of the log is in it.

        A unit fills at most `max_cases` cells that would be empty without it, each with at most
        that many cases. By the union bound, one of them is reported with probability δ at most.
        """
        return cases + law.threshold(self.selection / cases)


Budget = PureDP | ZCDP


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε that a sum of ρ implies with δ > 0, rounded up: the inverse of `ZCDP.amount`."""
    least = float(rho)
    alpha = _best_order(lambda alpha, offset: -alpha * least - offset, delta)
    with localcontext(WIDE, prec=50):
        loss = alpha * rho.numerator / rho.denominator
        implied = loss + _offset(alpha, delta) + loss * Decimal(10) ** -20
        return max(Fraction(implied), Fraction(0))


def _best_order(gain: Callable[[float, float], float], delta: Fraction) -> Decimal:
    """The α, of which any is valid, where a function of α and c(α, δ) is about the largest."""
    logarithm = log(delta.denominator) - log(delta.numerator)

    def rough(order: float) -> float:
        alpha = 1 + exp(order)
        return gain(alpha, (logarithm - log(alpha)) / (alpha - 1) + log1p(-1 / alpha))

    # It rises and then falls, so thirds that do not hold the highest place are cut off.
    low, high = -30.0, 60.0
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if rough(left) < rough(right) else (low, right)
    return 1 + Decimal(exp(low))


def _offset(alpha: Decimal, delta: Fraction) -> Decimal:
    """c(α, δ), to the digits of the context."""
    logarithm = Decimal(delta.denominator).ln() - Decimal(delta.numerator).ln()
    return (logarithm - alpha.ln()) / (alpha - 1) + (1 - 1 / alpha).ln()


def total_epsilon(accesses: Iterable[Access], budget: Budget | None = None) -> Fraction | None:
    """The ε that a budget claims, by default the sum (basic composition); None: there is a leak."""
    total = Fraction(0)
    for access in accesses:
        if isinstance(access, Leak):
            return None
        total += access.amount
    return budget.epsilon if budget else total


def check_noise_fits(
    accesses: Iterable[Access], max_cases: int, budget: Budget | None = None
) -> None:
    """Refuse amounts that are too small, for the cases of a unit, for noise in machine integers.

    Noise beyond 2^62 is then drawn less than once in e^4,000,000 draws. The bound depends on public
    settings alone, and holds before anything is charged: afterwards nothing is refused.
    """
    least = SMALLEST_PER_CASE * max_cases
    if budget is not None and budget.delta:
        least = least**2 / 2
    for access in accesses:
        if isinstance(access, Spend) and access.amount < least:
            value = f"{float(access.amount):.3g} for {access.what}"
            bound, factor = float(least), float(least / access.amount)
            must = Statement("must.fit_noise", least=bound, cases=max_cases, factor=factor)
            raise SettingError("epsilon", value, must)
