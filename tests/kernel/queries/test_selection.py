"""Variants that are published individually under (ε, δ): what is shown hides every unit.

All that the histogram shows of tiny logs, with exact probabilities: the production code is run once
for every value that its noise can have. At ε, the divergence of neighbours is at most δ.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sacofa.kernel.accounting import ZCDP, Spend
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import Law
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.histogram import AllSequences, Histogram
from sacofa.kernel.queries.protocol import SparseQuery
from sacofa.kernel.session import Opened, Session
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.rules.allowed import all_sequences

from .forked import chances_of, hockey_stick

BUDGET = ZCDP(Fraction(1, 2), Fraction(1, 50), Fraction(1, 100))
WORDS = all_sequences(("a", "b"), 1)
Counts = dict[tuple[str, ...], int]
PAIRS: list[tuple[Counts, Counts, int]] = [
    ({}, {("a",): 1}, 1),
    ({("a",): 12}, {("a",): 13}, 1),
    ({("a",): 12}, {("a",): 12, ("b",): 1}, 1),
    ({}, {("a",): 2}, 2),
    ({}, {("a",): 1, ("b",): 1}, 2),
    ({("a",): 22}, {("a",): 24}, 2),
    ({("a",): 22}, {("a",): 23, ("b",): 1}, 2),
]


class ForOneCase(Session):
    """Noise and threshold for one case, whatever the unit is."""

    def open(self, query: SparseQuery, epsilon: Fraction, line: str) -> Opened:
        """As if no person had several cases."""
        self.unit = ONE_CASE
        return super().open(query, epsilon, line)


class HalfTheNoise(Session):
    """σ/2."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        """Four times what was paid for."""
        return super().noise_on(sensitivity, 4 * epsilon)


class LowThreshold(Session):
    """Shows counts six below the threshold."""

    def open(self, query: SparseQuery, epsilon: Fraction, line: str) -> Opened:
        """Lower it."""
        opened = super().open(query, epsilon, line)
        return replace(opened, threshold=(opened.threshold or 0) - 6)


class ThresholdForOneCase(Session):
    """The noise for all cases of a person, with the threshold of a single case."""

    def open(self, query: SparseQuery, epsilon: Fraction, line: str) -> Opened:
        """As low as one case needs."""
        one = self.budget.law(1, epsilon)
        opened = super().open(query, epsilon, line)
        return replace(opened, threshold=1 + one.threshold(self.budget.selection))


def divergence(session: type[Session], less: Counts, more: Counts, max_cases: int) -> float:
    """The divergence of a pair at ε; what is not followed counts against the claim."""
    unit = Unit(person="patient", max_cases=max_cases) if max_cases > 1 else ONE_CASE
    promised = (Spend(what="everything", amount=BUDGET.amount, line="all"),)
    chances = []
    for counts in (less, more):
        cases = Cases(variants=VariantCounts.of(counts, ("a", "b"), unit=unit))

        def run(noise: Noise, cases: Cases = cases) -> tuple[object, ...]:
            asked = session(cases, promised, noise, BUDGET)
            shown = Histogram(asked.open(AllSequences(), BUDGET.amount, "all")).show(WORDS, 1)
            return tuple(shown.items())

        chances.append(chances_of(run, 1e-12))
    return hockey_stick(*chances, float(BUDGET.epsilon))


@pytest.mark.parametrize(("less", "more", "max_cases"), PAIRS, ids=str)
def test_what_is_shown_of_variants_is_private(less: Counts, more: Counts, max_cases: int) -> None:
    """New variants of a case or a person, and counts near the threshold, at most δ of each."""
    assert divergence(Session, less, more, max_cases) <= BUDGET.delta


def test_a_new_variant_is_shown_with_the_part_of_delta_for_it() -> None:
    """The threshold is not so high that it never happens."""
    assert divergence(Session, *PAIRS[0]) > BUDGET.selection / 20


@pytest.mark.parametrize(
    ("broken", "pair"),
    [
        (ForOneCase, PAIRS[5]),
        (HalfTheNoise, PAIRS[1]),
        (LowThreshold, PAIRS[0]),
        (LowThreshold, PAIRS[2]),
        (ThresholdForOneCase, PAIRS[4]),
    ],
)
def test_a_broken_session_is_noticed(
    broken: type[Session], pair: tuple[Counts, Counts, int]
) -> None:
    """Too little noise, and too low a threshold for a case or a person, exceed δ."""
    assert divergence(broken, *pair) > BUDGET.delta
