"""Certificates: the price adds up, what does not hold is said, and files are read back."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from sacofa import ADMIT_NONE, Certificate, Laplace, ReadError, Sacofa, Unit, anonymize, learn_rules
from sacofa.examples import running_example

LOG = running_example()
LAPLACE = Laplace(level_epsilon="0.1", max_length=7, prune=20)
SACOFA = Sacofa(level_epsilon="1/3", max_length=7, prune_harmless=3, prune_harmful=ADMIT_NONE)


def certify(mechanism: object, **settings: object) -> Certificate:
    """The certificate of a release of the running example."""
    return anonymize(LOG, mechanism, **settings).certificate


def test_levels_add_up_exactly() -> None:
    """Seven levels at a tenth cost exactly seven tenths, and each is listed."""
    certificate = certify(LAPLACE)
    assert certificate.epsilon == Fraction(7, 10)
    assert len(certificate.spent) == 7
    assert any("price of one level" in line for line in certificate.not_promised)


def test_rules_off_the_log_have_no_finite_price() -> None:
    """The paper's way to get rules is a leak: ε is null, and a plain sentence says why."""
    certificate = certify(SACOFA)
    assert certificate.epsilon is None
    assert json.loads(certificate.to_json())["epsilon"] is None
    assert any("No finite ε" in line for line in certificate.not_promised)


def test_public_rules_make_the_price_finite() -> None:
    """With rules from elsewhere the price is k·ε, and the rules are an assumption."""
    rules = learn_rules(LOG, source="the hospital's handbook")
    public = Sacofa(
        level_epsilon="1/3", max_length=7, prune_harmless=3, prune_harmful=5, rules=rules
    )
    certificate = certify(public)
    assert certificate.epsilon == Fraction(7, 3)
    assert any("the hospital's handbook" in line for line in certificate.assumptions)


def test_the_continuous_score_costs_what_its_noise_costs() -> None:
    """The bound divides ε for the noise, and the price is that of the noise."""
    rules = learn_rules(LOG, source="the hospital's handbook")
    counted = Sacofa(
        level_epsilon=1, max_length=4, prune_harmless=3, prune_harmful=5, rules=rules,
        max_violations=4,
    )  # fmt: skip
    assert certify(counted).epsilon == 1


def test_a_person_with_several_cases_costs_several_times() -> None:
    """The papers' mechanisms do not scale their noise, so the price of a person grows."""
    person = Laplace(
        level_epsilon="0.1", max_length=7, prune=20, unit=Unit(person="patient", max_cases=3)
    )
    certificate = certify(person)
    assert certificate.epsilon == Fraction(21, 10)
    assert "patient" in certificate.protects and "3 cases" in certificate.protects


def test_what_is_public_is_said() -> None:
    """Activities from the log are an assumption; declared ones are said to be declared."""
    assert "taken from the log" in certify(LAPLACE).assumptions[0]
    assert "6 were declared" in certify(LAPLACE, activities=LOG.activities).assumptions[0]


def test_a_seeded_release_says_that_it_must_not_be_published() -> None:
    """A seed makes noise repeatable, so nothing is promised."""
    certificate = certify(LAPLACE, seed=1)
    assert not certificate.publishable
    assert any("must not be published" in line for line in certificate.not_promised)
    assert certify(LAPLACE).publishable


@pytest.mark.parametrize("mechanism", [LAPLACE, SACOFA], ids=["laplace", "sacofa"])
def test_json_round_trip(mechanism: object) -> None:
    """What is written is read back, and written again the same."""
    certificate = certify(mechanism)
    again = Certificate.from_json(certificate.to_json())
    assert again.epsilon == certificate.epsilon
    assert again.to_json() == certificate.to_json()


def test_a_certificate_whose_sums_are_wrong_is_refused() -> None:
    """The looks must add up to the stated ε; a changed one does not."""
    content = json.loads(certify(LAPLACE).to_json())
    content["spent"].pop()
    with pytest.raises(ReadError, match="add up"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": 3}', "\x00", "[" * 9999])
def test_what_is_no_certificate_is_refused(text: str) -> None:
    """Damaged certificates are one of our errors."""
    with pytest.raises(ReadError):
        Certificate.from_json(text)
