"""`sacofa rules`, as a person calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.events import count_variants, open_log
from sacofa.rules import FromSecretLog, learn_rules, read_rules


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two cases."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity\n1,Register\n1,Release\n2,Register\n2,Lunch\n2,Release\n")
    return path


def run(*arguments: object) -> int:
    """Call the program and give its exit status."""
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


def test_rules_are_written_and_said_to_be_secret(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file holds the rules of the log; the terminal says what it is worth protecting."""
    target = tmp_path / "rules.toml"
    assert run("rules", log, "-o", target) == 0
    written = read_rules(target)
    assert written == learn_rules(count_variants(open_log(log)), written.source)
    assert written.source == FromSecretLog("log.csv")
    assert not written.source.public
    said = capsys.readouterr()
    assert "3 activities" in said.out
    assert "confidential" in said.err


def test_a_file_that_exists_needs_force(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, status 2, and the file is as it was."""
    target = tmp_path / "rules.toml"
    target.write_text("mine")
    assert run("rules", log, "-o", target) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert target.read_text() == "mine"
    assert run("rules", log, "-o", target, "--force") == 0
    assert read_rules(target).activities == ("Lunch", "Register", "Release")


@pytest.mark.parametrize(
    ("name", "target", "status"),
    [
        ("missing.csv", "rules.toml", 1),
        ("log.csv", "rules.csv", 2),
        ("log.csv", "missing/rules.toml", 2),
        ("empty.csv", "rules.toml", 1),
    ],
)
def test_wrong_calls_and_wrong_data_are_one_line(
    log: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    target: str,
    status: int,
) -> None:
    """And nothing is written."""
    (tmp_path / "empty.csv").write_text("case,activity\n")
    before = sorted(tmp_path.iterdir())
    assert run("rules", tmp_path / name, "-o", tmp_path / target) == status
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before
