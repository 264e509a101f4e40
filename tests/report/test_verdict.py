"""The verdict says who is protected, how strongly, and what is not, in one sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from sacofa.kernel.accounting import Spend
from sacofa.kernel.statements import Statement
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.release import Release
from sacofa.report import make_report
from sacofa.report.promise import LIMITS, STRENGTHS, explain_epsilon, list_checks, say_verdict
from sacofa.synthesis.verdict import Cause, PredictedErrors, Sureness, Verdict

from .releases import hospital, leaking, of, timed

WORDS = [str(Statement(f"strength.{name}")) for name in STRENGTHS]
ONE = VariantCounts.of({("a", "b"): 5})


@pytest.mark.parametrize(("number", "limit"), list(enumerate(LIMITS)))
def test_words_of_strength_change_at_their_limits(number: int, limit: str) -> None:
    """Verdict and explanation use one scale."""
    at, above = Fraction(limit), Fraction(limit) + Fraction(1, 1000)
    assert explain_epsilon(at).strength == WORDS[number]
    assert explain_epsilon(above).strength == WORDS[number + 1]
    assert WORDS[number + 1] in say_verdict(of(ONE, Spend(what="x", amount=above)))


def judged(sureness: Sureness, missing: tuple[str, ...] = ()) -> Release:
    """A release with a verdict."""
    verdict = Verdict(
        sureness=sureness,
        errors=PredictedErrors(edges=0.2, activities=0.04),
        causes=() if sureness is Sureness.RELIABLE else (Cause.NOISE, Cause.MODEL),
        cases_needed=9_000,
        epsilon_needed=Fraction(2),
    )
    release = of(ONE)
    certificate = replace(release.certificate, verdict=verdict, missing_activities=missing)
    return replace(release, certificate=certificate)


@pytest.mark.parametrize("sureness", Sureness)
def test_how_sure_figures_are_is_a_word_that_is_seen(sureness: Sureness) -> None:
    """It stands beside the strength, in a colour of its own."""
    release = judged(sureness)
    page = make_report(release, title="T")
    errors = "expected errors: directly-follows edges 20%, activity shares 4%"
    word = rf'<span class="strength s\d">{sureness.value}</span> \({errors}\)'
    assert re.search(word, page)


def test_it_is_one_sentence_that_names_what_is_not_protected() -> None:
    """Names and times."""
    verdict = say_verdict(of(ONE))
    assert verdict.startswith("Every case is protected")
    assert verdict.count(".") == 1
    assert "names of the activities are not protected" in verdict
    assert "times are artificial" in verdict
    assert "as exact as their noise" in say_verdict(timed())


def test_persons_are_named_and_their_checks_differ() -> None:
    """Whoever protects persons need not ask whether they have several cases."""
    release = of(ONE)
    unit = Unit(person="patient", max_cases=3)
    person = replace(release, certificate=replace(release.certificate, unit=unit))
    assert say_verdict(person).startswith("Every person with at most 3 cases is protected")
    assert any("one case only" in str(what) for what, _ in list_checks(release))
    assert any("patient" in str(what) for what, _ in list_checks(person))


def test_where_nothing_is_promised_nothing_is_called_protected() -> None:
    """Neither a leak nor a seed."""
    for release in (leaking(), hospital(seed=1)):
        assert "is protected" not in say_verdict(release)


def test_unsure_figures_are_something_to_check() -> None:
    """Sure ones are not."""
    sure, rough = judged(Sureness.RELIABLE), judged(Sureness.ROUGH)
    assert len(list_checks(rough)) == len(list_checks(sure)) + 1


def test_missing_activities_are_something_to_check() -> None:
    """They are named."""
    release = judged(Sureness.RELIABLE, ("Admission", "Leave"))
    assert "public activities: Admission, Leave." in str(list_checks(release)[-1][1])
    assert "Admission, Leave" in make_report(release, title="T")
