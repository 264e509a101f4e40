"""Dates and times of day in two columns are one time stamp, cell by cell and in every format."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.errors import ColumnsError, ReadError, SettingError, Statement
from sacofa.events import ReadOptions, count_variants, open_log
from sacofa.events.columns import resolve_columns
from sacofa.events.log import read_cases
from sacofa.kernel.unit import ONE_CASE
from sacofa.kernel.variants import VariantCounts

HEADER = "case,activity,UDATE,UTIME"
MORNING, NOON = "2024-01-31T09:30:00", "2024-01-31T12:00:00"


def times_of(source: Any, **options: Any) -> list[str | None]:
    """The times of a log, sorted, with what cannot be read as None."""
    cases = read_cases(open_log(source, **options))
    found = [
        time for part in cases.by_case.map_parts(lambda _, batch: batch.times) for time in part
    ]
    stamps = [np.datetime64(int(time), "us") for time in found]
    return sorted(
        (None if np.isnat(stamp) else str(stamp.astype("M8[s]")) for stamp in stamps), key=str
    )


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    """Write a CSV file."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("date", "time", "stamp"),
    [
        ("20240131", "093000", MORNING),
        ("20240131", "93000", MORNING),
        ("20240131", "09:30:00", MORNING),
        ("31.01.2024", "9:30", MORNING),
        ("31.01.2024 00:00", "30.12.1899 09:30", MORNING),
        ("2024-01-31 00:00:00", "1899-12-30 09:30:00", MORNING),
        ("1/31/2024 12:00:00 AM", "9:30:00 AM", MORNING),
        ("31 Jan 2024", "9.30 Uhr", MORNING),
        ("2024-01-31", "10:30:00+01:00", MORNING),
        ("20240131", "120000", NOON),
        ("2024-01-31", "12:00 PM", NOON),
        ("2024-01-31", "0.500000", NOON),
        ("20240131", "000000", "2024-01-31T00:00:00"),
        ("20240131", "0", "2024-01-31T00:00:00"),
        ("20240131", "930", "2024-01-31T00:09:30"),
        ("00000000", "000000", None),
        ("20240131", "", None),
        ("", "093000", None),
        ("2024-01-31 08:00:00", "09:30:00", None),
        ("2024-01-31", "soon", None),
        ("2024-01-31", "99:99", None),
    ],
)
def test_a_date_and_a_time_of_day_are_one_time_stamp(
    date: str, time: str, stamp: str | None, tmp_path: Path
) -> None:
    """However both are written; a half that is missing or unreadable is never made up."""
    path = write(tmp_path / "log.csv", f"1,a,{date},{time}", "1,b,20240131,120000")
    assert times_of(path) == sorted([stamp, NOON], key=str)


@pytest.mark.parametrize("time", ["930", "9", "1423", "0.25", "0,25"])
def test_a_time_of_day_that_can_be_read_in_two_ways_is_refused_with_its_row(
    time: str, tmp_path: Path
) -> None:
    """A pattern decides; so does a column of SAP."""
    path = write(tmp_path / "log.csv", "1,a,20240131,12:00", f'1,b,20240131,"{time}"',
                 header="case,activity,Datum,Uhrzeit")  # fmt: skip
    with pytest.raises(ReadError, match="row 2 has a time of day that can be read in two ways"):
        times_of(path)


def test_a_pattern_says_how_both_columns_are_written(tmp_path: Path) -> None:
    """One after the other, with a blank between them; zeros that numbers lose are put back."""
    path = write(tmp_path / "log.csv", "1,a,01/02/24,930", "1,b,01/02/24,0", header="c,d,e,f")
    named: dict[str, Any] = {"case": "c", "activity": "d", "timestamp": ["e", "f"]}
    assert times_of(path, **named, time_format="%d/%m/%y %H%M") == [
        "2024-02-01T00:00:00", "2024-02-01T09:30:00",
    ]  # fmt: skip
    assert times_of(path, **named, time_format="%m/%d/%y %H%M%S") == [
        "2024-01-02T00:00:00", "2024-01-02T00:09:30",
    ]  # fmt: skip
    with pytest.raises(SettingError, match="a pattern if date and time of day are two columns"):
        open_log(path, **named, time_format="epoch")


DATES = [datetime.date(2024, 1, 31)] * 2
CLOCKS = [datetime.time(9, 30), datetime.time(12)]
FRAMES: dict[str, Callable[[], Any]] = {
    "pandas objects": lambda: pd.DataFrame({"UDATE": DATES, "UTIME": CLOCKS}),
    "pandas types": lambda: pd.DataFrame(
        {"UDATE": pd.to_datetime(DATES), "UTIME": ["9:30:00", "12:00:00"]}
    ),
    "whole numbers": lambda: pd.DataFrame({"UDATE": [20240131] * 2, "UTIME": [93000, 120000]}),
    "floats": lambda: pd.DataFrame({"UDATE": [20240131.0] * 2, "UTIME": [93000.0, 120000.0]}),
    "parts of days": lambda: pl.DataFrame({"UDATE": DATES, "UTIME": [9.5 / 24, 0.5]}),
    "polars types": lambda: pl.DataFrame({"UDATE": DATES, "UTIME": CLOCKS}),
    "arrow": lambda: pl.DataFrame({"UDATE": DATES, "UTIME": CLOCKS}).to_arrow(),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_and_parquet_files(name: str, tmp_path: Path) -> None:
    """Typed columns are joined as texts are."""
    frame = FRAMES[name]()
    if isinstance(frame, pd.DataFrame):
        frame = frame.assign(case=["1", "1"], activity=["a", "b"])
    elif isinstance(frame, pl.DataFrame):
        frame = frame.with_columns(case=pl.Series(["1", "1"]), activity=pl.Series(["a", "b"]))
        frame.write_parquet(tmp_path / "log.parquet")
        assert times_of(tmp_path / "log.parquet") == [MORNING, NOON]
    else:
        frame = frame.append_column("case", [["1", "1"]]).append_column("activity", [["a", "b"]])
    assert times_of(frame) == [MORNING, NOON]
    assert times_of(frame, timestamp=("UDATE", "UTIME")) == [MORNING, NOON]


def test_json_lines_are_joined_if_somebody_says_so(tmp_path: Path) -> None:
    """Which fields the first line has follows from one case, so nothing is recognised there."""
    path = tmp_path / "log.jsonl"
    rows = [
        {"case": 1, "activity": name, "UDATE": 20240131, "UTIME": time}
        for name, time in (("a", 93000), ("b", "12:00"))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ReadError, match=r"several fields may be the timestamp \(UDATE, UTIME\)"):
        open_log(path)
    assert times_of(path, timestamp=["UDATE", "UTIME"]) == [MORNING, NOON]


def test_starts_are_joined_as_time_stamps_are(tmp_path: Path) -> None:
    """By their names, or as they are given."""
    path = write(
        tmp_path / "log.csv", "1,a,2024-01-31,09:30,2024-01-31,12:00",
        header="case,activity,Start Date,Start Time,End Date,End Time",
    )  # fmt: skip
    log = open_log(path)
    assert log.columns is not None and log.has_starts
    assert (log.columns.timestamp, log.columns.start) == (
        "End Date+End Time",
        "Start Date+Start Time",
    )
    given = open_log(path, timestamp=("End Date", "End Time"), start=("Start Date", "Start Time"))
    for each in (log, given):
        batches = read_cases(each).by_case.map_parts(lambda _, batch: (batch.starts, batch.times))
        ((starts, times),) = batches
        assert times[0] - starts[0] == 9_000_000_000


@pytest.mark.parametrize(
    ("present", "stamp"),
    [
        (["UDATE", "UTIME"], ("UDATE", "UTIME")),
        (["ERZET", "ERDAT"], ("ERDAT", "ERZET")),
        (["AEDAT", "AEZET"], ("AEDAT", "AEZET")),
        (["Datum", "Uhrzeit"], ("Datum", "Uhrzeit")),
        (["Datum", "Zeit"], ("Datum", "Zeit")),
        (["Date", "Time"], ("Date", "Time")),
        (["Event Date", "Event_Time"], ("Event Date", "Event_Time")),
        (["Enddatum", "Endzeit"], ("Enddatum", "Endzeit")),
        (["Timestamp", "Date", "Time"], "Timestamp"),
        (["Datum", "Dauer"], "Datum"),
        (["Time"], "Time"),
    ],
)
def test_pairs_are_recognised_by_their_names(present: list[str], stamp: Any) -> None:
    """A whole time stamp comes first."""
    columns = resolve_columns("log", ["case", "activity", *present], ReadOptions())
    assert columns.columns_of(columns.timestamp) == stamp


@pytest.mark.parametrize(
    ("header", "options", "note"),
    [
        ("case,activity,Datum,Uhrzeit", {},
         'the date in column "Datum" and the time of day in column "Uhrzeit" are joined'),
        ("case,activity,Datum,Uhrzeit", {"timestamp": "Datum"},
         'the time of day in column "Uhrzeit" is not used'),
        ("case,activity,Buchungsdatum,Uhrzeit", {"timestamp": "Buchungsdatum"},
         'the time of day in column "Uhrzeit" is not used'),
        ("case,activity,Datum,Uhrzeit", {"timestamp": ("Datum", "Uhrzeit")}, ""),
        ("case,activity,timestamp,Uhrzeit", {}, ""),
    ],
)  # fmt: skip
def test_what_is_joined_or_not_is_announced(
    header: str, options: dict[str, Any], note: str, tmp_path: Path
) -> None:
    """A date is never used alone in silence where a time of day is there."""
    path = write(tmp_path / "log.csv", "1,a,2024-01-31,09:30", header=header)
    for read in (count_variants, read_cases):
        told: list[Statement] = []
        read(open_log(path, **options), notify=told.append)
        assert [line[: len(note)] for line in map(str, told)] == ([note] if note else [])


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    """Columns that are not there, three of them, one twice, and formats without columns."""
    path = write(tmp_path / "log.csv", "1,a,20240131,093000")
    with pytest.raises(ColumnsError, match='no column "ZEIT"'):
        open_log(path, timestamp=("UDATE", "ZEIT"))
    for wrong in (("a", "b", "c"), ("a", "a")):
        with pytest.raises(
            SettingError, match="one column, or the columns of the date and of the time"
        ):
            ReadOptions(timestamp=wrong)
    xes = tmp_path / "log.xes"
    xes.write_text("<log/>")
    with pytest.raises(SettingError, match="one attribute for XES"):
        open_log(xes, timestamp=("a", "b"))


stamps = st.tuples(
    st.sampled_from(["20240131", "31.01.2024", "2024-01-31", "00000000", "", "30.01.2024"]),
    st.sampled_from(["093000", "93000", "930", "9:30", "000000", "", "soon", "1:00 PM", "0.50000"]),
)
event_logs = st.lists(
    st.builds(
        Event,
        case=st.sampled_from("1234"),
        activity=st.sampled_from(["a", "b"]),
        time=stamps.map("|".join),
    ),
    min_size=4,
    max_size=12,
)


@given(rows=event_logs)
@settings(max_examples=25, deadline=None, database=None)
def test_what_two_cells_are_joined_to_depends_on_no_other_row(
    rows: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What two cells are joined to depends on no other row."""
    path = tmp_path_factory.mktemp("logs") / "log.csv"

    def read(log: EventLog) -> VariantCounts:
        lines = [f"{e.case},{e.activity},{(e.time or '|').replace('|', ',')}" for e in log]
        return count_variants(open_log(write(path, *lines)))

    assert not list(check_neighbours(read, [rows], unit=ONE_CASE))
