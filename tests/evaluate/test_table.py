"""Rows are kept whole, and a table is taken up where it was left."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from sacofa.errors import OutputError
from sacofa.evaluate.runs import Row, RunTable

ROW = Row(
    log='a log, with "quotes"',
    digest="0123456789ab",
    series="sacofa",
    mechanism="sacofa",
    epsilon="0.1",
    settings='{"prune": 3}',
    repetition=1,
    seed=7,
    status="done",
    spent=math.inf,
    cases=12,
    variants=3,
    measures={"f_score": 0.1 + 0.2},
)


def test_rows_are_read_back_as_they_were(tmp_path: Path) -> None:
    """Every digit, infinity, and what has no value."""
    path = tmp_path / "new folder" / "runs.csv"
    table = RunTable(path)
    table.append(ROW)
    table.append(replace(ROW, repetition=2, status="timeout", spent=None, measures={}))
    assert RunTable(path).rows() == table.rows()
    assert RunTable(path).rows()[0] == ROW


def test_a_torn_row_is_dropped(tmp_path: Path) -> None:
    """After a power cut the last row may be half there: at any byte."""
    path = tmp_path / "runs.csv"
    RunTable(path).append(ROW)
    one = path.read_bytes()
    RunTable(path).append(replace(ROW, repetition=2))
    two = path.read_bytes()
    for length in range(len(one), len(two)):
        path.write_bytes(two[:length])
        assert RunTable(path).rows() == [ROW]
        assert path.read_bytes() == one


def test_a_table_torn_in_its_header_begins_anew(tmp_path: Path) -> None:
    """There were no rows to lose."""
    path = tmp_path / "runs.csv"
    path.write_bytes(b"log,dig")
    RunTable(path).append(ROW)
    assert RunTable(path).rows() == [ROW]


def test_a_failed_run_gets_another_chance(tmp_path: Path) -> None:
    """A timeout is a result; a failure is not. The last row of a run counts."""
    table = RunTable(tmp_path / "runs.csv")
    table.append(replace(ROW, status="failed"))
    table.append(replace(ROW, repetition=2, status="timeout"))
    assert ROW.key not in table
    assert replace(ROW, repetition=2).key in table
    table.append(ROW)
    assert ROW.key in RunTable(table.path)
    assert RunTable(table.path).rows() == [ROW, replace(ROW, repetition=2, status="timeout")]


@pytest.mark.parametrize("content", ["something,else\n1,2\n", "\x00\n", "log\n"])
def test_other_files_are_left_alone(tmp_path: Path, content: str) -> None:
    """A file that holds no runs is refused and not changed."""
    path = tmp_path / "runs.csv"
    path.write_text(content)
    with pytest.raises(OutputError, match="choose another folder"):
        RunTable(path)
    assert path.read_text() == content


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """A file where the folder should be is told in one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        RunTable(tmp_path / "file" / "runs.csv")
