"""What a release is good for: predicted before and after, as wrong as is predicted."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sacofa import Certified, VariantCounts
from sacofa.base.domains import Categories
from sacofa.evaluate.measures.flow import activity_error
from sacofa.kernel import Cases, Noise
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.mechanisms import Outcome, perform
from sacofa.mechanisms.certified.verdict import RELIABLE, foresee, judge
from sacofa.synthesis.verdict import Cause, Sureness, Verdict

from .mixture import MAX_LENGTH, log_of

# 575 cases at ε = 1 are few enough for the size to be asked again.
MECHANISM = Certified(epsilon=1, max_length=MAX_LENGTH, max_candidates=30)


def release(mechanism: Certified, log: VariantCounts, seed: int) -> Outcome:
    """One run with a seed."""
    return perform(mechanism, Cases(variants=log), Noise(SeededBits(seed)))


def judged(outcome: Outcome, mechanism: Certified, released: VariantCounts) -> Verdict:
    """The verdict on other cases than those that were released."""
    return judge(mechanism, outcome.answers, released.cases, released)


def test_a_log_that_is_too_small_is_told_before_anything_is_spent() -> None:
    """20 cases at ε = 0.1 are hopeless; a hundred thousand at 1 are not; more never hurts."""
    poor = foresee(Certified(epsilon=Fraction(1, 10)), activities=29, cases=20)
    assert poor.sureness is Sureness.UNRELIABLE and poor.causes == (Cause.NOISE,)
    rich = foresee(Certified(epsilon=1), activities=29, cases=100_000)
    assert rich.sureness is Sureness.RELIABLE and not rich.causes
    enough = foresee(Certified(epsilon=Fraction(1, 10)), activities=29, cases=poor.cases_needed)
    assert enough.sureness is Sureness.RELIABLE
    dear = foresee(Certified(epsilon=poor.epsilon_needed), activities=29, cases=20)
    assert dear.sureness is Sureness.RELIABLE
    hopeless = foresee(Certified(epsilon=Fraction(1, 10)), activities=300, cases=1)
    assert hopeless.epsilon_needed > 1_000 and "ε =" not in str(hopeless)
    assert "edges 100%" in str(hopeless)
    errors = [foresee(MECHANISM, activities=20, cases=n).errors for n in (10, 100, 1_000, 10_000)]
    assert all(less.edges > more.edges for less, more in pairwise(errors))


@pytest.mark.parametrize("times", [1, 20])
def test_what_is_foreseen_is_the_noise_of_the_votes_that_are_asked(times: int) -> None:
    """A log that is tiny for its ε leaves more to votes for steps, and the verdict knows."""
    mechanism = Certified(epsilon=Fraction(times, 5), time=False)
    log = log_of([30, 12, 4, 8, 2, 0, 1])
    outcome = release(mechanism, log, 1)
    [steps] = [answer for answer in outcome.answers if answer.query.name == "steps"]
    number = len(log.activities)
    verdict = foresee(mechanism, activities=number, cases=log.cases)
    noise_of_all = 3 * number / float(2 * steps.epsilon * VOTE_UNITS)
    assert verdict.errors.edges == pytest.approx(noise_of_all / log.cases, abs=1e-4)


def test_attributes_are_foreseen_too() -> None:
    """The more values an attribute has, the more of them are off."""
    made = [
        Attribute(name="x", of_case=True, domain=Categories(names=tuple(map(str, range(n)))))
        for n in (2, 400)
    ]
    few, many = (
        foresee(Certified(epsilon=1, attributes=(one,)), activities=5, cases=3_000) for one in made
    )
    assert few.sureness is Sureness.RELIABLE and many.sureness is not Sureness.RELIABLE
    assert few.errors.attributes is not None and many.errors.attributes is not None
    assert few.errors.attributes < RELIABLE.attributes < many.errors.attributes  # type: ignore[operator]


def test_a_run_is_judged_by_its_answers() -> None:
    """A large log is reliable, an empty one not; both from noisy numbers alone."""
    for times, sure in ((100, True), (0, False)):
        log = log_of([times * n for n in (300, 120, 40, 80, 25, 0, 10)])
        verdict = release(MECHANISM, log, 4).output.verdict
        assert verdict is not None
        assert (verdict.sureness is Sureness.RELIABLE) == sure


def test_cases_that_disagree_with_the_answers_are_not_reliable() -> None:
    """The number of cases and ε are the same: only what was made of the answers is worse."""
    log = log_of([30_000, 12_000, 4_000, 8_000, 2_500, 0, 1_000])
    outcome = release(MECHANISM, log, 4)
    shuffled = VariantCounts.from_arrays(
        log.activities,
        np.concatenate([ids[::-1] for ids in map(np.array, outcome.log.variants.sequences())]),
        outcome.log.variants.lengths,
        outcome.log.variants.counts,
    )
    wrong = judged(outcome, MECHANISM, shuffled)
    assert wrong.sureness is Sureness.UNRELIABLE and wrong.causes == (Cause.MODEL,)
    assert wrong.errors.edges > 0.5 and "larger ε may not help" in str(wrong)


def test_a_lost_activity_and_a_wrong_length_are_seen() -> None:
    """Half of the activities, and cases half as long."""
    log = log_of([30_000, 12_000, 4_000, 8_000, 2_500, 0, 1_000])
    # The length is left to be asked for.
    mechanism = Certified(epsilon=1, max_candidates=30)
    outcome = release(mechanism, log, 4)
    names = log.activities
    less = outcome.log.variants.project_onto(names[: len(names) // 2]).project_onto(names)
    right, wrong = (judged(outcome, mechanism, cases) for cases in (outcome.log.variants, less))
    assert right.sureness is Sureness.RELIABLE and wrong.sureness is not Sureness.RELIABLE
    assert wrong.errors.activities > 0.1 > RELIABLE.activities > right.errors.activities
    assert wrong.errors.lengths is not None and right.errors.lengths is not None
    assert wrong.errors.lengths > 0.3 > right.errors.lengths


def test_parallel_branches_come_out_right_or_are_not_called_reliable() -> None:
    """Each case has all activities of three blocks that run side by side.

    If one of six events is missing, as in samples of a chain, the verdict notices.
    """
    draw = np.random.default_rng(5)
    blocks = [[f"{block}{i}" for i in range(6)] for block in "abc"]
    cases = []
    for _ in range(8_000):
        order = draw.permutation(np.repeat(np.arange(3), 6)).tolist()
        left = [iter(block) for block in blocks]
        cases.append(["start", *(next(left[block]) for block in order), "end"])
    log = VariantCounts.from_cases(cases)
    mechanism = Certified(epsilon=3, time=False)
    outcome = release(mechanism, log, 1)
    right = outcome.output.verdict
    assert right is not None and right.sureness is Sureness.RELIABLE
    assert activity_error(log, outcome.log.variants) < 0.015
    lossy = [[name for name in case if draw.random() > 1 / 6] for case in cases]
    released = VariantCounts.from_cases(lossy).project_onto(log.activities)
    wrong = judged(outcome, mechanism, released)
    assert wrong.sureness is not Sureness.RELIABLE and Cause.MODEL in wrong.causes


def test_a_verdict_is_kept_as_values() -> None:
    """What a certificate stores is read as it was; anything else is refused."""
    for verdict in (
        foresee(MECHANISM, activities=20, cases=50),
        foresee(MECHANISM, activities=5, cases=90_000),
    ):
        content = verdict.to_content()
        assert Verdict.from_content(content) == verdict
        for name, value in (
            ("sureness", "good"), ("causes", ["luck"]), ("cases_needed", "9"),
            ("epsilon_needed", "1e9"), ("errors", {"speed": 1.0}),
        ):  # fmt: skip
            with pytest.raises((ValueError, TypeError)):
                Verdict.from_content({**content, name: value})
