"""Events are put in the same order whatever the type of their time stamps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sacofa.events import count_variants, open_log
from sacofa.events.cells.duckdb_sql import INSTANT, LONG_WHOLE, SHORT_WHOLE, canonical, is_number
from sacofa.events.duckdb import partitions, source
from sacofa.events.duckdb.stamps import TimeKey

from .test_events import Row, frame, slowly, tied

DAYS = ["1900-01-01", "1969-12-31", "1970-01-01", "2020-02-29", "2262-04-01"]
"""Days that any type of time stamp has."""

RISING = {
    "TINYINT": ["-128", "-1", "0", "1", "127"],
    "BIGINT": [str(-(2**63)), "-1", "0", "5", str(2**53 - 1)],
    "UBIGINT": ["0", "1", "2", str(2**63), str(2**64 - 1)],
    "UINTEGER": ["0", "1", "2", "3", str(2**32 - 1)],
    "DOUBLE": ["-1e20", "-1.5", "0", "1e-300", "1e20"],
    "DECIMAL(38, 9)": ["-1.5", "-0.000000001", "0", "0.000000001", "1e20"],
    "TIME": ["00:00:00", "00:00:00.000001", "10:00", "11:00", "23:59:59.999999"],
    "DATE": DAYS,
    "TIMESTAMP": [
        "-infinity",
        "0001-01-01",
        "1969-12-31 23:59:59.999999",
        "1970-01-01",
        "infinity",
    ],
    "TIMESTAMP WITH TIME ZONE": [*DAYS[:4], "290000-01-01"],
    "TIMESTAMP_NS": [*DAYS[:3], "2020-01-01 00:00:00.000001", "2020-01-01 00:00:00.000002"],
    "TIMESTAMP_MS": [*DAYS[:4], "290000-01-01"],
    "TIMESTAMP_S": DAYS,
    "VARCHAR": [
        "2020-01-01T12:00:00+02:00",
        "2020-01-01T11:00:00Z",
        "2021-05-01",
        "2022-01-01",
        "2023-01-01",
    ],
    "VARCHAR ": ["20251231140500121", "20251231140500122", "20251231140500123", "1e20", "2e20"],
}
"""Time stamps of each type, in order."""


def table(kind: str, rows: list[Row]) -> pa.Table:
    """Give rows, whose time is a place among time stamps of a type, with such time stamps."""
    database: Any = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.register(
        "given",
        pa.table(
            {
                "c": [row[0] for row in rows],
                "a": [row[1] for row in rows],
                "t": [RISING[kind][row[2]] for row in rows],
            }
        ),
    )
    return pa.table(
        database.sql(f"SELECT c AS case_id, a AS activity, t::{kind} AS timestamp FROM given")
    )


@pytest.mark.parametrize("size", [100, 10**9])
@pytest.mark.parametrize("kind", RISING)
def test_time_stamps_of_any_type(kind: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times before 1970, at either end of what a type holds, and endless ones are ordered."""
    monkeypatch.setattr(partitions, "PARTITION_ROWS", size)
    rng = np.random.default_rng(1)
    rows = [(case, name, int(rng.integers(5))) for case, name, _ in tied(600, 5)]
    # Numbers of which only some are times are refused unless they are declared to be an order.
    form = "number" if is_number(kind) else None
    log = open_log(table(kind, rows), order="time", time_format=form)
    assert count_variants(log) == slowly(rows, "time")


def test_the_types_that_become_numbers_are_tried() -> None:
    """DuckDB calls its types as this package does, so none is ordered the slow way by mistake."""
    database: Any = duckdb.connect()
    for kind in (*SHORT_WHOLE, *LONG_WHOLE, "DATE", "TIMESTAMP", INSTANT):
        assert database.execute(f"SELECT typeof(NULL::{kind})").fetchone() == (kind,)
        assert TimeKey.of("x", kind, "number").moment is not None
    for kind in ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        assert database.execute(f"SELECT typeof(NULL::{kind})").fetchone() == (kind,)
        assert canonical("x", kind)[1] == "TIMESTAMP"
    assert TimeKey.of("x", "DOUBLE").moment is None


@pytest.mark.parametrize("order", ["file", "time"])
@pytest.mark.parametrize("size", [100, 10**9])
def test_numbers_that_would_be_too_long(
    order: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where row and activity do not fit into a number, events are ordered all the same."""
    monkeypatch.setattr(partitions, "PARTITION_ROWS", size)
    # The second file begins with row 2^61, so an activity on top of that is too much.
    monkeypatch.setattr(source, "ROW_BITS", 61)
    rows = tied(600, 6)
    frame(rows[:300]).to_parquet(tmp_path / "1.parquet")
    frame(rows[300:]).to_parquet(tmp_path / "2.parquet")
    assert count_variants(open_log(tmp_path, order=order)) == slowly(rows, order)


@pytest.mark.parametrize("activities", [1, 2, 255, 256, 257, 65_536, 65_537])
def test_any_number_of_activities(activities: int) -> None:
    """Activity ids keep their meaning where they need one more bit, or a larger type."""
    names = [f"{i:05}" for i in range(activities)]
    rows: list[Row] = [("1", name, i // 2) for i, name in enumerate(names)]
    rows += [("2", names[-1], 0), ("2", names[0], 0), ("3", names[-1], 1)]
    assert count_variants(open_log(frame(rows), order="time")) == slowly(rows, "time")


ON_SCALES = (
    ("1600000001", "1600000000", "1600000000", "1600000000.0", "", "16e8"),
    ("1600000000001", "1600000000000", " 1600000000000", "", "1600000000000.0"),
    ("1600000000000", "1600000000", "2020-09-13 12:26:40", "1600000000"),
    ("1600000000.000000001", "1600000000", "1600000000"),
    ("2020-09-13 12:26:41", "2020-09-13 12:26:40", "", "2020-09-13 12:26:40"),
)
"""Time stamps that tie: on one scale, on several, and closer to each other than times can be."""


@pytest.mark.parametrize("stamps", ON_SCALES)
@pytest.mark.parametrize("other", ["1600000000", "1600000000000", "1600000000.5", "2020-09-13"])
def test_the_order_of_a_case_does_not_depend_on_the_scales_of_other_stamps(
    tmp_path: Path, stamps: tuple[str, ...], other: str
) -> None:
    """Events are sorted as numbers where all stamps are on one scale, and in the same order."""

    def counted(*more: str) -> Counter[tuple[str, ...]]:
        path = tmp_path / "log.csv"
        rows = [f"1,a{i},{stamp}" for i, stamp in enumerate(stamps)]
        path.write_text("\n".join(["case,activity,timestamp", *rows, *more, ""]))
        return Counter(dict(count_variants(path)))

    assert counted(f"2,b,{other}") - Counter([("b",)]) == counted()


def test_numbers_on_two_scales_that_are_one_time_are_ordered_by_size(tmp_path: Path) -> None:
    """Not by row: another stamp could then change which comes first."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,timestamp\n1,late,1600000000000\n1,early,1600000000\n")
    assert dict(count_variants(path)) == {("early", "late"): 1}
