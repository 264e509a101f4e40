"""`sacofa evaluate` from outside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sacofa.cli import main
from sacofa.evaluate.registry import BY_NAME
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants

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
    assert measures.pop("secret") is True
    named = {name: one for name, one in BY_NAME.items() if not one.timed}
    assert list(measures) == [*named, "limit"]
    assert set(measures["limit"]) == {name for name, one in named.items() if one.reference}
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
    said = " ".join(out.split())
    assert "1 − earth mover's distance" in said
    assert re.search(r"Steps [\d.]+ [\d.]+ less ", said)
    assert re.search(r"Similarity [\d.]+ [\d.]+ more ", said)
    assert "Confidential" in out
    assert err == ""


@pytest.fixture
def timed(tmp_path: Path) -> tuple[Path, Path]:
    """A log with times, and a release of it that takes twice as long."""
    for name, hours in (("original.csv", 1), ("release.parquet", 2)):
        times = np.tile([0, hours * 3600, hours * 7200], 6)
        write_variants(VariantCounts.of({("a", "b", "c"): 6}), tmp_path / name, times=times)
    return tmp_path / "original.csv", tmp_path / "release.parquet"


def test_times_and_indicators(timed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Times of both are read, and what people ask of them is answered."""
    slow = "median time from a to first b"
    short = "share with time from start to end under 3 h"
    asked = ("--indicator", slow, "--indicator", short)
    assert run("evaluate", *timed, "--json", *asked) == 0
    measures = json.loads(capsys.readouterr().out)
    untold = {"values", "values_by_activity", "value_pairs", "decisions"}
    told = [name for name in BY_NAME if name not in untold]
    assert list(measures) == ["secret", *told, "limit", "indicators"]
    assert measures["mean_cycle"] == pytest.approx(1)
    assert measures["limit"]["mean_cycle"] == 0
    assert measures["indicators"] == {
        slow: {"original": 3600, "release": 7200},
        short: {"original": 1, "release": 0},
    }
    assert run("evaluate", *timed, *asked) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"{slow} 1 h 2 h {short} 1.000 0.000" in out


def test_indicators_that_cannot_be(
    timed: tuple[Path, Path], original: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what is wrong."""
    log, release = timed
    assert run("evaluate", log, release, "--indicator", "how long") == 2
    assert run("evaluate", log, release, "--indicator", "mean time from a to x") == 2
    assert run("evaluate", log, original, "--indicator", "mean time from a to b") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "such as: median time" in lines[0]
    assert "one of the activities" in lines[1]
    assert "unless both logs have times" in lines[2]


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
