"""`sacofa inspect` as a person calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run


def sacofa(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sacofa", *map(str, arguments)], capture_output=True, text=True
    )


@pytest.mark.parametrize("suffix", ["xes.gz", "parquet"])
def test_json_has_the_papers_figures(suffix: str, logs: Path) -> None:
    """The object has the sizes that the paper gives."""
    answer = sacofa("inspect", logs / f"sepsis.{suffix}", "--json")
    found = json.loads(answer.stdout)
    assert [found[key] for key in ("events", "activities", "cases", "variants")] == [
        15_214, 16, 1_050, 846,
    ]  # fmt: skip
    assert found["lengths"]["0.5"] == 13
    assert found["frequent"][0]["count"] == 35
    assert answer.stderr == ""


def test_a_header_is_given_where_no_line_says_it(tmp_path: Path) -> None:
    """Its names have commas between them; two that are the same are refused as they were given."""
    (tmp_path / "log.csv").write_text("1;a;2025-01-01\n1;b;2025-01-02\n")
    names = ("--header", "case, activity,timestamp")
    found = json.loads(sacofa("inspect", tmp_path / "log.csv", *names, "--json").stdout)
    assert found["secret"] is True
    assert (found["events"], found["cases"], found["activities"]) == (2, 1, 2)
    answer = sacofa("inspect", tmp_path / "log.csv", "--header", "case,activity,case")
    assert "--header (case,activity,case) must be different names" in answer.stderr


def test_a_person_reads_a_table(tmp_path: Path) -> None:
    """Sizes and variants are shown as they are, also names with brackets, and called secret."""
    (tmp_path / "log.csv").write_text("case,activity\n1,[bold]x\n2,[bold]x\n3,\n")
    assert sacofa("inspect", tmp_path / "log.csv").stderr.count("row 3 has no activity") == 1
    (tmp_path / "log.csv").write_text("case,activity,time\n1,[bold]x,\n2,[bold]x,\n3,,\n")
    answer = sacofa("inspect", tmp_path / "log.csv").stdout
    assert "[bold]x" in answer and "(no events)" in answer and "Confidential" in answer


@pytest.mark.parametrize(
    ("text", "arguments", "status"),
    [
        (None, [], 1),
        ("", [], 1),
        ("case,activity\n", [], 1),
        ("case,what\n1,a\n", [], 1),
        ("case,activity\n1,a\n", ["--order", "size"], 2),
        ("case,activity\n1,a\n", ["--max-cases", "0", "--person", "case"], 2),
        ("case,activity\n1,a\n", ["--frequent", "x"], 2),
    ],
)
def test_bad_input_is_one_line(
    text: str | None, arguments: list[str], status: int, tmp_path: Path, run: Run
) -> None:
    """Wrong data ends with status 1, a wrong call with 2, each with one line on stderr."""
    if text is not None:
        (tmp_path / "log.csv").write_text(text)
    answer = run("inspect", tmp_path / "log.csv", *arguments)
    assert answer.status == status
    assert answer.err.startswith("sacofa: ") and answer.err.count("\n") == 1
    assert answer.out == ""
