"""What was paid for gets out, and nothing else is paid; what is read is not overwritten."""

from __future__ import annotations

import os
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import LedgerError, OutputError, SettingError
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.paper import Laplace
from sacofa.release import certificate_path, publish
from sacofa.release.publish import Listener, Request
from tests.cli.conftest import Run
from tests.written import write_variants

TENTH = Certified(epsilon=Fraction(1, 10), max_length=3)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A small log."""
    path = tmp_path / "log.csv"
    write_variants(VariantCounts.of({("a", "b"): 40, ("a",): 20}), path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a budget of 10."""
    made = Ledger.create(tmp_path / "ledger.csv")
    made.set_budget("visits", Fraction(10))
    return made


def alias(path: Path, kind: str) -> Path:
    """Another name of a file."""
    other = path.with_name(f"alias-{kind}.csv")
    if kind == "link":
        other.symlink_to(path)
    elif kind == "hard link":
        os.link(path, other)
    else:
        return path.parent / "." / ".." / path.parent.name / path.name
    return other


@pytest.mark.parametrize("kind", ["path", "link", "hard link"])
@pytest.mark.parametrize("which", ["ledger", "log"])
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_an_output_that_is_the_ledger_or_the_log_is_refused_unpaid(
    run: Run, ledger: Ledger, log: Path, kind: str, which: str, option: str
) -> None:
    """By whatever name, also with --force: it would be destroyed."""
    victim = ledger.path if which == "ledger" else log
    before = victim.read_bytes()
    target = alias(victim, kind)
    outputs = ["-o", log.with_name("out.csv"), option, target]
    ran = run(
        "anonymize", log, *(outputs if option == "--report" else outputs[2:]), "--epsilon", "0.1",
        "--force", "--ledger", ledger.path, "--dataset", "visits",
    )  # fmt: skip
    assert ran.status == 2, ran.err
    assert f"and the {which}" in ran.err
    assert victim.read_bytes() == before
    if kind == "hard link":
        # With two names, it would not be read at all.
        target.unlink()
    assert ledger.entries() == []
    assert not log.with_name("out.csv").exists()


def test_outputs_that_are_each_other_are_refused_unpaid(
    run: Run, ledger: Ledger, log: Path
) -> None:
    """A report in place of the release, or of its certificate."""
    out = log.with_name("out.csv")
    for report in (out, certificate_path(out)):
        ran = run(
            "anonymize", log, "-o", out, "--report", report, "--epsilon", "0.1", "--force",
            "--ledger", ledger.path, "--dataset", "visits",
        )  # fmt: skip
        assert ran.status == 2
        assert "at once: choose another name" in ran.err
    assert ledger.entries() == []


def test_a_ledger_beside_an_output_of_its_name_is_not_its_certificate(
    ledger: Ledger, log: Path, tmp_path: Path
) -> None:
    """Whose certificate would have the name of the ledger is refused, too."""
    shutil.move(ledger.path, tmp_path / "out.csv.certificate.json")
    moved = Ledger.open(tmp_path / "out.csv.certificate.json")
    with pytest.raises(OutputError, match="its certificate and the ledger at once"):
        publish(log, TENTH, tmp_path / "out.csv", force=True, ledger=moved, dataset="visits")
    assert moved.entries() == []


def test_an_old_ledger_put_in_place_during_a_release_lets_nothing_out(
    ledger: Ledger, log: Path, tmp_path: Path
) -> None:
    """An expensive release must not get out on the row of a cheap one."""
    old = shutil.copy(ledger.path, tmp_path / "old")

    def stage(name: str, done: float) -> None:
        if name == "writing" and not done:
            shutil.copy(old, ledger.path)
            publish(log, TENTH, tmp_path / "cheap.csv", ledger=ledger, dataset="visits")

    with pytest.raises(LedgerError, match="old copy"):
        Request(
            log=log,
            mechanism=Certified(epsilon=5, max_length=3),
            output=tmp_path / "dear.csv",
            ledger=ledger,
            dataset="visits",
        ).publish(Listener(stage=stage))
    assert not (tmp_path / "dear.csv").exists()
    assert not certificate_path(tmp_path / "dear.csv").exists()
    assert (tmp_path / "cheap.csv").exists()
    assert ledger.account("visits").spent == Fraction(1, 10)


def link_to_other(folder: Path) -> Path:
    """A CSV file that is a link to something else."""
    (folder / "real.xes").write_text("")
    (folder / "out.csv").symlink_to(folder / "real.xes")
    return folder / "out.csv"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"seed": -1}, SettingError),
        ({"activities": [str(i) for i in range(4_001)]}, SettingError),
        ({"output": link_to_other}, OutputError),
        ({"output": lambda folder: folder / "\udcff.csv"}, OutputError),
        ({"output": lambda folder: folder / "a\0.csv"}, OutputError),
        ({"output": lambda folder: folder / ("x" * 240 + ".csv")}, OutputError),
        ({"max_released_events": 0}, SettingError),
    ],
)
def test_what_can_be_known_before_is_refused_before(
    ledger: Ledger, log: Path, tmp_path: Path, changes: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing is booked, not even to be given back."""
    output = changes.pop("output", lambda folder: folder / "out.csv")(tmp_path)
    with pytest.raises(error):
        Request(
            log=log, mechanism=TENTH, output=output, force=True, ledger=ledger, dataset="visits",
            **changes,
        ).publish()  # fmt: skip
    assert ledger.entries() == []


def test_a_length_without_bound_is_refused() -> None:
    """Every level is a line of the certificate."""
    with pytest.raises(SettingError, match="max_length"):
        Laplace(level_epsilon="0.1", max_length=10**12, prune=2)


def test_more_activities_in_the_log_than_can_be_are_given_back(
    ledger: Ledger, tmp_path: Path
) -> None:
    """They are not known before the log is read, but before it is asked anything."""
    many = VariantCounts.of({(str(i),): 1 for i in range(4_001)})
    with pytest.raises(SettingError, match="at most 4,000"):
        publish(many, TENTH, tmp_path / "out.csv", ledger=ledger, dataset="visits")
    assert [entry.state for entry in ledger.entries()] == ["returned"]
    assert ledger.account("visits").left == 10
