"""`sacofa verify`: what it says about a file and its certificate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def released(run: Run, hospital: Path, tmp_path: Path) -> Path:
    """A release of the running example."""
    path = tmp_path / "out.csv"
    assert run("anonymize", hospital, "-o", path, "--epsilon", "1").status == 0
    return path


def test_a_release_is_confirmed_in_words(run: Run, released: Path) -> None:
    """Both answers are given: it is the file, and the sums add up."""
    ran = run("verify", released)
    assert ran.status == 0
    assert "this is the file that was certified" in ran.out
    assert "adds up" in ran.out and "ε = 1" in ran.out
    assert json.loads(run("verify", released, "--json").out)["holds"] is True


def test_a_changed_file_is_found_out(run: Run, released: Path) -> None:
    """Status 1, in words and as JSON."""
    with released.open("a") as file:
        file.write("x")
    ran = run("verify", released)
    assert ran.status == 1
    assert "the file is not the one certified" in ran.out
    ran = run("verify", released, "--json")
    assert ran.status == 1
    assert json.loads(ran.out)["holds"] is False


def test_a_changed_certificate_is_found_out(run: Run, released: Path, tmp_path: Path) -> None:
    """A price that people read must be the price that is added up."""
    beside = Path(f"{released}.certificate.json")
    beside.write_text(beside.read_text().replace('"epsilon_exact": "1"', '"epsilon_exact": "1/2"'))
    ran = run("verify", released)
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert "do not add up" in ran.err


def test_another_certificate_can_be_named(run: Run, released: Path, tmp_path: Path) -> None:
    """Where it does not lie beside the file."""
    moved = Path(f"{released}.certificate.json").rename(tmp_path / "c.json")
    assert run("verify", released).status == 1
    assert run("verify", released, "--certificate", moved).status == 0


def test_a_seeded_release_is_named_as_such(run: Run, hospital: Path, tmp_path: Path) -> None:
    """It is the file, but it must not be published."""
    path = tmp_path / "seeded.csv"
    assert run("anonymize", hospital, "-o", path, "--epsilon", "1", "--seed", "1").status == 0
    ran = run("verify", path)
    assert ran.status == 0
    assert "must not be published" in ran.out
