"""Certificates: the price adds up, what does not hold is said, and files are read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa import (
    Certificate,
    Certified,
    Laplace,
    Rules,
    Sacofa,
    Unit,
    anonymize,
    learn_rules,
    read_rules,
    write_rules,
)
from sacofa.errors import ReadError, SettingError, Statement
from sacofa.examples import running_example
from sacofa.kernel import ONE_CASE, Session, Spend
from sacofa.kernel.accounting import total_epsilon
from sacofa.kernel.attributes import Attribute
from sacofa.mechanisms import ADMIT_NONE, Mechanism, Output, Promise
from sacofa.mechanisms.certified.budget import Shares
from sacofa.mechanisms.registry import MECHANISMS
from sacofa.mechanisms.settings import all_settings
from sacofa.release.anonymize import certify_request
from sacofa.rules import FromSecretLog, Semantics, scorer_of

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
    levels = {"epsilon": Fraction(1, 10), "levels": 7, "total": Fraction(7, 10)}
    assert Statement("limit.per_level", **levels) in certificate.not_promised


def test_rules_off_the_log_have_no_finite_price() -> None:
    """The paper's way to get rules is a leak: ε is null, and a plain sentence says why."""
    certificate = certify(SACOFA)
    assert certificate.epsilon is None
    assert json.loads(certificate.to_json())["epsilon"] is None
    assert any(line.code == "limit.rules_leak" for line in certificate.not_promised)


def test_public_rules_make_the_price_finite() -> None:
    """With rules from elsewhere the price is k·ε, and the rules are an assumption."""
    rules = learn_rules(LOG, source="the hospital's handbook")
    public = Sacofa(
        level_epsilon="1/3", max_length=7, prune_harmless=3, prune_harmful=5, rules=rules
    )
    certificate = certify(public)
    assert certificate.epsilon == Fraction(7, 3)
    assert any("the hospital's handbook" in str(line) for line in certificate.assumptions)


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
    persons = replace(LOG, unit=Unit(person="patient", max_cases=3))
    certificate = anonymize(persons, LAPLACE).certificate
    assert certificate.epsilon == Fraction(21, 10)
    assert certificate.unit == persons.unit
    assert certificate.protects.values == {"person": "patient", "max_cases": 3}


def test_the_unit_comes_with_the_cases() -> None:
    """Nobody can certify persons for a log that was not bounded to them: there is no such setting.

    The unit of a certificate is that of the cases; what makes a case a person's is an assumption.
    """
    with pytest.raises(TypeError):
        Certified(epsilon=1, unit=Unit(person="patient", max_cases=2))  # type: ignore[call-arg]
    assert certify(Certified(epsilon=1)).unit == ONE_CASE
    persons = replace(LOG, unit=Unit(person="patient", max_cases=2))
    certificate = anonymize(persons, Certified(epsilon=1)).certificate
    assert certificate.unit == persons.unit
    assert certificate.protects == Statement("unit.person", person="patient", max_cases=2)
    assert Statement("assumption.person", column="patient") in certificate.assumptions


def test_a_certificate_says_what_neighbours_are() -> None:
    """Adding or removing a unit; two courses of one case differ by twice ε."""
    content = json.loads(certify(Certified(epsilon="1/2")).to_json())
    assert "adding or removing one case" in content["neighbours"]
    assert "e^0.5" in content["guarantee"] and "e^1." in content["guarantee"]
    assert "cryptographic" in content["guarantee"]


@pytest.mark.parametrize(
    "mechanism", [Certified(epsilon=1), LAPLACE, SACOFA], ids=["certified", "laplace", "sacofa"]
)
def test_what_was_charged_is_what_was_promised(mechanism: Mechanism) -> None:
    """The queries of the certificate add up to the lines of the promise."""
    promised = mechanism.for_log(timed=False).promise(ONE_CASE).accesses
    spent = anonymize(LOG, mechanism).certificate.spent
    assert total_epsilon(spent) == total_epsilon(promised)
    assert {access.line for access in spent} == {access.line for access in promised}


def test_rules_read_off_a_secret_log_are_refused(tmp_path: Path) -> None:
    """Also where they went through a file; a person who makes them their own says so in it."""
    path = tmp_path / "rules.toml"
    write_rules(learn_rules(LOG, FromSecretLog("hospital.xes")), path)
    for rules in (learn_rules(LOG), read_rules(path)):
        with pytest.raises(SettingError, match="public"):
            Certified(epsilon=1, rules=rules)
        leaky = Sacofa(level_epsilon=1, max_length=3, prune=3, rules=rules)
        assert anonymize(LOG, leaky).certificate.epsilon is None
    own = path.read_text().replace('read_off_secret_log = "hospital.xes"\n', "")
    path.write_text(own)
    Certified(epsilon=1, rules=read_rules(path))


def test_what_is_public_is_said() -> None:
    """Activities from the log are an assumption; declared ones are said to be declared."""
    assert certify(LAPLACE).assumptions[0].code == "assumption.activities_from_log"
    declared = certify(LAPLACE, activities=LOG.activities).assumptions[0]
    assert declared == Statement("assumption.activities_declared", number=6)


def test_a_seeded_release_says_that_it_must_not_be_published() -> None:
    """A seed makes noise repeatable, so nothing is promised."""
    certificate = certify(LAPLACE, seed=1)
    assert not certificate.publishable
    assert Statement("limit.seeded") in certificate.not_promised
    assert certify(LAPLACE).publishable


@pytest.mark.parametrize("mechanism", [LAPLACE, SACOFA], ids=["laplace", "sacofa"])
def test_json_round_trip(mechanism: object) -> None:
    """What is written is read back, and written again the same."""
    certificate = certify(mechanism)
    again = Certificate.from_json(certificate.to_json())
    assert again.epsilon == certificate.epsilon
    assert again.to_json() == certificate.to_json()


def test_a_certificate_whose_sums_are_wrong_is_refused() -> None:
    """The queries must add up to the stated ε; a changed one does not."""
    content = json.loads(certify(LAPLACE).to_json())
    content["spent"].pop()
    with pytest.raises(ReadError, match="add up"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": 3}', "\x00", "[" * 9999])
def test_what_is_no_certificate_is_refused(text: str) -> None:
    """Damaged certificates are one of our errors."""
    with pytest.raises(ReadError):
        Certificate.from_json(text)


@given(st.fractions(min_value="1e-9", max_value=1000, max_denominator=10**12))
def test_epsilon_is_never_rounded_down(epsilon: Fraction) -> None:
    """The number for people is at least the exact ε, and the next one below would not be."""
    plain = certify_plain(LAPLACE)
    spent = (replace(plain.spent[0], amount=epsilon),)
    content = json.loads(replace(plain, spent=spent).to_json())
    for said in (content, content["spent"][0]):
        number = said["epsilon"]
        assert Fraction(said["epsilon_exact"]) == epsilon <= Fraction(number)
        assert Fraction(float(np.nextafter(number, 0))) < epsilon


def certify_plain(mechanism: Mechanism) -> Certificate:
    """A certificate with the settings of a mechanism."""
    return replace(certify_request(LAPLACE, ONE_CASE), settings=all_settings(mechanism))


def odd_scorer(rules: Rules) -> Semantics:
    """Another score function."""
    return scorer_of(rules)


RULES = learn_rules(LOG, source="the hospital's handbook")
USUAL: dict[str, dict[str, object]] = {
    "certified": {"epsilon": 1},
    "laplace": {"level_epsilon": "0.1", "max_length": 7, "prune": 20},
    "sacofa": {"level_epsilon": 1, "max_length": 3, "prune_harmless": 3, "prune_harmful": 5},
}
OTHER: dict[str, dict[str, object]] = {
    "certified": {
        "epsilon": 2,
        "max_length": 9,
        "rules": RULES,
        "earlier": LOG,
        "max_length_bound": 900,
        "shares": Shares(search=Fraction(6, 100)),
        "time": False,
        "time_share": "1/3",
        "attribute_share": "1/3",
        "attributes": (Attribute(name="channel", of_case=True),),
        "granularity": "day",
        "calendar": "2019-01/2023-12",
        "delta": Fraction(1, 10**6),
        "order_penalty": 0,
        "false_steps": "1/50",
        "core_min_gain": 4,
        "core_order_penalty": Fraction(9),
        "wide": 90,
        "large_log_ratio": "3/100",
        "candidates": "1/3",
        "min_candidates": 20,
        "max_candidates": 400,
    },
    "laplace": {
        "level_epsilon": "0.2",
        "max_length": 8,
        "prune": 21,
        "prune_finished": False,
        "max_prefixes": 1000,
    },
    "sacofa": {
        "level_epsilon": 2,
        "max_length": 4,
        "prune": 4,
        "prune_harmless": 2,
        "prune_harmful": 6,
        "prune_finished": False,
        "rules": RULES,
        "max_violations": 2,
        "scorer": odd_scorer,
        "max_prefixes": 1000,
    },
}
"""For each field of each mechanism a value that is not its default."""


@pytest.mark.parametrize(
    ("mechanism", "field"),
    [(name, entry.name) for name, kind in MECHANISMS.items() for entry in fields(kind)],
)
def test_settings_name_everything_that_is_not_usual(mechanism: str, field: str) -> None:
    """Each field of a mechanism; one that is new needs another value in `OTHER`."""
    usual = dict(USUAL[mechanism])
    before = certify_plain(MECHANISMS[mechanism](**usual)).settings
    if field == "prune" and mechanism == "sacofa":
        del usual["prune_harmless"], usual["prune_harmful"]
    made = certify_plain(MECHANISMS[mechanism](**{**usual, field: OTHER[mechanism][field]}))
    after = json.loads(made.to_json())["settings"]
    (named, *more) = [key for key in after if key.split(".")[0] == field]
    assert not more
    assert after[named] != json.loads(json.dumps(before, default=str)).get(named)


def test_settings_name_nothing_twice_and_no_default() -> None:
    """What is usual is not repeated, but for what a mechanism always states."""
    assert set(certify_plain(Certified(epsilon=1)).settings) == set(Certified(epsilon=1).settings())
    made = certify_plain(Certified(epsilon=1, shares=Shares(search=Fraction(6, 100)), wide=100))
    assert json.loads(made.to_json())["settings"]["shares.search"] == "3/50"
    assert not {"wide", "shares", "shares.size"} & set(made.settings)


@dataclass(frozen=True)
class Outside(Mechanism):
    """A mechanism from outside that states none of its settings."""

    epsilon: Fraction
    least: int = 3
    weights: tuple[Fraction, ...] = ()
    log: object = None

    name = "outside"

    def settings(self) -> Mapping[str, object]:
        """Nothing."""
        return {}

    def promise(self, unit: Unit) -> Promise:
        """One line."""
        return Promise(accesses=(Spend(what="all", amount=self.epsilon, line="all"),))

    def run(self, session: Session, progress: object = None) -> Output:
        """Is not tried here."""
        raise NotImplementedError


def test_settings_of_a_mechanism_from_outside_are_named() -> None:
    """Whatever it says itself; what is not a plain value is named by its type alone."""
    usual = Outside(Fraction(1, 3))
    assert certify_plain(usual).settings == {"epsilon": "1/3"}  # type: ignore[arg-type]
    other = Outside(Fraction(1), np.int64(4), (Fraction(1, 2),), LOG)  # type: ignore[arg-type]
    settings = json.loads(certify_plain(other).to_json())["settings"]  # type: ignore[arg-type]
    assert settings == {
        "epsilon": "1",
        "least": 4,
        "weights": ["1/2"],
        "log": "sacofa.kernel.variants.VariantCounts",
    }


def test_json_holds_codes_values_and_texts() -> None:
    """Programs compare codes; people read the text next to each."""
    content = json.loads(certify(LAPLACE, activities=LOG.activities).to_json())
    assert content["assumptions"] == [
        {
            "code": "assumption.activities_declared",
            "values": {"number": 6},
            "text": "The names of the activities are public: 6 were declared.",
        }
    ]
    assert content["spent"][1]["what"]["code"] == "query.prefixes"
    assert content["spent"][1]["what"]["values"] == {"length": 2}


def test_no_text_of_a_certificate_is_read_back() -> None:
    """The facts decide, whatever their texts are."""
    certificate = certify(Certified(epsilon=1))
    content = json.loads(certificate.to_json())

    def forge(part: object) -> object:
        if isinstance(part, list):
            return [forge(each) for each in part]
        if isinstance(part, dict):
            return {k: "forged" if k == "text" else forge(v) for k, v in part.items()}
        return part

    assert Certificate.from_json(json.dumps(forge(content))) == Certificate.from_json(
        certificate.to_json()
    )
