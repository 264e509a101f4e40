"""The (ε, δ) of `certified` is true: what every draw costs in ρ, and what the whole run shows.

The outcomes are those of test_privacy.py, with Gaussian noise. Every way of a run that is tried
costs at most the ρ of the budget, and some cost all of it. For such ways the divergences of all
answers together are computed by enumeration: Rényi's at most αρ, the hockey-stick at most δ.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.signal import fftconvolve

from sacofa.audit import attribute_pairs, attribute_persons_pair, timed_pairs, timed_persons_pair
from sacofa.kernel.accounting import epsilon_of
from sacofa.kernel.laws import DiscreteGaussian, Law
from sacofa.kernel.queries.flow import BoundedVotes
from sacofa.kernel.queries.protocol import Ints
from sacofa.kernel.session import Session
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified.certified import Certified

from . import outcomes, test_privacy
from .outcomes import Secret, breaks, leading_to, led, listed, run_by_hand
from .test_privacy import (
    LOGS,
    NAMES,
    SHORT,
    THREE,
    DropsZeros,
    ForOneCase,
    OneUnnoised,
    VotesPerStep,
)

DELTA = Fraction(1, 10**6)
GAUSSIAN = replace(SHORT, delta=DELTA)
LARGE = replace(GAUSSIAN, large_log_ratio=Fraction(10**6))
"""Publishes frequent variants individually in logs of any size."""
TIMED = replace(GAUSSIAN, min_candidates=3, max_candidates=3)
FREQUENT: dict[tuple[str, ...], int] = {("a",): 90, ("a", "b"): 3}
PAIRS = {
    pair.name: pair
    for pair in (
        *timed_pairs(),
        timed_persons_pair(3),
        *attribute_pairs(),
        attribute_persons_pair(3),
    )
}


def log_of(counts: dict[tuple[str, ...], int], unit: Unit = ONE_CASE) -> VariantCounts:
    """A log of two activities."""
    return VariantCounts.of(counts, NAMES, unit=unit)


def most_spent(
    mechanism: Certified,
    session: type[Session] = Session,
    *,
    unit: Unit = ONE_CASE,
    cases: int = 1,
) -> float:
    """The largest part of ρ that a few cases more cost, over logs, neighbours and outcomes."""
    worst = 0.0
    for place, counts in enumerate([{}, LOGS[3], FREQUENT]):
        secret = log_of(counts, unit)
        neighbours = test_privacy.neighbours(counts, unit, cases)
        pair = (secret, neighbours[place % len(neighbours)])
        worst = max(worst, outcomes.largest_ratio(mechanism, pair, session))
        if math.isinf(worst):
            break
    return worst


@pytest.mark.parametrize("mechanism", [GAUSSIAN, LARGE], ids=["few", "frequent variants shown"])
@pytest.mark.parametrize(("unit", "cases"), [(ONE_CASE, 1), (THREE, 3)], ids=["case", "person"])
def test_no_way_costs_more_than_the_budget(mechanism: Certified, unit: Unit, cases: int) -> None:
    """A case, and a person with three cases, cost ρ at most, and nearly all of it is used.

    Votes do not divide evenly, and of the votes in ρ, squares are lost.
    """
    assert 0.95 < most_spent(mechanism, unit=unit, cases=cases) <= 1 + 1e-9


def test_the_outcomes_that_are_tried_publish_variants() -> None:
    """A frequent variant is published individually, and its noise is Gaussian like all other."""
    outcome = run_by_hand(LARGE, log_of(FREQUENT), listed([]))
    assert outcome.shown == 1
    assert all(isinstance(law, DiscreteGaussian) for law in outcome.laws)
    votes = [query for query in outcome.asked_for if isinstance(query, BoundedVotes)]
    assert len(votes) > 1 and LARGE.budget.selection > 0


class HalfTheNoise(Session):
    """Half of the noise that was paid for."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return super().noise_on(sensitivity, 4 * epsilon)


@pytest.mark.parametrize("broken", [HalfTheNoise, VotesPerStep, OneUnnoised, DropsZeros])
def test_a_broken_session_is_noticed(broken: type[Session]) -> None:
    """Too little noise, votes without a bound, and answers without noise cost more than ρ."""
    assert most_spent(GAUSSIAN, broken) > 1.2


def test_noise_for_one_case_of_a_person_is_noticed() -> None:
    """It hides a ninth of what three equal cases cost."""
    assert most_spent(GAUSSIAN, ForOneCase, unit=THREE, cases=3) > 8


@pytest.mark.parametrize("name", PAIRS)
def test_no_way_with_times_or_values_costs_more(name: str) -> None:
    """The pairs of the audit: times of the years 1 and 9999, thousands of events, rare values."""
    pair = PAIRS[name]
    both = (pair.smaller_cases, pair.larger_cases)
    spent = outcomes.largest_ratio(TIMED, both)
    assert 0.4 < spent <= 1 + 1e-9
    if name in ("long wait", "long work", "person with times", "rare value", "person with values"):
        assert spent > 0.95


@pytest.mark.parametrize(
    ("name", "query"), [("long wait", "gaps"), ("rare value", "attribute who")]
)
def test_a_table_of_times_or_values_without_noise_is_noticed(name: str, query: str) -> None:
    """Whichever table is given as it is."""
    both = (PAIRS[name].smaller_cases, PAIRS[name].larger_cases)
    broken = breaks(query, lambda noisy, true: true)
    assert outcomes.largest_ratio(TIMED, both, broken) > 1.2


# What all answers of a run show together.


def changes(
    mechanism: Certified, log: Secret, neighbour: Secret, session: type[Session] = Session
) -> list[tuple[float, int]]:
    """σ² of each cell of a run without noise, and by how much a neighbour changes the cell."""
    outcome = run_by_hand(mechanism, log, listed([]), session)
    again = led(mechanism, outcome, neighbour, session)
    assert again is not None
    return [
        (float(law.sigma_squared), int(change))
        for law, one, other in zip(outcome.laws, outcome.noise, again.noise, strict=True)
        for change in (one - other)
        if change and isinstance(law, DiscreteGaussian)
    ]


def pmf(sigma_squared: float, places: Ints) -> np.ndarray:
    """Discrete Gaussian probabilities; the constant is added up over all that matter."""
    reach = np.arange(-int(40 * sigma_squared**0.5) - 9, int(40 * sigma_squared**0.5) + 10)
    total = np.exp(-(reach**2) / (2 * sigma_squared)).sum()
    return np.asarray(np.exp(-(places.astype(float) ** 2) / (2 * sigma_squared)) / total)


def renyi(cells: list[tuple[float, int]], order: float) -> float:
    """The Rényi divergence of all cells: they are independent, so those of the cells add up."""
    total = 0.0
    for sigma_squared, change in cells:
        reach = int(order * abs(change) + 14 * sigma_squared**0.5) + 9
        x = np.arange(-reach, reach + 1, dtype=float)
        exponents = -(order * x**2 + (1 - order) * (x - change) ** 2) / (2 * sigma_squared)
        top = exponents.max()
        constant = np.exp(-(x**2) / (2 * sigma_squared)).sum()
        total += (top + np.log(np.exp(exponents - top).sum() / constant)) / (order - 1)
    return total


STEP = 1 / 1_000
"""Losses are rounded up to multiples of it: the divergence is an upper bound."""


def hockey_stick(cells: list[tuple[float, int]], epsilon: float) -> float:
    """max P(S) − e^ε Q(S) over all sets of answers, by convolution of the losses of all cells."""
    losses, lowest = np.ones(1), 0
    for sigma_squared, change in cells:
        reach = int(9 * sigma_squared**0.5) + abs(change)
        x = np.arange(-reach, reach + 1)
        loss = (change**2 - 2 * change * x) / (2 * sigma_squared)
        places = np.ceil(loss / STEP).astype(np.int64)
        weights = np.bincount(places - places.min(), weights=pmf(sigma_squared, x))
        losses, lowest = fftconvolve(losses, weights), lowest + int(places.min())
    found = (np.arange(len(losses)) + lowest) * STEP
    return float((np.maximum(1 - np.exp(epsilon - found), 0) * losses)[found > epsilon].sum())


@pytest.mark.parametrize(("unit", "cases"), [(ONE_CASE, 1), (THREE, 3)], ids=["case", "person"])
def test_all_answers_together_are_private(unit: Unit, cases: int) -> None:
    """Rényi divergences are at most αρ and the hockey-stick divergence is at most δ at ε.

    Both are computed by enumeration; half the noise is rejected by either.
    """
    log, more = log_of(FREQUENT, unit), {**FREQUENT, ("b", "a"): cases}
    rho, epsilon = float(GAUSSIAN.price), float(GAUSSIAN.epsilon)
    sound = changes(GAUSSIAN, log, log_of(more, unit))
    broken = changes(GAUSSIAN, log, log_of(more, unit), HalfTheNoise)
    assert len(sound) > 7
    for order in (1.5, 2.0, 5.0, 20.0):
        assert 0.95 * order * rho < renyi(sound, order) <= order * rho * (1 + 1e-9)
        assert renyi(broken, order) > 3 * order * rho
    assert DELTA / 200 < hockey_stick(sound, epsilon) <= DELTA < hockey_stick(broken, epsilon)
    # A claim that only the loose conversion of other noise would need is not made.
    assert hockey_stick(sound, epsilon * 0.7) > DELTA


def test_the_hockey_stick_of_one_cell_is_that_of_its_definition() -> None:
    """The sum over all answers of what P has more than e^ε Q."""
    for sigma_squared, change, epsilon in ((4.0, 1, 0.5), (50.0, 9, 1.0)):
        x = np.arange(-200, 201)
        p, q = pmf(sigma_squared, x), pmf(sigma_squared, x - change)
        exact = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        found = hockey_stick([(sigma_squared, change)], epsilon)
        # Both are sums of floats.
        assert exact * (1 - 1e-12) <= found <= exact * 1.02


def test_the_release_itself_is_private() -> None:
    """The exact distributions of the release for two neighbours are as close as ρ demands.

    All answers but the last are held fixed; of the last, all that are likely lead to a release
    each, and the others count as one.
    """
    mechanism = Certified(epsilon=Fraction(8), delta=DELTA, max_length=1)
    logs = [VariantCounts.of({("a",): n, (): 2}, ("a",)) for n in (3, 4)]
    start = run_by_hand(mechanism, logs[0], listed([]))
    law = start.laws[-1]
    assert isinstance(law, DiscreteGaussian) and len(start.seen[-1]) == 2
    again = run_by_hand(mechanism, logs[1], leading_to(start.seen))
    tables = [run.seen[-1] - run.noise[-1] for run in (start, again)]
    change = int(((tables[1] - tables[0]) ** 2).sum())
    rho = change / (2 * float(law.sigma_squared))
    found: list[defaultdict[object, float]] = [defaultdict(float), defaultdict(float)]
    reach = round(2.5 * float(law.sigma_squared) ** 0.5)
    for z in product(range(-reach, reach + 2), repeat=2):
        answer = tables[0] + np.array(z)
        released = run_by_hand(mechanism, logs[0], listed([*start.noise[:-1], np.array(z)]))
        key = tuple(("".join(names), count) for names, count in released.output.log.variants)
        for table, chances in zip(tables, found, strict=True):
            chances[key] += float(pmf(float(law.sigma_squared), answer - table).prod())
    for chances in found:
        chances["unlikely"] = 1 - sum(chances.values())
        assert 0 < chances["unlikely"] < 0.05
    assert len(found[0]) > 6
    for one, other in (found, found[::-1]):
        p, q = (np.array([each[key] for key in one]) for each in (one, other))
        for order in (1.5, 2.0, 5.0, 20.0):
            divergence = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
            assert divergence <= order * rho * (1 + 1e-9)
            assert divergence > 0.3 * order * rho or order == 20
        for delta in (Fraction(1, 10), Fraction(1, 1000)):
            epsilon = float(epsilon_of(Fraction(rho), delta))
            assert np.maximum(p - math.exp(epsilon) * q, 0).sum() <= delta
