"""Several Parquet files: a column has one type in all of them, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sacofa.errors import ReadError
from sacofa.events import count_variants, open_log

TIMES = pd.to_datetime(["2025-01-01", "2025-01-02"]).as_unit("us")


def write(folder: Path, *cases: list[Any], **more: list[Any]) -> list[Path]:
    """Write a file for each list of cases."""
    paths = [folder / f"{number}.parquet" for number in range(len(cases))]
    for path, mine in zip(paths, cases, strict=True):
        frame = pd.DataFrame({"case": mine, "activity": "a", "time": TIMES})
        frame.assign(note=[[{"case": mine[0]}]] * 2, **more).to_parquet(path)
    return paths


@pytest.mark.parametrize("other", [["007", "9"], ["x", "Ann"], list(TIMES), [True, False]])
def test_a_column_of_two_types_is_refused(other: list[Any], tmp_path: Path) -> None:
    """The first file would say what is read in all: 007 would be 7. Nothing of a case is shown."""
    paths = write(tmp_path, [7, 8], other)
    for order in (paths, paths[::-1]):
        with pytest.raises(
            ReadError, match=r'column "case" is .* in the first file: write'
        ) as caught:
            open_log(order)
        assert "Ann" not in str(caught.value) and "007" not in str(caught.value)
    # What is not read may be anything.
    renamed = write(tmp_path, ["1", "2"], ["3", "4"], person=[1, 2])
    pd.read_parquet(renamed[1]).assign(person="x").to_parquet(renamed[1])
    assert count_variants(renamed).cases == 4


def test_numbers_mean_the_same_in_all_files(tmp_path: Path) -> None:
    """Where one is missing or a fraction, others are what they are in any order of files."""
    whole, parts = [7, 8], [7.0, 8.5]
    paths = write(tmp_path, whole, parts)
    for order in (paths, paths[::-1]):
        assert sorted(count_variants(order)) == [(("a",), 2), (("a", "a"), 1)]


@pytest.mark.parametrize("other", ["int32", "int64", "float64"])
def test_short_floats_give_their_type_to_no_other_file(other: str, tmp_path: Path) -> None:
    """They tell 16777216 and 16777217 not apart: two cases would become one."""
    paths = write(tmp_path, [16777216, 16777217], [1, 2])
    frames = [pd.read_parquet(path) for path in paths]
    for path, frame, kind in zip(paths, frames, (other, "float32"), strict=True):
        frame.astype({"case": kind}).to_parquet(path)
    for order in (paths, paths[::-1]):
        with pytest.raises(ReadError, match=r'column "case" is .* in the first file: write'):
            open_log(order)
    frames[0].astype({"case": "float32"}).iloc[:1].to_parquet(paths[0])
    assert count_variants(paths).cases == 3


def test_a_column_that_a_file_lacks(tmp_path: Path) -> None:
    """It is refused when the log is opened."""
    paths = write(tmp_path, ["1", "2"], ["3", "4"])
    pd.read_parquet(paths[1]).drop(columns="time").to_parquet(paths[1])
    with pytest.raises(ReadError, match=r'1\.parquet: column "time" is not in all files'):
        open_log(paths)


@pytest.mark.parametrize("engine", [None, "spark"])
@pytest.mark.parametrize("more", ["lifecycle:transition", "start time", "case:unfinished"])
def test_no_file_says_alone_what_others_hold(
    more: str, engine: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """That of one case, if it came first, would decide how all others are read."""
    if engine == "spark":
        request.getfixturevalue("session")
    paths = write(tmp_path, ["1", "2"], ["3", "4"])
    pd.read_parquet(paths[1]).assign(**{more: "x", "other": "y"}).to_parquet(paths[1])
    for order in (paths, paths[::-1]):
        with pytest.raises(ReadError, match=r"not in all files|other columns than the first file"):
            open_log(order, engine=engine)
    # What is no role may be in one file alone.
    pd.read_parquet(paths[1]).drop(columns=more).to_parquet(paths[1])
    assert count_variants(open_log(paths, engine=engine)).cases == 4
