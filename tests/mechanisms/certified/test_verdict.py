"""How sure a release is: said before and after, and as often right as is said."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sacofa import Cases, Certified, Noise, Outcome
from sacofa.mechanisms import perform
from sacofa.mechanisms.certified.verdict import (
    Sureness,
    activity_ranges,
    count_ranges,
    foresee,
    judge,
    step_ranges,
)
from sacofa.privacy.bits import SeededBits
from sacofa.queries.flow import VOTE_UNITS

from .mixture import MAX_LENGTH, log_of

LOG = log_of([300, 120, 40, 80, 25, 0, 10])
# 575 cases at ε = 1 are few enough for the size to be asked again.
MECHANISM = Certified(epsilon=1, max_length=MAX_LENGTH, max_candidates=30)
RUNS = 200


def test_a_log_that_is_too_small_is_told_before_anything_is_spent() -> None:
    """20 cases at ε = 0.1 are hopeless; a hundred thousand at 1 are not; more never hurts."""
    poor = foresee(Certified(epsilon=Fraction(1, 10)), activities=29, cases=20)
    assert poor.sureness is Sureness.TOO_SMALL and "too small" in str(poor)
    rich = foresee(Certified(epsilon=1), activities=29, cases=100_000)
    assert rich.sureness is Sureness.RELIABLE
    enough = foresee(Certified(epsilon=Fraction(1, 10)), activities=29, cases=poor.cases_needed)
    assert enough.sureness is Sureness.RELIABLE
    dear = foresee(Certified(epsilon=poor.epsilon_needed), activities=29, cases=20)
    assert dear.sureness is Sureness.RELIABLE
    noise = [foresee(MECHANISM, activities=20, cases=n).noise for n in (10, 100, 1_000, 10_000)]
    assert all(less > more for less, more in pairwise(noise))


@pytest.mark.parametrize("times", [1, 20])
def test_what_is_foreseen_is_the_noise_of_the_votes_that_are_asked(times: int) -> None:
    """A log that is tiny for its ε leaves more to votes for steps, and the verdict knows."""
    mechanism = Certified(epsilon=Fraction(times, 5), time=False)
    log = log_of([30, 12, 4, 8, 2, 0, 1])
    outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(1)))
    [steps] = [answer for answer in outcome.answers if answer.query.name == "steps"]
    number = len(log.activities)
    verdict = foresee(mechanism, activities=number, cases=log.cases)
    noise_of_all = 3 * number / float(2 * steps.epsilon * VOTE_UNITS)
    assert verdict.noise == pytest.approx(noise_of_all / log.cases)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Many runs on one log."""
    return [
        perform(MECHANISM, Cases(variants=LOG), Noise(SeededBits(seed))) for seed in range(RUNS)
    ]


def inside(outcome: Outcome, times: float) -> dict[str, list[bool]]:
    """Which truths lie within so many times their range, by the kind of range."""
    tables = {
        answer.query.name: answer.query.table(  # type: ignore[union-attr]
            LOG.project_onto(answer.activities).truncate(MAX_LENGTH)
        )
        for answer in outcome.answers
        if answer.query.name in ("activities", "steps", "final")
    }
    parts = {name: table / VOTE_UNITS / LOG.cases for name, table in tables.items()}
    assert outcome.within is not None and outcome.within.cases is not None
    return {
        "size": [abs(LOG.cases - outcome.variants.cases) <= times * outcome.within.cases],
        "steps": [
            abs(r.share - true) <= times * r.within
            for r, true in zip(step_ranges(outcome.answers), parts["steps"], strict=True)
        ],
        "activities": [
            abs(r.share - true) <= times * r.within
            for r, true in zip(
                activity_ranges(outcome.answers), parts["activities"][:-1], strict=True
            )
        ],
        "counts": [
            abs(r.count - true) <= times * r.within
            for r, true in zip(count_ranges(outcome.answers), tables["final"], strict=True)
        ],
    }


@pytest.mark.parametrize("kind", ["size", "steps", "activities", "counts"])
def test_ranges_hold_in_95_of_100_runs(outcomes: list[Outcome], kind: str) -> None:
    """What is true lies in the range as often as is said; in half the range it does not."""
    whole, half = (
        float(np.mean([hit for outcome in outcomes for hit in inside(outcome, times)[kind]]))
        for times in (1.0, 0.5)
    )
    # 200 sizes are few: three standard deviations below 95 in 100.
    assert whole > (0.90 if kind == "size" else 0.935)
    # Half a range holds 1 − √0.05 of Laplace noise: 78 of 100.
    assert kind == "size" or half < 0.9


def test_a_run_is_judged_by_its_answers() -> None:
    """A large log is reliable, an empty one not; both from noisy numbers alone."""
    for times, sure in ((100, True), (0, False)):
        log = log_of([times * n for n in (300, 120, 40, 80, 25, 0, 10)])
        released = perform(MECHANISM, Cases(variants=log), Noise(SeededBits(4))).variants
        verdict = judge(MECHANISM, released.cases, released)
        assert (verdict.sureness is Sureness.RELIABLE) == sure
