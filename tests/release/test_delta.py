"""Releases with a δ: their certificate, what people read of it, and how they add up."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sacofa.errors import BudgetError, LedgerError, PromiseError, ReadError
from sacofa.kernel.accounting import ZCDP, Leak, Spend
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.ledger import Ledger
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.protocol import Promise
from sacofa.messages import render
from sacofa.release import Release, anonymize, certificate_path, publish
from sacofa.release.anonymize import certify_request
from sacofa.release.certificate import FORMAT, FORMAT_4, Certificate
from sacofa.release.combine import combine
from sacofa.release.disclosure import Deployment, disclose, make_record, write_record
from sacofa.release.read import read_release, verify

LOG = {("a", "b"): 400, ("a", "c", "b"): 300, ("a",): 30}
MILLIONTH = Fraction(1, 10**6)
DELTA = Certified(epsilon=1, delta=MILLIONTH, max_length=4, time=False)
PURE = Certified(epsilon=Fraction(1, 10), max_length=4, time=False)
RHO = ZCDP(Fraction(1), MILLIONTH, MILLIONTH / 10).rho


@pytest.fixture(scope="module")
def release() -> Release:
    """A release with (1, 10⁻⁶)."""
    return anonymize(LOG, DELTA)


def text_of(certificate: Certificate, **changes: object) -> str:
    """A certificate with other fields."""
    return json.dumps(json.loads(certificate.to_json()) | changes)


def test_a_certificate_states_epsilon_delta_and_rho(release: Release) -> None:
    """As numbers for people and as exact fractions, each query in ρ."""
    content = json.loads(release.certificate.to_json())
    assert content["format"] == FORMAT_4
    assert (content["epsilon"], content["epsilon_exact"]) == (1, "1")
    assert (content["delta"], content["delta_exact"]) == (1e-6, "1/1000000")
    assert content["delta_for_selection_exact"] == "1/10000000"
    assert Fraction(content["rho_exact"]) == RHO <= Fraction(content["rho"])
    assert content["rho"] == pytest.approx(0.0241296223, abs=1e-9)
    assert "Corollary 13" in content["conversion"]
    assert sum(Fraction(each["rho_exact"]) for each in content["spent"]) == RHO
    assert not any("epsilon" in each for each in content["spent"])
    assert content["settings"]["delta"] == "1/1000000"


def test_a_certificate_is_read_back_as_it_was(release: Release) -> None:
    """With its budget; and one without a δ stays in the former format."""
    again = Certificate.from_json(release.certificate.to_json())
    assert again.to_json() == release.certificate.to_json()
    assert again.budget == release.certificate.budget
    assert again.rho == release.certificate.rho
    pure = json.loads(anonymize(LOG, PURE).certificate.to_json())
    assert (pure["format"], pure["delta"]) == (FORMAT, 0)
    assert "rho" not in pure and "conversion" not in pure


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon_exact": "1/2"},
        {"epsilon_exact": "999999/1000000"},
        {"delta_exact": "1/2000000"},
        {"delta_for_selection_exact": "1/2000000"},
        {"rho_exact": "1/100"},
    ],
)
def test_a_claim_that_its_queries_do_not_imply_is_refused(
    release: Release, changes: dict[str, str]
) -> None:
    """The sum of ρ is added up again, and converted again."""
    with pytest.raises(ReadError, match="do not add up to its ρ"):
        Certificate.from_json(text_of(release.certificate, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"delta_exact": "0"},
        {"delta_for_selection_exact": "1/1000000"},
        {"epsilon_exact": None},
        {"format": FORMAT},
        {"spent": [{"what": "x", "epsilon": 1, "epsilon_exact": "1"}]},
    ],
)
def test_a_mixture_of_currencies_is_refused(release: Release, changes: dict[str, object]) -> None:
    """Amounts in ε are none in ρ, and the other way round."""
    with pytest.raises(ReadError):
        Certificate.from_json(text_of(release.certificate, **changes))


def test_the_guarantee_says_what_holds_inside_a_case(release: Release) -> None:
    """1.451 instead of 2, in both languages."""
    said = str(release.certificate.guarantee)
    assert "at most e^1, plus at most δ = 10⁻⁶" in said
    assert "factor of at most e^1.451, plus at most 10⁻⁶" in said
    assert "ρ = 0.02413" in said
    assert "e^1,451" in render(release.certificate.guarantee, "de")


def test_a_file_is_written_verified_and_read_with_its_delta(tmp_path: Path) -> None:
    """The orderly core, which follows from ε and δ, too."""
    path = tmp_path / "out.csv"
    made = publish(LOG, DELTA, path)
    assert verify(path).holds
    read = read_release(path)
    assert read.certificate.to_json() == made.certificate.to_json()
    assert "ε = 1, δ = 10⁻⁶" in repr(read)
    variants = tmp_path / "out.json"
    made = publish(LOG, DELTA, variants)
    read = read_release(variants)
    assert made.core is not None and read.core is not None
    assert sorted(read.variants.where(read.core)) == sorted(made.variants.where(made.core))


def test_a_ledger_is_charged_and_refuses_what_does_not_fit(tmp_path: Path) -> None:
    """The ρ of the certificate; before anything is read."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.set_budget("visits", Fraction(1), MILLIONTH)
    publish(LOG, DELTA, tmp_path / "a.csv", ledger=ledger, dataset="visits")
    assert ledger.account("visits").spent == RHO
    (entry,) = ledger.entries()
    assert (entry.price, entry.delta, entry.rho) == (1, MILLIONTH, RHO)
    with pytest.raises(BudgetError, match="nothing was read or released"):
        publish(LOG, PURE, tmp_path / "b.csv", ledger=ledger, dataset="visits")
    ledger.set_budget("bills", Fraction(5))
    with pytest.raises(LedgerError, match=r"budget of dataset \"bills\" is in ε"):
        publish(LOG, DELTA, tmp_path / "b.csv", ledger=ledger, dataset="bills")
    assert not certificate_path(tmp_path / "b.csv").exists()
    ledger.check()


def test_releases_add_up_in_rho_and_in_delta(release: Release) -> None:
    """Two with (1, 10⁻⁶) and one of pure ε: ρ adds up, and is converted once."""
    other = anonymize(LOG, DELTA)
    combined = combine([release, other]).certificate
    assert combined.rho is not None and combined.rho.rho == 2 * RHO
    # A search over a fine grid of α gives 1.40437 for 2ρ and δ = 1.8 · 10⁻⁶.
    assert (combined.epsilon, combined.delta) == (Fraction("1.405"), 2 * MILLIONTH)
    mixed = combine([release, anonymize(LOG, PURE)]).certificate
    assert mixed.rho is not None and mixed.rho.rho == RHO + Fraction(1, 200)
    assert mixed.delta == MILLIONTH
    assert Certificate.from_json(mixed.to_json()).claim == mixed.claim
    assert mixed.settings["releases"][0]["delta"] == "1/1000000"  # type: ignore[index]
    assert combine([anonymize(LOG, PURE), anonymize(LOG, PURE)]).certificate.budget is None


def test_people_read_what_delta_means(release: Release) -> None:
    """Annex: the probability without a limit, and ρ of each query."""
    audit = {
        "mechanism": "certified", "secret": False, "refuted": False, "runs": 10,
        "findings": [{"certified": 0.5, "claimed": 1.0, "delta": 1e-6}],
    }  # fmt: skip
    sections = {section.key: section for section in disclose(release.certificate, audit=audit)}
    assert "its claim (ε = 1, δ = 10⁻⁶ there)" in str(sections["audit"].statements[0])
    price = " ".join(map(str, sections["price"].statements))
    assert "(ε, δ)-differential privacy" in price and "10⁻⁷ of δ covers variants" in price
    assert "These limits can fail with a probability of at most δ = 10⁻⁶" in price
    assert "at most 3.36" in price and "at most 5.63" in price
    accounting = sections["accounting"]
    assert all(str(right).startswith("ρ = ") for _, right in accounting.rows)
    assert "The ρ of all queries add up" in str(accounting.statements[0])
    for section in sections.values():
        for said in section.statements:
            assert "pure differential privacy" not in str(said)
            assert "δ is 0" not in str(said)
            assert "{" not in render(said, "de")


def test_a_record_is_of_approximate_privacy(release: Release, tmp_path: Path) -> None:
    """With δ as a number that YAML takes for one."""
    yaml = pytest.importorskip("yaml")
    people = Deployment(
        name="Visits", curator="A clinic", purpose="research", region="DE", description="visits",
        published="2026-11-19", author="Anna",
    )  # fmt: skip
    certificate = replace(release.certificate, sha256="ab")
    write_record(make_record(certificate, people), tmp_path / "visits.yaml")
    record = yaml.safe_load((tmp_path / "visits.yaml").read_text(encoding="utf-8"))["deployment"]
    assert record["dp_variant"]["variant_name"] == "Approximate DP"
    assert record["privacy_loss"]["privacy_parameters"] == {"epsilon": 1, "delta": 1e-6}


def test_a_promise_with_a_delta_has_no_leak() -> None:
    """Its amounts would be in a currency that no claim explains."""

    class Leaking(Certified):
        name = "leaking"

        def promise(self, unit: Unit) -> Promise:
            leak = Leak(what="rules", why="they are free", line="rules")
            return Promise(accesses=(Spend(what="x", amount=RHO), leak), budget=DELTA.budget)

    with pytest.raises(PromiseError, match="cannot have a leak"):
        certify_request(Leaking(epsilon=1, delta=MILLIONTH), ONE_CASE)
