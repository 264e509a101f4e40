"""What `inspect` says of roles, times and the other columns of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sacofa.events import inspect_log, open_log
from sacofa.events.profile import ColumnProfile, Role

ROWS = [
    ("1", "a", "2024-01-31", "08:00", "x", "4", "Anna Huber"),
    ("1", "b", "2024-01-31", "10:00", "y", "4", "Anna Huber"),
    ("2", "a", "2024-02-01", "08:00", "x", "5", "Peter Maier"),
    ("2", "b", "2024-02-03", "08:00", "x", "5", "Peter Maier"),
    ("3", "a", "2024-02-05", "08:00", "x", "4", "Maria Gruber"),
]
NAMES = ("Fall-Nr.", "Maßnahme", "Datum", "Uhrzeit", "ward", "points", "who")
COLUMNS = (
    ColumnProfile(name="ward", type="text", values=2, constant=False, advice=None),
    ColumnProfile(name="points", type="number", values=2, constant=True, advice=None),
    ColumnProfile(
        name="who", type="text", values=3, constant=True,
        advice="its values look like names of persons", personal="names of persons",
    ),
)  # fmt: skip


def frame() -> pd.DataFrame:
    """The rows as a frame."""
    return pd.DataFrame(ROWS, columns=list(NAMES))


def as_csv(folder: Path) -> Any:
    """The rows as a text table."""
    frame().to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def as_parquet(folder: Path) -> Any:
    """The rows as Parquet."""
    frame().to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


@pytest.mark.parametrize("make", [as_csv, as_parquet, lambda _: frame()])
def test_a_table_is_described(make: Any, tmp_path: Path) -> None:
    """Roles with the reason, times, durations, and what other columns hold."""
    found = inspect_log(open_log(make(tmp_path)))
    assert found.roles == (
        Role(role="case", columns=("Fall-Nr.",), why="name in common use"),
        Role(role="activity", columns=("Maßnahme",), why="name in common use"),
        Role(
            role="timestamp", columns=("Datum", "Uhrzeit"),
            why="a date and a time of day whose names belong together",
        ),
    )  # fmt: skip
    assert found.times is not None
    assert (found.times.first, found.times.last) == ("2024-01-31T08:00:00", "2024-02-05T08:00:00")
    assert found.times.durations == {"median": 7200.0, "p90": 172_800.0, "max": 172_800.0}
    assert [found.lengths[quantile] for quantile in ("0", "0.5", "1")] == [1, 2, 2]
    assert found.columns == COLUMNS and found.persons is None


def test_given_columns_and_persons_are_told(tmp_path: Path) -> None:
    """Persons are counted if a column for them was named."""
    log = open_log(as_csv(tmp_path), timestamp="Datum", person="who", max_cases=1)
    found = inspect_log(log)
    assert found.persons == 3
    assert {role.role: role.why for role in found.roles} == {
        "case": "name in common use", "activity": "name in common use",
        "timestamp": "given", "person": "given",
    }  # fmt: skip


def test_xes_is_described_as_tables_are(tmp_path: Path) -> None:
    """Attributes of cases are constant; those of events may vary."""
    cases = "".join(
        f'<trace><string key="concept:name" value="{case}"/><int key="age" value="{30 + case}"/>'
        + "".join(
            f'<event><string key="concept:name" value="{name}"/><string key="ward" value="{ward}"/>'
            f'<date key="time:timestamp" value="2024-01-0{day}T00:00:00Z"/></event>'
            for day, (name, ward) in enumerate((("a", "x"), ("b", "y")), start=1)
        )
        + "</trace>"
        for case in range(3)
    )
    extension = '<extension name="Time" prefix="time" uri="http://x/time.xesext"/>'
    (tmp_path / "log.xes").write_text(f"<log>{extension}{cases}</log>")
    found = inspect_log(open_log(tmp_path / "log.xes"))
    assert found.times is not None and found.times.durations["max"] == 86_400.0
    by_name = {column.name: column for column in found.columns}
    assert (by_name["case:age"].type, by_name["case:age"].values) == ("number", 3)
    assert by_name["case:age"].constant and by_name["ward"].constant is False


def test_columns_that_name_each_case_look_like_identifiers(tmp_path: Path) -> None:
    """By their values: nothing in the name tells it."""
    rows = [f"{i},a,ref-{i}x{i}" for i in range(40)]
    (tmp_path / "log.csv").write_text("case,activity,thing\n" + "\n".join(rows) + "\n")
    (column,) = inspect_log(open_log(tmp_path / "log.csv")).columns
    assert column.advice is not None and "look like identifiers" in column.advice


def test_numbers_that_only_order_events_are_no_reason_to_refuse(tmp_path: Path) -> None:
    """There are no times to describe then."""
    (tmp_path / "log.csv").write_text("case,activity,time\n1,b,2\n1,a,1\n")
    found = inspect_log(open_log(tmp_path / "log.csv"))
    assert found.times is None and found.frequent == ((("a", "b"), 1),)
