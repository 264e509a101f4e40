"""`sacofa audit` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacofa.audit import make_minimal, timed_pairs, timed_persons_pair
from sacofa.cli import main
from sacofa.cli.audit import Attack, find_pairs, overall
from sacofa.examples import running_example
from tests.written import write_variants


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the program: exit status, what is printed, and what goes to stderr."""
    with pytest.raises(SystemExit) as stopped:
        main(["audit", *map(str, arguments)])
    seen = capsys.readouterr()
    return int(stopped.value.code or 0), seen.out, seen.err


NAMES = {
    "rules", "new variant", "threshold", "long case", "long among many", "no events", "person",
}  # fmt: skip
"""The built-in pairs without times."""


def test_progress_is_that_of_all_pairs() -> None:
    """Who listens hears one number that rises to 1, whatever pair it is about."""
    heard: list[tuple[str, float]] = []
    for finished, name in enumerate(("one", "other")):
        for done in (0.5, 1.0):
            overall(lambda name, done: heard.append((name, done)), finished, 2)(name, done)
    assert heard == [("Auditing", part) for part in (0.25, 0.5, 0.75, 1.0)]


@pytest.mark.parametrize(
    "options",
    [
        ("--person", "who", "--max-cases", 2),
        ("--order", "file"),
        ("--attribute-share", "1/3"),
        ("--no-time", "--granularity", "day"),
        ("--log", "log.csv", "--attribute", "ward"),
    ],
)
def test_what_would_change_nothing_is_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[object, ...]
) -> None:
    """An audit that leaves out what was asked for would speak of something else."""
    status, out, err = run(capsys, "--epsilon", 1, *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "left out" in err


FEW = ("--runs", 300, "--seed", 1, "--workers", 1)


def test_sacofa_is_refuted_with_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    """With nothing but an ε, rules from the log are refuted; JSON tells by how much."""
    status, out, err = run(capsys, "--mechanism", "sacofa", "--epsilon", 1, "--json", *FEW)
    told = json.loads(out)
    assert (status, err) == (3, "")
    assert told["format"] == "sacofa-audit-1"
    assert told["refuted"]
    assert not told["secret"]
    found = {f["pair"]: f for f in told["findings"] if f["view"] == "release"}
    assert len(told["findings"]) == 2 * len(found)
    assert set(found) == NAMES
    assert found["rules"]["refuted"]
    assert found["rules"]["certified"] > 2
    assert found["rules"]["claimed"] == 1
    assert found["person"]["claimed"] == 3
    assert found["rules"]["certified"] < found["rules"]["highest"]
    assert 1 < found["rules"]["refuted_from"] < 2
    assert found["person"]["refuted_from"] is None or found["person"]["refuted_from"] > 3


@pytest.mark.slow
def test_certified_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """The default mechanism is not refuted; the page says what that means."""
    few = ("--runs", 150, *FEW[2:])
    status, out, err = run(capsys, "--epsilon", 1, "--no-time", *few)
    assert (status, err) == (0, "")
    assert out.count("not refuted") >= 12
    assert "11 years" not in out
    assert "transcript" in out
    assert "no proof" in out
    said = " ".join(out.split())
    assert "150 runs on each log refute a claim of 1 if evidence of 2.13 or more occurs" in said
    assert "occurs in one run of 100 is not found" in said


def test_times_are_audited_where_they_are_asked_for() -> None:
    """The whole mechanism is tried on pairs with times as well; tests/audit shows that it holds."""
    timed = {pair.name for pair in (*timed_pairs(), timed_persons_pair(3))}
    assert len(timed) == 7

    def tried(**settings: object) -> set[str]:
        mechanism = make_minimal("certified", {"epsilon": 1, **settings})
        return {pair.name for pair in find_pairs(mechanism, Attack())}

    assert tried(time=False) == NAMES
    assert tried() == tried(time=False) | timed


def test_an_audit_around_a_log_is_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Pairs are built around the log that is named, with the settings that are given."""
    path = tmp_path / "hospital.csv"
    write_variants(running_example(), path)
    settings = ("--mechanism", "laplace", "--epsilon", 1, "--max-length", 3, "--prune", 8)
    status, out, err = run(capsys, "--log", path, *settings, *FEW[:1], 100, *FEW[2:])
    assert (status, err) == (0, "")
    assert "through all" in out
    assert "Confidential" in out
    said = " ".join(out.split())
    assert "100 runs on each log cannot refute a claim of 3 beyond doubt" in said
    assert "the highest bound that they can prove is 3.5" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon", 0), "--epsilon (0) must be above 0"),
        (("--epsilon", 1, "--runs", 5), "runs (5) must be at least 100"),
        (("--epsilon", 1, "--workers", 0), "--workers (0) must be at least 1"),
        (
            ("--epsilon", 1, "--person-cases", 0),
            "--person-cases (0) must be a whole number",
        ),
        (("--epsilon", 1, "--mechanism", "laplase"), 'Did you mean "laplace"?'),
        (("--epsilon", 1, "--prune", 3), "prune (3) must be left out"),
        ((), "Missing option '--epsilon'"),
    ],
)
def test_bad_settings_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], message: str
) -> None:
    """What cannot be is refused before anything runs, with status 2."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
