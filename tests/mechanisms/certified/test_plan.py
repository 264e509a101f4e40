"""What a release costs and buys, told before any log is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sacofa.base.domains import YesNo
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import perform
from sacofa.mechanisms.certified import Certified, plan

COLUMNS = tuple(Attribute(name=name, of_case=True, domain=YesNo()) for name in "xyz")


@pytest.mark.parametrize("max_length", [None, 10])
@pytest.mark.parametrize("cases", [None, 100, 1_000_000])
def test_a_plan_adds_up(max_length: int | None, cases: int | None) -> None:
    """The shares of a plan add up to ε exactly, and it tells when frequent variants are shown."""
    made = plan(epsilon="1/3", activities=27, max_length=max_length, cases=cases)
    assert sum(share.epsilon for share in made.shares) == Fraction(1, 3)
    if max_length is None or cases is None:
        assert made.large is None
    else:
        assert made.large == (cases > 100)
        assert any(share.what.code == "plan.share.frequent" for share in made.shares) == made.large
    moves = any(line.code == "plan.line.moves" for line in made.lines())
    assert moves == any(share.what.code == "plan.share.length" for share in made.shares)
    # Of a tiny log no lengths are asked.
    assert moves == (max_length is None and cases != 100)
    doubled = plan(epsilon="2/3", activities=27, max_length=max_length, cases=cases)
    assert doubled.candidate_from <= made.candidate_from


@pytest.mark.parametrize("activities", [27, 300])
def test_a_plan_says_what_an_audit_is_told(activities: int) -> None:
    """Any variant is shown from the same number of cases on; for many activities less is paid."""
    made = plan(epsilon=1, activities=activities, max_length=10, cases=1_000_000)
    assert sum(share.epsilon for share in made.shares) == 1
    mechanism = Certified(epsilon=1, max_length=10, time=False)
    assert made.frequent_from == mechanism.shown_from(ONE_CASE, activities)
    [frequent] = [share for share in made.shares if share.what.code == "plan.share.frequent"]
    assert frequent.epsilon == Fraction(18 if activities == 27 else 10, 100)


def test_a_plan_tells_when_frequent_variants_are_shown() -> None:
    """A run on a log of the size that the plan names shows frequent variants, a smaller not."""
    made = plan(epsilon=1, activities=4, max_length=5)
    assert made.large_from is not None
    for cases, large in ((2 * made.large_from, True), (made.large_from // 2, False)):
        log = VariantCounts.of({tuple("abcd"): cases}, tuple("abcd"))
        mechanism = Certified(epsilon=Fraction(1), max_length=5)
        notes = perform(mechanism, Cases(variants=log), Noise(SeededBits(1))).output.notes
        assert any(note.code == "note.frequent" for note in notes) == large


def test_persons_need_larger_counts() -> None:
    """Noise for five cases of a person makes everything about five times as rough."""
    one = plan(epsilon=1, activities=9, max_length=10, cases=10**5)
    five = plan(
        epsilon=1, activities=9, max_length=10, cases=10**5, unit=Unit(person="p", max_cases=5)
    )
    assert one.epsilon == five.epsilon == sum(share.epsilon for share in five.shares)
    for a, b in zip(one.shares, five.shares, strict=True):
        assert float(b.noise / a.noise) == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize(
    ("guesses", "recommended"),
    [
        ({"length": 5}, False),
        ({"length": 40}, True),
        # A case that is cut after six events has no more pairs.
        ({"max_length": 6}, False),
        # Everything gets a smaller share, and noise goes with 1 over the root of it.
        ({"length": 5, "time": True, "attributes": COLUMNS}, True),
    ],
)
@pytest.mark.parametrize("delta", [0, "1e-8"])
def test_a_plan_recommends_the_budget_with_less_noise(
    guesses: dict[str, Any], recommended: bool, delta: str
) -> None:
    made = plan(epsilon=1, activities=12, delta=delta, **guesses)
    assert made.delta == Fraction(delta)
    assert made.budgets.delta == (made.delta or Fraction(1, 10**6))
    assert made.budgets.recommended == recommended
    assert (made.budgets.attributes is not None) == ("attributes" in guesses)
    told = {line.code for line in made.lines()} & {"plan.line.delta", "plan.line.pure"}
    assert bool(told) == (recommended != bool(made.delta))


def test_a_plan_with_delta_adds_up_to_the_amount_of_its_budget() -> None:
    made = plan(epsilon=1, delta="1e-6", activities=12, cases=2_000, time=True, attributes=COLUMNS)
    budget = Certified(epsilon=1, delta="1e-6").budget
    assert sum(share.epsilon for share in made.shares) == budget.amount
    # Any variant that enough cases have is published, whatever the length of cases is.
    assert made.frequent_from is not None and 20 < made.frequent_from < 200
    assert made.verdict is not None
    long = plan(epsilon=1, delta="1e-6", activities=12, cases=2_000, length=40).verdict
    short = plan(epsilon=1, delta="1e-6", activities=12, cases=2_000, length=5).verdict
    assert long is not None and short is not None
    assert long.errors.edges < short.errors.edges
