"""`sacofa plan`, and `certified` as what people get who ask for nothing in particular."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from tests.cli.conftest import Run


def test_plan_says_what_epsilon_buys(run: Run) -> None:
    """Shares, noise and thresholds in words; nothing is read."""
    ran = run("plan", "--epsilon", "1", "--max-length", "10", "--activities", "27", "--cases", 1000)
    assert ran.status == 0, ran.err
    said = " ".join(ran.out.split())
    assert "directly-follows pairs" in said and "is published individually" in said
    assert "would be rough" in said


def test_plan_says_what_is_hopeless_before_anything_is_spent(run: Run) -> None:
    """Too few cases for this ε, and how many would do."""
    said = " ".join(run("plan", "--activities", 29, "--cases", 20, "--epsilon", "0.1").out.split())
    assert "A release of 20 cases would be unreliable (expected errors: directly-follows" in said
    assert "cases or ε =" in said


def test_a_plan_with_times_has_less_for_the_order_of_activities(run: Run) -> None:
    """So more is needed for the same; shares still add up to ε."""
    asked = ("plan", "--epsilon", "1", "--activities", 29, "--cases", 200, "--json")
    plain, timed = json.loads(run(*asked).out), json.loads(run(*asked, "--time").out)
    assert timed["cases_needed"] > 1.5 * plain["cases_needed"]
    assert timed["epsilon_needed"] > plain["epsilon_needed"] > 1
    assert sum(Fraction(share["epsilon_exact"]) for share in timed["shares"]) == 1


def test_plan_as_json_adds_up(run: Run) -> None:
    """One JSON object whose exact shares add up to ε."""
    ran = run("plan", "--epsilon", "1/3", "--activities", "27", "--max-length", "5", "--json")
    content = json.loads(ran.out)
    assert sum(Fraction(share["epsilon_exact"]) for share in content["shares"]) == Fraction(1, 3)


def test_plan_refuses_what_cannot_be(run: Run) -> None:
    """One line, and the status of a wrong setting."""
    ran = run("plan", "--epsilon", "-1", "--activities", "27")
    assert ran.status == 2 and "epsilon" in ran.err
    ran = run("plan", "--epsilon", "1", "--activities", "-3")
    assert ran.status == 2 and "activities" in ran.err


def test_certified_is_the_default(run: Run, hospital: Path, tmp_path: Path) -> None:
    """A log and an epsilon are enough; the price is that epsilon."""
    ran = run("anonymize", hospital, "-o", tmp_path / "out.csv", "--epsilon", "1/3")
    assert ran.status == 0, ran.err
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["mechanism"] == "certified"
    assert certificate["epsilon_exact"] == "1/3"
    assert certificate["delta"] == 0


def test_rules_of_the_log_itself_are_refused(run: Run, hospital: Path, tmp_path: Path) -> None:
    """Neither from the log nor from a file that was read off it; another log's are taken."""
    out = ("anonymize", hospital, "-o", tmp_path / "out.csv", "--epsilon", "1")
    ran = run(*out, "--rules-from", hospital)
    assert ran.status == 2 and "--rules-from" in ran.err
    assert run("rules", hospital, "-o", tmp_path / "rules.toml").status == 0
    ran = run(*out, "--rules", tmp_path / "rules.toml")
    assert ran.status == 2 and "without payment" in ran.err
    other = tmp_path / "public.csv"
    other.write_bytes(hospital.read_bytes())
    ran = run(*out, "--rules-from", other)
    assert ran.status == 0, ran.err
    assert "public.csv" in ran.out
