"""The recipes of CONTRIBUTING work: done as they stand there, in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT, blocks

PAGE = ROOT / "CONTRIBUTING.md"
CHECK_LAW = """
import numpy as np
from sacofa import VariantCounts
from sacofa.queries.starts import Starts
names = ["a", "b"]
log = {("a", "b"): 3, (): 2, ("b",): 1}
before = Starts(2).table(VariantCounts.of(log, names))
assert before.tolist() == [3, 1]
for case in ((), ("a",), ("b", "a"), ("a", "b")):
    after = Starts(2).table(VariantCounts.of({**log, case: log.get(case, 0) + 1}, names))
    assert np.abs(after - before).sum() <= Starts(2).sensitivity
"""


def recipe(start: str) -> str:
    """The file of a recipe, by the first words of its docstring."""
    texts = [block.text for block in blocks(PAGE.read_text(encoding="utf-8"))]
    (found,) = [text for text in texts if text.startswith(f'"""{start}')]
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, with the files of the recipes and the name in the registry."""
    source = tmp_path_factory.mktemp("copy")
    package = source / "sacofa"
    shutil.copytree(ROOT / "src" / "sacofa", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "queries" / "starts.py").write_text(recipe("How many"), encoding="utf-8")
    (package / "mechanisms" / "starts.py").write_text(recipe("The mechanism"), encoding="utf-8")
    registry = package / "mechanisms" / "registry.py"
    text = registry.read_text(encoding="utf-8")
    for before, after in (
        ("(Certified, Sacofa, Laplace)", "(Certified, Sacofa, Laplace, FirstActivities)"),
        ("from .settings import", "from .starts import FirstActivities\nfrom .settings import"),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    registry.write_text(text, encoding="utf-8")
    return source


def run(copy: Path, *command: object) -> str:
    """Run Python on the copy; what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"},
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_query_keeps_its_law(copy: Path) -> None:
    """One case more changes the table by at most its sensitivity."""
    run(copy, "-c", CHECK_LAW)


def test_the_mechanism_releases_and_certifies(copy: Path) -> None:
    """Its release has a certificate that adds up, and what the program shows is built from it."""
    rows = [f"{i},{'ab'[i % 3 == 0]},2020-01-01" for i in range(300)]
    (copy / "log.csv").write_text("case,activity,time\n" + "\n".join(rows), encoding="utf-8")
    settings = ("--mechanism", "starts", "--epsilon", "1/2", "--least", "20")
    run(copy, "-m", "sacofa", "anonymize", "log.csv", "-o", "out.json", *settings)
    run(copy, "-m", "sacofa", "verify", "out.json")
    certificate = json.loads((copy / "out.json.certificate.json").read_text(encoding="utf-8"))
    assert certificate["mechanism"] == "starts"
    assert certificate["epsilon_exact"] == "1/2"
    assert certificate["settings"] == {"epsilon": "1/2", "least": 20}
    released = json.loads((copy / "out.json").read_text(encoding="utf-8"))
    assert {tuple(entry["activities"]) for entry in released["variants"]} == {("a",), ("b",)}


def test_help_tells_of_the_mechanism(copy: Path) -> None:
    """Its name and its settings, with their docstrings, are options."""
    shown = run(copy, "-m", "sacofa", "anonymize", "--help")
    assert "certified, sacofa, laplace, starts" in shown
    assert "--least" in shown
    assert "Activities that fewer cases begin with" in shown


def test_the_audit_knows_the_mechanism(copy: Path) -> None:
    """Attacked through its query, by one who knows both logs: not refuted, and much is seen."""
    arguments = ("--mechanism", "starts", "--epsilon", "1", "--runs", "2000", "--workers", "1")
    shown = run(copy, "-m", "sacofa", "audit", *arguments, "--seed", "1", "--json")
    found = json.loads(shown)
    assert not found["refuted"]
    seen = [entry["certified"] for entry in found["findings"] if entry["view"] == "transcript"]
    assert max(seen) > 0.5
