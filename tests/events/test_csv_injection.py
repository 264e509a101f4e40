"""Names that a spreadsheet would compute."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.base.domains import labels_of
from sacofa.events import count_variants, open_log, read_cases
from sacofa.events.csv_injection import escape_formula, unescape_formula
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.released import ReleasedColumn
from tests.written import write_variants

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "＝1", '=HYPERLINK("x")']


@given(st.text(alphabet="'=+-@\t\rab＝", max_size=6))
def test_names_come_back(name: str) -> None:
    """Whatever stands there, also apostrophes that were there before."""
    assert unescape_formula(escape_formula(name)) == name
    assert not escape_formula(name).startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


@given(st.text(max_size=6), st.text(max_size=6))
def test_different_names_stay_different(one: str, other: str) -> None:
    """No two names are written alike."""
    assert (escape_formula(one) == escape_formula(other)) == (one == other)


def test_no_cell_of_a_csv_file_is_computed(tmp_path: Path) -> None:
    """Every cell of a released file begins with something harmless, and all names come back."""
    variants = VariantCounts.of({tuple(FORMULAS): 2, ("harmless", "'quoted"): 1})
    write_variants(variants, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r\n＝＋－＠")]
    assert "harmless" in cells and "'quoted" in cells
    assert count_variants(open_log(tmp_path / "out.csv")) == variants


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("of_case", [False, True])
def test_no_name_of_a_column_is_computed(name: str, of_case: bool, tmp_path: Path) -> None:
    """An attribute may be called anything; it is found again under its name."""
    column = ReleasedColumn(
        name=name, of_case=of_case, kind="string", texts=("x",), codes=np.zeros(2, np.int32)
    )
    path = tmp_path / "out.csv"
    write_variants(VariantCounts.of({("a",): 2}), path, columns=(column,))
    with path.open(newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert not [cell for cell in header if cell[:1] in set("=+-@\t\r\n＝＋－＠")]
    log = open_log(path, attribute=column.key)
    assert log.attributes[0].name == name
    assert labels_of(read_cases(log).attributes[0].known)[0] == "x"


@pytest.mark.parametrize("suffix", ["xes", "parquet", "json"])
def test_other_formats_keep_names_as_they_are(tmp_path: Path, suffix: str) -> None:
    """Nothing computes them there."""
    variants = VariantCounts.of({("=1+1", "@x"): 2})
    write_variants(variants, tmp_path / f"out.{suffix}")
    assert b"'=1+1" not in (tmp_path / f"out.{suffix}").read_bytes()
    assert count_variants(open_log(tmp_path / f"out.{suffix}")) == variants


def test_logs_of_others_are_read_as_they_are(tmp_path: Path) -> None:
    """An apostrophe in a recorded log is part of the name."""
    (tmp_path / "log.csv").write_text("case,activity\n1,'=x\n")
    assert dict(count_variants(open_log(tmp_path / "log.csv"))) == {("'=x",): 1}
