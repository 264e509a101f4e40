"""What ρ-zero-concentrated differential privacy implies, as every claim with a δ states it.

All follow from the conversions of the kernel, which err on the safe side:

* the ε of several releases, or of the remaining budget (`least_epsilon`, `largest_epsilon`);
* what happened inside a unit: replacing its contents changes votes, which are not negative, by √2
  as much as removing it, because |u − v|² ≤ |u|² + |v|². So ρ doubles;
* several units: ρ grows with the square of their number;
* the odds of a guess: the privacy loss exceeds ρ + 2√(ρ ln(1/p)) with probability p at most (Bun
  and Steinke, 2016).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, exp, floor, log, log10, sqrt

from ..kernel.accounting import ZCDP, Budget, epsilon_of
from ..kernel.statements import Statement

FOR_SELECTION = Fraction(1, 10)
"""The part of δ for variants that are published individually. It costs all other queries less than
1 % of noise, and raises the threshold of those variants by 5 %."""
DIGITS = 4
"""The digits of an ε that is worked out."""


def least_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The least ε of four digits such that ρ-zCDP implies (ε, δ)-differential privacy."""
    return _bounds(rho, delta)[1] if rho else Fraction(0)


def largest_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The largest ε of four digits such that a release of (ε, δ) fits into a ρ."""
    return _bounds(rho, delta)[0] if rho > 0 else Fraction(0)


@cache
def _bounds(rho: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The largest four-digit ε that fits into a ρ, and the smallest that the ρ implies."""
    exact = epsilon_of(rho, delta)
    unit = Fraction(10) ** (floor(log10(exact)) + 1 - DIGITS)
    near = round(exact / unit) * unit
    converted = ZCDP(near, delta).rho
    return near - unit * (converted > rho), near + unit * (converted < rho)


def inside(budget: Budget) -> Fraction:
    """The ε, for the δ of the claim, of what happened inside a unit of privacy."""
    if not isinstance(budget, ZCDP):
        return 2 * budget.epsilon
    return least_epsilon(2 * budget.rho, budget.delta - budget.selection)


def for_units(budget: Budget, units: int) -> tuple[Fraction, Fraction]:
    """The ε and the δ of several units of privacy together.

    A threshold for empty cells hides the count of one unit. With one, the general bound holds:
    kε and k·e^((k − 1)ε)·δ.
    """
    if not isinstance(budget, ZCDP):
        return units * budget.epsilon, Fraction(0)
    if not budget.selection:
        return least_epsilon(units**2 * budget.rho, budget.delta), budget.delta
    # To two digits, rounded up.
    growth = units * exp(min((units - 1) * float(budget.epsilon), 600.0)) * (1 + 1e-9)
    unit = Fraction(10) ** (floor(log10(growth)) - 1)
    return units * budget.epsilon, min(ceil(growth / unit) * unit * budget.delta, Fraction(1))


def odds_exponent(budget: Budget, times: int = 1) -> Fraction | float:
    """The logarithm of the factor by which odds change at most, for `times` as much ρ.

    In pure differential privacy it is certain, and for two units twice ε. Otherwise it is exceeded
    with a probability of δ at most, of which half is for each direction.
    """
    if not isinstance(budget, ZCDP):
        return times * budget.epsilon
    rho, delta = float(times * budget.rho), budget.delta - budget.selection
    return rho + 2 * sqrt(rho * (log(2) + log(delta.denominator) - log(delta.numerator)))


def say_claim(epsilon: Fraction | None, delta: Fraction = Fraction(0)) -> Statement:
    """A claim in a few words."""
    if epsilon is None:
        return Statement("claim.none")
    if not delta:
        return Statement("claim.pure", epsilon=epsilon)
    return Statement("claim.approximate", epsilon=epsilon, delta=delta)
