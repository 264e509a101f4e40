"""What a release costs and buys, told before any log is read."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import perform
from sacofa.mechanisms.certified import Certified, plan


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
