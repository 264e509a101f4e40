"""A budget in ρ: what its noise is worth, what it claims, and what a session does with it."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.errors import PromiseError, SettingError
from sacofa.kernel.accounting import ZCDP, PureDP, Spend, epsilon_of
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import DiscreteGaussian
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import CaseCount, StepVotes
from sacofa.kernel.queries.histogram import AllSequences, Histogram
from sacofa.kernel.session import Session
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.rules.allowed import all_sequences

MILLIONTH = Fraction(1, 10**6)
LOG = VariantCounts.of({("a",): 3, ("a", "b"): 2})
epsilons = st.fractions(Fraction(1, 100), 50, max_denominator=100)
deltas = st.integers(2, 12).map(lambda zeros: Fraction(1, 10**zeros))


def session_of(budget: ZCDP, unit: Unit | None = None, log: VariantCounts = LOG) -> Session:
    """A session that may spend a whole budget on the line `all`."""
    if unit is not None:
        log = VariantCounts.of(dict(log), log.activities, unit=unit)
    promised = (Spend(what="everything", amount=budget.amount, line="all"),)
    return Session(Cases(variants=log), promised, Noise(SeededBits(1)), budget)


def test_the_conversion_gives_known_values() -> None:
    """At (1, 10⁻⁶) the whole budget buys σ = 4.53; the simple formula would give 5.35."""
    rho = ZCDP(Fraction(1), MILLIONTH).amount
    assert float(rho) == pytest.approx(0.0243559, abs=1e-7)
    assert float(1 / (2 * rho)) ** 0.5 == pytest.approx(4.531, abs=1e-3)


@given(epsilons, deltas)
def test_selection_takes_its_part_of_delta(epsilon: Fraction, delta: Fraction) -> None:
    """What is left for the conversion buys less."""
    rho = ZCDP(epsilon, delta, delta / 10).amount
    assert 0 < rho == ZCDP(epsilon, delta * 9 / 10).amount < ZCDP(epsilon, delta).amount


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3), Fraction(8)])
@pytest.mark.parametrize("delta", [Fraction(1, 1000), MILLIONTH, Fraction(1, 10**9)])
def test_the_claim_is_an_upper_bound(epsilon: Fraction, delta: Fraction) -> None:
    """An independent accountant computes a smaller ε for the noise, if not by much."""
    reason = "needs the extra dev"
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason=reason)
    bought = ZCDP(epsilon, delta).law(1, ZCDP(epsilon, delta).amount)
    losses = library.from_discrete_gaussian_mechanism(float(bought.sigma_squared) ** 0.5)
    assert 0.6 * epsilon < losses.get_epsilon_for_delta(float(delta)) <= epsilon


@given(epsilons, deltas)
def test_a_sum_of_rho_implies_the_claim_of_its_budget(epsilon: Fraction, delta: Fraction) -> None:
    """The conversion back gives the same ε, never less than what a larger ρ would claim."""
    budget = ZCDP(epsilon, delta)
    assert float(epsilon_of(budget.rho, delta)) == pytest.approx(float(epsilon), rel=1e-9)
    assert epsilon_of(budget.rho * 2, delta) > epsilon > epsilon_of(budget.rho / 2, delta)
    assert epsilon_of(Fraction(0), delta) == 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("times", [1, 60])
def test_pure_releases_in_a_sum_of_rho(epsilon: Fraction, times: int) -> None:
    """They count ε²/2: alone or next to Gaussian noise, the claim is an upper bound.

    An independent accountant composes the worst mechanism of this ε. Half as much would not do.
    """
    reason = "needs the extra dev"
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason=reason)
    common = pytest.importorskip("dp_accounting.pld.common", reason=reason)
    worst = library.from_privacy_parameters(
        common.DifferentialPrivacyParameters(float(epsilon), 0), value_discretization_interval=1e-3
    ).self_compose(times)
    gaussian = ZCDP(Fraction(1), MILLIONTH)
    sigma = float(gaussian.law(1, gaussian.rho).variance) ** 0.5
    both = worst.compose(
        library.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-3)
    )
    for losses, more in ((worst, Fraction(0)), (both, gaussian.rho)):
        for delta in (Fraction(1, 1000), MILLIONTH):
            true = losses.get_epsilon_for_delta(float(delta))
            assert true <= epsilon_of(times * PureDP(epsilon).rho + more, delta)
            if times > 1 and epsilon < 2:
                assert true > epsilon_of(times * PureDP(epsilon).rho / 2 + more / 2, delta)


def test_amounts_in_epsilon_are_no_amounts_in_rho() -> None:
    """A release has one currency: what a pure budget promises is refused by one in ρ."""
    epsilon = Fraction(1)
    promised = (Spend(what="everything", amount=epsilon, line="all"),)
    with pytest.raises(PromiseError, match="budget"):
        Session(Cases(variants=LOG), promised, Noise(SeededBits(1)), ZCDP(epsilon, MILLIONTH))


@pytest.mark.parametrize("max_cases", [1, 3])
def test_noise_of_a_query_is_worth_its_rho(max_cases: int) -> None:
    """By enumeration: the Rényi divergence of neighbouring answers is at most αρ, for every α."""
    unit = Unit(person="who", max_cases=max_cases) if max_cases > 1 else None
    session = session_of(ZCDP(Fraction(1), MILLIONTH), unit)
    rho = session.budget.amount / 2
    law = session.law(CaseCount(), rho)
    assert isinstance(law, DiscreteGaussian)
    reach = int(40 * law.variance**0.5)
    with localcontext(prec=60):
        weights = {
            x: (
                -Decimal(x * x * law.sigma_squared.denominator) / law.sigma_squared.numerator / 2
            ).exp()
            for x in range(-reach - max_cases, reach + 1)
        }
        total = sum(weights.values())
        for order in (2, 5, 20):
            terms = (
                weights[x] ** order * weights[x - max_cases] ** (1 - order)
                for x in range(-reach, reach + 1)
            )
            divergence = (sum(terms) / total).ln() / (order - 1)
            allowed = Decimal(rho.numerator) / rho.denominator * order
            assert allowed * Decimal("0.99") < divergence <= allowed * Decimal("1.0000001")


def test_a_session_answers_in_rho() -> None:
    """It charges ρ, and answers with Gaussian noise of the right scale on every cell."""
    budget = ZCDP(Fraction(100), MILLIONTH)
    session = session_of(budget)
    session.ask(CaseCount(), budget.amount, "all")
    (answer,) = session.answers
    assert answer.noise == DiscreteGaussian(1 / (2 * budget.amount))
    assert abs(int(np.asarray(answer.values)[0]) - 5) < 8 * answer.noise.variance**0.5 + 1
    assert [spend.amount for spend in session.close()] == [budget.amount]


def test_euclidean_votes_are_refused_for_pure_epsilon() -> None:
    """In sum they change more than noise of pure ε hides."""
    query = StepVotes(2, euclidean=True)
    budget = ZCDP(Fraction(1), MILLIONTH)
    session_of(budget).ask(query, budget.amount, "all")
    promised = (Spend(what="everything", amount=Fraction(1), line="all"),)
    pure = Session(Cases(variants=LOG), promised, Noise(SeededBits(1)), PureDP(Fraction(1)))
    with pytest.raises(PromiseError, match="sensitivity"):
        pure.ask(query, Fraction(1), "all")


def test_more_than_the_budget_is_not_promised() -> None:
    """Lines that add up to more than ρ would claim too little."""
    budget = ZCDP(Fraction(1), MILLIONTH)
    promised = [Spend(what=name, amount=budget.amount, line=name) for name in ("one", "two")]
    with pytest.raises(PromiseError, match="budget"):
        Session(Cases(variants=LOG), promised, Noise(SeededBits(1)), budget)
    tiny = (Spend(what="all", amount=Fraction(1, 10**30), line="all"),)
    with pytest.raises(SettingError):
        Session(Cases(variants=LOG), tiny, Noise(SeededBits(1)), budget)


def test_selection_is_charged_once() -> None:
    """Its δ is spent by the first histogram, and there is none without it."""
    budget = ZCDP(Fraction(1), MILLIONTH, MILLIONTH / 10)
    session = session_of(budget)
    session.open(AllSequences(), budget.amount / 2, "all")
    with pytest.raises(PromiseError, match="selection"):
        session.open(AllSequences(), budget.amount / 2, "all")
    with pytest.raises(PromiseError, match="selection"):
        session_of(ZCDP(Fraction(1), MILLIONTH)).open(AllSequences(), budget.amount / 2, "all")


@pytest.mark.parametrize("max_cases", [1, 3])
def test_a_case_is_selected_with_probability_delta_at_most(max_cases: int) -> None:
    """A variant that only one unit has, with all its cases or one in each of several variants."""
    unit = Unit(person="who", max_cases=max_cases) if max_cases > 1 else None
    budget = ZCDP(Fraction(3), Fraction(1, 100), Fraction(1, 1000))
    opened = session_of(budget, unit).open(AllSequences(), budget.amount, "all")
    assert opened.threshold is not None and isinstance(opened.law, DiscreteGaussian)
    sigma_squared = float(opened.law.sigma_squared)
    weights = [exp(-x * x / (2 * sigma_squared)) for x in range(2_000)]
    total = 2 * sum(weights) - 1
    for count in range(1, max_cases + 1):
        chance = sum(weights[opened.threshold - count :]) / total
        assert (max_cases // count) * chance <= budget.selection


def test_empty_cells_are_never_shown() -> None:
    """At any threshold: what is shown are variants of the log above the session's threshold."""
    budget = ZCDP(Fraction(20), Fraction(1, 100), Fraction(1, 1000))
    log = VariantCounts.of({("a",): 500, ("a", "b"): 300, ("b",): 1})
    opened = session_of(budget, log=log).open(AllSequences(), budget.amount, "all")
    shown = Histogram(opened).show(all_sequences(log.activities, 3), 1)
    assert set(shown) == {((0,), True), ((0, 1), True)}
    assert opened.threshold is not None and min(shown.values()) >= opened.threshold
