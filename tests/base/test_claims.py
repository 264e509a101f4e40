"""What ρ implies: compared with an independent accountant, exact tails and a fine grid of α."""

from __future__ import annotations

from fractions import Fraction
from math import e, erfc, exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.base.claims import (
    for_units,
    inside,
    largest_epsilon,
    least_epsilon,
    odds_exponent,
    say_claim,
)
from sacofa.kernel.accounting import ZCDP, PureDP
from sacofa.messages import render

from ..kernel.queries.test_euclidean import logs, queries
from ..kernel.queries.test_flow import changes
from ..rules.oracle import Case

MILLIONTH = Fraction(1, 10**6)
ONE = ZCDP(Fraction(1), MILLIONTH)
WITH_SELECTION = ZCDP(Fraction(1), MILLIONTH, MILLIONTH / 10)
ROUNDING = Fraction(1, 1000)
"""Four digits, of numbers from 1 to 10."""


def gaussian_epsilon(budget: ZCDP, change: float) -> float:
    """The ε of an independent accountant for a table that changes by so much."""
    reason = "needs the extra dev"
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason=reason)
    sigma = float(1 / (2 * budget.rho)) ** 0.5
    losses = library.from_gaussian_mechanism(sigma, sensitivity=change)
    return float(losses.get_epsilon_for_delta(float(budget.delta - budget.selection)))


@given(
    st.fractions(Fraction(1, 10**4), 2, max_denominator=10**4),
    st.integers(3, 12).map(lambda zeros: Fraction(1, 10**zeros)),
)
def test_an_epsilon_that_is_worked_out_errs_on_the_safe_side(
    rho: Fraction, delta: Fraction
) -> None:
    """The least implies no smaller ρ, the largest no larger one; they are neighbours or equal."""
    least, largest = least_epsilon(rho, delta), largest_epsilon(rho, delta)
    assert ZCDP(largest, delta).rho <= rho <= ZCDP(least, delta).rho
    assert largest <= least <= largest * (1 + ROUNDING) + Fraction(1, 10**9)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 2), Fraction(3, 1000), Fraction(40)])
def test_an_epsilon_of_few_digits_comes_back_as_it_was(epsilon: Fraction) -> None:
    """A budget is stated as it was given."""
    rho = ZCDP(epsilon, MILLIONTH).rho
    assert least_epsilon(rho, MILLIONTH) == largest_epsilon(rho, MILLIONTH) == epsilon


def test_nothing_spent_implies_nothing() -> None:
    """Nothing left lets nothing fit."""
    assert least_epsilon(Fraction(0), MILLIONTH) == largest_epsilon(Fraction(0), MILLIONTH) == 0


@pytest.mark.parametrize("budget", [ONE, WITH_SELECTION])
def test_what_happened_inside_a_case_costs_the_square_root_of_two(budget: ZCDP) -> None:
    """1.451 at (1, 10⁻⁶), as a search over a fine grid of α gives; without doubling it is false."""
    assert inside(budget) == Fraction("1.452" if budget is ONE else "1.451")
    true = gaussian_epsilon(budget, sqrt(2))
    assert 1 < true <= inside(budget) < 2


@pytest.mark.parametrize("units", [2, 3])
def test_several_units_count_the_square_of_their_number(units: int) -> None:
    """Without a part of δ for selection; with one, by the general bound."""
    epsilon, delta = for_units(ONE, units)
    assert delta == MILLIONTH
    assert units < gaussian_epsilon(ONE, units) * 1.2 <= epsilon * Fraction(12, 10)
    assert epsilon == pytest.approx(float(least_epsilon(units**2 * ONE.rho, MILLIONTH)))
    epsilon, delta = for_units(WITH_SELECTION, units)
    assert epsilon == units
    bound = units * e ** (units - 1) * 1e-6
    assert bound <= float(delta) <= 1.1 * bound


def test_pure_claims_double_and_multiply() -> None:
    """As always: no ρ is in the way."""
    budget = PureDP(Fraction(1, 3))
    assert inside(budget) == Fraction(2, 3)
    assert for_units(budget, 3) == (1, 0)
    assert (odds_exponent(budget), odds_exponent(budget, 2)) == (Fraction(1, 3), Fraction(2, 3))


@pytest.mark.parametrize("times", [1, 2])
def test_odds_stay_within_their_bound_except_with_probability_delta(times: int) -> None:
    """The loss of Gaussian noise is N(ρ, 2ρ), exactly; the ε of the claim is no such bound."""
    rho = float(times * ONE.rho)

    def beyond(bound: float) -> float:
        """The probability that odds rise or fall by more."""
        above = erfc((bound - rho) / sqrt(2 * rho) / sqrt(2)) / 2
        below = erfc((bound + rho) / sqrt(2 * rho) / sqrt(2)) / 2
        return above + below

    bound = float(odds_exponent(ONE, times))
    assert 1e-8 < beyond(bound) <= 1e-6
    assert beyond(1.0 if times == 1 else float(inside(ONE))) > 1e-6
    assert bound == pytest.approx(1.2133 if times == 1 else 1.7301, abs=1e-4)
    assert exp(bound) < exp(2)


@given(logs(), logs(), st.integers(0, len(queries(2)) - 1))
def test_votes_are_never_negative(
    log: tuple[list[Case], int], other: tuple[list[Case], int], kind: int
) -> None:
    """So |u − v|² ≤ |u|² + |v|²: what a case holds changes a table by √2, and not by 2."""
    _, tables = changes(queries, kind, log, other)
    assert all((table >= 0).all() for table in tables)


def test_a_claim_has_one_wording() -> None:
    """In either language, with δ as a power of ten."""
    assert str(say_claim(None)) == "no finite ε"
    assert str(say_claim(Fraction(1, 3))) == "ε = 1/3"
    assert str(say_claim(Fraction(1, 2), MILLIONTH)) == "ε = 0.5, δ = 10⁻⁶"
    claim = say_claim(Fraction(1, 2), Fraction(25, 10**8))
    assert render(claim, "de") == "ε = 0,5, δ = 2,5·10⁻⁷"
