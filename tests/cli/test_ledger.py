"""`sacofa ledger` and `sacofa anonymize --ledger`: what they say and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacofa import Laplace, Ledger, publish
from sacofa.errors import PolicyError
from sacofa.examples import running_example
from sacofa.ledger.policy import policy_path
from tests.cli.conftest import Run

QUARTER = ["--mechanism", "laplace", "--epsilon", "1/8", "--max-length", "2", "--prune", "9"]


@pytest.fixture
def ledger(run: Run, tmp_path: Path) -> Path:
    """A ledger with a budget of one half."""
    path = tmp_path / "a.ledger"
    assert run("ledger", "budget", path, "visits", "0.5").status == 0
    return path


def test_a_budget_is_set_spent_shown_and_kept_to(
    run: Run, hospital: Path, ledger: Path, tmp_path: Path
) -> None:
    """Two releases fit, the third is refused with what is left, and history tells all."""
    paid = ["--ledger", ledger, "--dataset", "visits"]
    for name in ("a.csv", "b.csv"):
        ran = run("anonymize", hospital, "-o", tmp_path / name, *QUARTER, *paid)
        assert ran.status == 0, ran.err
        assert 'ledger: ε = 0.25 spent on dataset "visits"' in ran.err
    assert "this repeats release 1" in ran.err and "spends the budget again" in ran.err
    ran = run("anonymize", hospital, "-o", tmp_path / "c.csv", *QUARTER, *paid)
    assert ran.status == 1
    assert ran.err.count("\n") == 1
    assert 'spends ε = 0.25, and dataset "visits" has ε = 0 left of 0.5' in ran.err
    assert not (tmp_path / "c.csv").exists()
    shown = run("ledger", "show", ledger).out.splitlines()
    assert shown[0] == "visits: ε = 0.5 spent of 0.5, 0 left"
    assert "100% of the budget" in shown[1] and "2 releases, protecting a case" in shown[2]
    shown = json.loads(run("ledger", "show", ledger, "--json").out)
    assert shown == {
        "datasets": [{"dataset": "visits", "budget": "1/2", "spent": "1/2", "left": "0"}]
    }
    history = run("ledger", "history", ledger).out
    assert history.count("laplace") == 2 and "budget set" in history and "repeats 1" in history
    told = json.loads(run("ledger", "history", ledger, "--dataset", "visits", "--json").out)
    assert [r["state"] for r in told["releases"]] == ["released", "released"]
    assert told["releases"][0]["certificate"]["epsilon_exact"] == "1/4"
    assert told["releases"][0]["settings"]["prune"] == 9
    assert [b["epsilon"] for b in told["budgets"]] == ["1/2"]


def test_what_goes_to_standard_output_has_no_file(
    run: Run, hospital: Path, ledger: Path, tmp_path: Path
) -> None:
    """The place that it is written to on its way is gone when anybody looks it up."""
    beside = tmp_path / "out.json"
    pay = ("--ledger", ledger, "--dataset", "visits", "--epsilon", "1/2")
    ran = run("anonymize", hospital, "-o", "-", "--certificate", beside, *pay)
    assert ran.status == 0
    (entry,) = Ledger.open(ledger).entries()
    assert (entry.state, entry.file) == ("released", None)
    assert entry.sha256 == json.loads(beside.read_text(encoding="utf-8"))["sha256"]
    assert "passed on" in run("ledger", "history", ledger).out


def test_a_log_that_cannot_be_read_is_given_back(run: Run, ledger: Path, tmp_path: Path) -> None:
    """The history shows it, and the budget is whole."""
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("case,activity\n1,a\n2,\n")
    ran = run(
        "anonymize", damaged, "-o", tmp_path / "c.csv", *QUARTER,
        "--ledger", ledger, "--dataset", "visits",
    )  # fmt: skip
    assert ran.status == 1
    assert "row 2 has no activity" in ran.err and "the budget was returned" in ran.err
    shown = run("ledger", "show", ledger).out
    assert shown.startswith("visits: ε = 0 spent of 0.5, 0.5 left\n")
    assert "not spent" in " ".join(run("ledger", "history", ledger).out.split())


def test_no_limit_is_said_in_words(run: Run, hospital: Path, ledger: Path, tmp_path: Path) -> None:
    """Without a limit even what has no ε is recorded, and shown as what it is."""
    assert "unlimited, no limit" in run("ledger", "budget", ledger, "visits", "unlimited").out
    ran = run(
        "anonymize", hospital, "-o", tmp_path / "c.csv", "--mechanism", "sacofa", "--epsilon", "1",
        "--max-length", "3", "--prune", "9", "--ledger", ledger, "--dataset", "visits",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert "no finite ε spent" in ran.err
    assert "no finite ε spent" in run("ledger", "show", ledger).out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("show", "none"), 1, "there is no ledger: make one with"),
        (("history", "none"), 1, "there is no ledger: make one with"),
        (("budget", "a.ledger", "visits", "0"), 2, "must be above 0"),
        (("budget", "a.ledger", "visits", "much"), 2, "a positive number"),
        (("budget", "a.ledger", "", "1"), 2, "a name of"),
        (("history", "a.ledger", "--dataset", "visit"), 1, 'Did you mean "visits"?'),
        (("show", "hospital.csv"), 1, "not a ledger"),
    ],
)
def test_what_cannot_be_is_one_line(
    run: Run, ledger: Path, hospital: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], status: int, message: str,
) -> None:  # fmt: skip
    """Refused with what to do, never a traceback."""
    monkeypatch.chdir(ledger.parent)
    ran = run("ledger", *arguments)
    assert (ran.status, ran.err.count("\n")) == (status, 1), ran.err
    assert message in ran.err


def test_ledger_and_dataset_come_together(
    run: Run, hospital: Path, ledger: Path, tmp_path: Path
) -> None:
    """A forgotten option does not make a release that nobody counts."""
    for half in (["--ledger", ledger], ["--dataset", "visits"]):
        ran = run("anonymize", hospital, "-o", tmp_path / "c.csv", *QUARTER, *half)
        assert ran.status == 2
        assert "given together" in ran.err
        assert not (tmp_path / "c.csv").exists()


def test_command_line_and_python_obey_the_same_policy(
    run: Run, ledger: Path, hospital: Path, tmp_path: Path
) -> None:
    """Nothing is read, paid or written."""
    policy_path(ledger).write_text('largest_release = "1/10"\n')
    paid = ["--ledger", ledger, "--dataset", "visits"]
    ran = run("anonymize", hospital, "-o", tmp_path / "a.csv", "--epsilon", "1", *paid)
    assert ran.status == 1 and "the policy forbids it" in ran.err and ran.err.count("\n") == 1
    with pytest.raises(PolicyError):
        publish(
            running_example(), Laplace(level_epsilon=1, max_length=2, prune=1),
            tmp_path / "b.csv", ledger=Ledger.open(ledger), dataset="visits",
        )  # fmt: skip
    assert Ledger.open(ledger).entries() == [] and not list(tmp_path.glob("*.certificate.json"))
    shown = run("ledger", "policy", ledger).out
    assert "a release spends at most ε = 1/10" in shown
    policy_path(ledger).unlink()
    assert "there is no policy" in run("ledger", "policy", ledger).out
    assert Ledger.open(ledger).policies() is None


def test_a_policy_for_a_misspelt_dataset_is_one_line(run: Run, ledger: Path) -> None:
    """It is not shown as no limits at all."""
    policy_path(ledger).write_text('[datasets.vistis]\nlargest_release = "1/10"\n')
    ran = run("ledger", "policy", ledger)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "vistis" in ran.err and 'Did you mean "visits"?' in ran.err
    policy_path(ledger).write_text('[datasets.visits]\nlargest_release = "1/10"\n')
    shown = run("ledger", "policy", ledger).out
    assert shown == "every dataset: no limits\nvisits: a release spends at most ε = 1/10\n"


def test_the_picture_is_drawn_as_svg_or_page(run: Run, ledger: Path, tmp_path: Path) -> None:
    """Another ending is refused, and so is the ledger itself."""
    for name in ("a.svg", "a.html"):
        assert run("ledger", "show", ledger, "--picture", tmp_path / name).status == 0
        assert "<svg" in (tmp_path / name).read_text()
    assert run("ledger", "show", ledger, "--picture", tmp_path / "a.png").status == 2
