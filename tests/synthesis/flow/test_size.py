"""The number of cases is told by every answer that each case is in."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import numpy as np
import pytest

from sacofa.base.distance import nearest
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import CaseCount, CaseLengths, NearestCandidate, StepVotes
from sacofa.kernel.queries.protocol import Answer, Query
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Certified
from sacofa.mechanisms.protocol import Outcome, perform
from sacofa.synthesis.flow.answers import cases_margin, count_cases

LOG = VariantCounts.of({("a", "b"): 400, ("a",): 150, ("a", "c", "b"): 250})
RUNS = 60


def answer(query: Query, values: list[int], epsilon: Fraction) -> Answer:
    """An answer as a session gives it."""
    return Answer(
        query=query,
        values=np.array(values),
        noise=DiscreteLaplace(epsilon),
        max_length=None,
        activities=("a",),
    )


def test_each_answer_counts_by_how_exact_it_is() -> None:
    """More cells have more noise; votes are thousandths of a case; steps lose remainders."""
    size = answer(CaseCount(), [100], Fraction(1, 2))
    assert count_cases([size]) == (100, Fraction(8))
    votes = answer(NearestCandidate("final", ((0,), ()), nearest), [90, 70], Fraction(1, 2))
    assert count_cases([size, votes]) == (120, Fraction(16, 3))
    lengths = answer(CaseLengths((1, 2)), [90_000, 70_000], Fraction(1, 2_000))
    assert count_cases([size, lengths]) == (120, Fraction(16, 3))
    steps = answer(StepVotes(1), [9] * 4, Fraction(1))
    assert count_cases([size, steps]) == count_cases([size])
    assert count_cases([answer(CaseCount(), [-5], Fraction(1))])[0] == 1


def test_one_answer_has_the_range_of_its_noise() -> None:
    """Laplace noise stays within ln 20 of its scales in 95 of 100 draws."""
    _, variance = count_cases([answer(CaseCount(), [100], Fraction(1, 2))])
    assert cases_margin(variance) == np.ceil(2 * np.log(20))


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Runs with short lists, whose sums have little noise."""
    mechanism = Certified(epsilon=Fraction(1, 10), min_candidates=6)
    return [
        perform(mechanism, Cases(variants=LOG), Noise(SeededBits(seed))) for seed in range(RUNS)
    ]


def test_a_release_is_nearer_to_the_number_of_cases_than_the_answers_about_it(
    outcomes: list[Outcome],
) -> None:
    """What it holds is what all answers say."""
    alone, released = [], []
    for outcome in outcomes:
        sizes = [a for a in outcome.answers if isinstance(a.query, CaseCount)]
        alone.append(abs(count_cases(sizes)[0] - LOG.cases))
        released.append(abs(outcome.log.variants.cases - LOG.cases))
        assert outcome.log.variants.cases == count_cases(outcome.answers)[0]
    assert fmean(released) < 0.9 * fmean(alone)
