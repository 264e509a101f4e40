"""`sacofa evaluate` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.evaluation.registry import BY_NAME
from sacofa.logs import write_variants
from sacofa.variants import VariantCounts

ORIGINAL = VariantCounts.of({("a", "b", "c"): 6, ("a", "c"): 4})


def run(*arguments: object) -> int:
    """Run the program and give its exit status."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """An original log, as a file."""
    path = tmp_path / "original.xes"
    write_variants(ORIGINAL, path)
    return path


def test_json(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every measure, as one object."""
    release = tmp_path / "release.csv"
    write_variants(VariantCounts.of({("a", "b", "c"): 5}), release)
    assert run("evaluate", original, release, "--json") == 0
    measures = json.loads(capsys.readouterr().out)
    assert list(measures) == [*BY_NAME, "limit"]
    assert set(measures["limit"]) == {name for name, one in BY_NAME.items() if one.reference}
    assert measures["mass_kept"] == 0.6
    assert measures["size_error"] == 0.5


def test_a_table_that_says_it_is_secret(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty release is a result, not an error; nothing else is printed."""
    release = tmp_path / "release.json"
    write_variants(VariantCounts.of({}, activities=["a"]), release)
    assert run("evaluate", original, release) == 0
    out, err = capsys.readouterr()
    assert "1 − earth mover's distance" in " ".join(out.split())
    assert "Secret" in out
    assert err == ""


def test_unreadable_files(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says which file and why."""
    broken = tmp_path / "broken.xes"
    broken.write_text("<log><trace>")
    assert run("evaluate", original, broken) == 1
    assert run("evaluate", tmp_path / "missing.xes", original) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "broken.xes" in lines[0]
    assert "there is no such file" in lines[1]


def test_an_original_without_cases(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to compare with."""
    empty = tmp_path / "empty.json"
    write_variants(VariantCounts.of({}, activities=["a"]), empty)
    assert run("evaluate", empty, original) == 1
    assert "has no cases" in capsys.readouterr().err
