"""A preview shows the first events; cases whose times contradict their order are counted."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.events import ReadOptions, open_log
from sacofa.events.profile import COLUMNS, ROWS, count_disordered, preview
from sacofa.examples import running_example
from tests.written import write_variants

events = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), min_size=1, max_size=12
)


@settings(max_examples=15, deadline=None)
@given(events)
def test_cases_whose_times_go_back_are_counted(
    tmp_path_factory: pytest.TempPathFactory, log: list[tuple[int, int | None]]
) -> None:
    """In the order of the file, whichever is asked for; events without a time say nothing."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    rows = (f"{case},a,{'' if day is None else f'2025-01-0{day + 1}'}" for case, day in log)
    path.write_text("\n".join(["case,activity,time", *rows]) + "\n")
    cases: dict[int, list[int]] = {}
    for case, day in log:
        cases.setdefault(case, []).extend([] if day is None else [day])
    wrong = sum(any(b < a for a, b in pairwise(days)) for days in cases.values())
    timed = any(day is not None for _, day in log)
    for order in ("time", "file"):
        found = count_disordered(open_log(path, order=order))
        assert found in ((wrong,) if timed else (0, None))


@pytest.mark.parametrize("suffix", ["csv", "xes", "parquet"])
def test_the_first_events_are_shown(tmp_path: Path, suffix: str) -> None:
    """With the names and types of their columns."""
    path = tmp_path / f"log.{suffix}"
    write_variants(running_example(), path)
    shown = preview(path, ReadOptions())
    names = {column.name: column.type for column in shown.columns}
    assert names["concept:name"] == "text"
    assert names["time:timestamp"] == "time"
    place = list(names).index("concept:name")
    assert [row[place] for row in shown.rows[:3]] == ["Register", "Triage", "Surgery"]
    assert len(shown.rows) == ROWS


def test_wide_tables_are_cut_and_say_so(tmp_path: Path) -> None:
    """Long values, too; counted variants have no events to show."""
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(50)]
    path.write_text(",".join(names) + "\n" + ",".join(["x" * 500] * 50) + "\n")
    shown = preview(path, ReadOptions())
    assert (len(shown.columns), shown.left_out) == (COLUMNS, 50 - COLUMNS)
    assert max(len(value or "") for value in shown.rows[0]) <= 80
    write_variants(running_example(), tmp_path / "log.json")
    assert not preview(tmp_path / "log.json", ReadOptions()).columns


def test_what_is_staged_is_shown_too(tmp_path: Path) -> None:
    """Letters as they were meant, whichever encoding the file is in."""
    path = tmp_path / "log.csv"
    path.write_bytes("Fall;Tätigkeit\n1;Prüfen\n".encode("cp1252"))
    shown = preview(path, ReadOptions(encoding="cp1252"))
    assert [column.name for column in shown.columns] == ["Fall", "Tätigkeit"]
    assert shown.rows == (("1", "Prüfen"),)
