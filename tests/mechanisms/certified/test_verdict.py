"""How sure a release is: said before and after, and as often right as is said."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from sacofa import Cases, Certified, Noise
from sacofa.mechanisms import perform
from sacofa.mechanisms.certified.verdict import (
    Sureness,
    foresee,
    judge,
)
from sacofa.privacy.bits import SeededBits
from sacofa.queries.flow import VOTE_UNITS

from .mixture import MAX_LENGTH, log_of

LOG = log_of([300, 120, 40, 80, 25, 0, 10])
# 575 cases at ε = 1 are few enough for the size to be asked again.
MECHANISM = Certified(epsilon=1, max_length=MAX_LENGTH, max_candidates=30)


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
    hopeless = foresee(Certified(epsilon=Fraction(1, 10)), activities=300, cases=1)
    assert hopeless.epsilon_needed > 1_000 and "ε =" not in str(hopeless).split(":")[1]
    assert "noise hides all" in str(hopeless) and "%" not in str(hopeless)
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


def test_a_run_is_judged_by_its_answers() -> None:
    """A large log is reliable, an empty one not; both from noisy numbers alone."""
    for times, sure in ((100, True), (0, False)):
        log = log_of([times * n for n in (300, 120, 40, 80, 25, 0, 10)])
        released = perform(MECHANISM, Cases(variants=log), Noise(SeededBits(4))).variants
        verdict = judge(MECHANISM, released.cases, released)
        assert (verdict.sureness is Sureness.RELIABLE) == sure
