"""The examples run, and show what they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from sacofa.examples.hospital import hospital
from sacofa.release import verify
from tests.written import write_variants

from ..web.clients import started
from .pages import ROOT
from .shell import Shell

EXAMPLES = ROOT / "examples"


def run_example(shell: Shell, name: str, *arguments: object) -> str:
    """Run an example as a person would; what it printed."""
    done = subprocess.run(
        [str(shell.programs / "sacofa"), str(EXAMPLES / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=shell.environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cases_keep_the_rules_that_were_written(tmp_path: Path, shell: Shell) -> None:
    """Every released variant breaks none of them, and the file holds them."""
    shown = run_example(shell, "write_rules.py", tmp_path).splitlines()
    assert shown
    assert all(line.endswith("(0 rules broken)") for line in shown)
    assert "always_preceded_by" in (tmp_path / "guideline.toml").read_text(encoding="utf-8")


def test_a_score_of_ones_own_steers_what_is_new(shell: Shell) -> None:
    """Prefixes are judged by it: what is frequent and known is released, at the levels' price."""
    shown = run_example(shell, "own_score.py")
    assert re.search(r"\d+  Register, Triage, Surgery, Release  \(0 unknown steps\)", shown)
    assert "ε = 6" in shown
    assert "known paths of the ward" in shown


@pytest.mark.slow
def test_an_audit_tells_a_right_mechanism_from_a_careless_one(shell: Shell) -> None:
    """The one that draws too little noise is refuted, the other is not."""
    shown = run_example(shell, "audit_own_mechanism.py", 5000).splitlines()
    right = [line for line in shown if line.startswith("right")]
    careless = [line for line in shown if line.startswith("careless")]
    assert right and all(line.endswith(": not refuted") for line in right)
    assert any(line.endswith(": refuted") for line in careless)


@pytest.mark.slow
def test_a_release_can_be_mined_with_pm4py(tmp_path: Path, shell: Shell) -> None:
    """The model that is found there fits the original."""
    pytest.importorskip("pm4py", reason="needs the extra evaluate")
    shown = run_example(shell, "anonymize_and_mine.py", tmp_path)
    assert "at ε = 1\n" in shown
    fitness = re.search(r"fitness on the original is (\d\.\d+)", shown)
    assert fitness is not None
    assert float(fitness[1]) > 0.5


@pytest.mark.slow
def test_mechanisms_can_be_compared(shell: Shell) -> None:
    """Each has its line, with the price of the whole release."""
    pytest.importorskip("pm4py", reason="needs the extra evaluate")
    prices = dict(
        re.findall(r"^(\w+) +(\S+) +\d", run_example(shell, "compare_mechanisms.py", 1), re.M)
    )
    assert prices == {"certified": "1", "laplace": "1", "sacofa": "∞"}


def test_every_example_is_run_here_and_told_somewhere() -> None:
    """No example that nobody runs, none that no page leads to."""
    here = Path(__file__).read_text(encoding="utf-8")
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").rglob("*.md"))
    for example in EXAMPLES.glob("*.py"):
        assert f'run_example(shell, "{example.name}"' in here
        assert f"examples/{example.name}" in pages


def test_a_program_releases_through_the_web_app(tmp_path: Path, shell: Shell) -> None:
    """The client of the documents, against a running app: one file comes back, and it verifies."""
    log = tmp_path / "hospital.csv"
    write_variants(hospital(), log)
    with started(tmp_path / "cache") as (_, address):
        shown = run_example(shell, "web_client.py", address, log, tmp_path / "all.zip")
    assert "a factor of at most 2.72" in shown
    with ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(tmp_path / "all")
    assert verify(tmp_path / "all" / "hospital.anonymized.xes.gz").holds
