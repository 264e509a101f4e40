"""Time stamps as people's programs write them, and the law that they are read by."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, check_neighbours
from sacofa.cases import NO_TIME, gather
from sacofa.errors import ReadError, SettingError
from sacofa.logs import count_variants, open_log, read_cases
from sacofa.logs.duckdb import survey
from sacofa.logs.duckdb.stamps import text_time
from sacofa.mechanisms import Certified
from sacofa.release import anonymize, publish
from sacofa.unit import ONE_CASE

from .ways import FILES, write_csv


def times_of(folder: Path, stamps: list[str], **options: Any) -> list[str | None]:
    """Write stamps as the events of one case in a CSV file, and give the times read from it."""
    rows = [Event(case="1", activity=f"a{i}", time=stamp) for i, stamp in enumerate(stamps)]
    cases = read_cases(open_log(write_csv(folder / "log.csv", rows), **options))
    assert cases.by_case is not None
    batch = gather(cases.by_case)
    assert batch.times is not None
    read: list[str | None] = [""] * len(stamps)
    for activity, time in zip(batch.activity_ids.tolist(), batch.times.tolist(), strict=True):
        place = int(batch.activities[activity][1:])
        known = None if time == NO_TIME else datetime.fromtimestamp(time / 1e6, UTC)
        read[place] = None if known is None else known.isoformat()[:19]
    return read


NEW_YEARS_EVE = "2025-12-31T14:05:00"

FORMS = [
    "2025-12-31T14:05:00", "2025-12-31 14:05", "2025/12/31 14:05:00", "2025-12-31T15:05:00+01:00",
    "2025-12-31 15:05:00 +0100", "2025-12-31 14:05:00,000", "2025-12-31 2:05 PM",
    "31.12.2025 14:05", "31.12.2025, 14:05 Uhr", "31.12.25 14:05:00", "31/12/2025 14:05",
    "31-12-2025 14:05:00", "31 Dec 2025 14:05", "31-DEC-25 14.05.00", "Dec 31, 2025 2:05:00 PM",
    "31. Dezember 2025 14:05", "Mittwoch, 31. Dezember 2025, 14:05",
    "Wed, 31 Dec 2025 14:05:00 GMT", "20251231T140500", "20251231140500", "1767189900",
    "1767189900000", "1767189900000000",
]  # fmt: skip


def test_one_moment_in_many_forms(tmp_path: Path) -> None:
    """A column in which every stamp is written otherwise is read all the same."""
    assert times_of(tmp_path, FORMS) == [NEW_YEARS_EVE] * len(FORMS)


@pytest.mark.parametrize("order", ["day", "month", "either"])
def test_a_quick_way_reads_the_same(order: Any) -> None:
    """However the first stamp looks, all are read as without the hint."""
    odd = ["1.2.2025", "31/12/2025 14:05", "12/31/2025 2:05 PM", "12/31/2025 14:05 PM", "31/12/25",
           "1-2-2025 0:05:07", "1.2.2025 25:00", "30.2.2025", "1/2/2025 12:00 AM",
           "1/2/2025 0:05 AM",
           "1/2/2025 24:00", "3/4/0025", "31.12.2025 14:05", "x 1.2.2025", "1.2.2025 "]  # fmt: skip

    def read(like: str | None) -> list[Any]:
        values = ", ".join(f"('{stamp}')" for stamp in [*odd, *FORMS])
        database = duckdb.connect()
        database.execute("SET TimeZone = 'UTC'")
        sql = f"SELECT epoch_us({text_time('c', order, like)}) FROM (VALUES {values}) AS t(c)"
        return database.execute(sql).fetchall()

    plain = read(None)
    for like in ("1.2.2025", "1/2/2025 10:00", "1/2/2025 10:00 AM", "1-2-2025 10:00:00", "31 Dec"):
        assert read(like) == plain, like


def test_a_month_may_come_first(tmp_path: Path) -> None:
    """One stamp that can be read in one way only tells how the others are meant."""
    read = times_of(tmp_path, ["03/04/2025 1:05 PM", "12/31/2025 12:00 AM", "5/6/25"])
    assert read == ["2025-03-04T13:05:00", "2025-12-31T00:00:00", "2025-05-06T00:00:00"]
    read = times_of(tmp_path, ["03/04/2025 13:05", "31/12/2025 00:00", "5/6/25"])
    assert read == ["2025-04-03T13:05:00", "2025-12-31T00:00:00", "2025-06-05T00:00:00"]


def test_nobody_guesses_day_and_month(tmp_path: Path) -> None:
    """Where nothing tells, or stamps contradict each other, somebody has to say it."""
    with pytest.raises(ReadError, match=r'"03/04/2025": say --time-format day-first or'):
        times_of(tmp_path, ["03/04/2025", "05/06/2025"])
    assert times_of(tmp_path, ["03/04/2025"], time_format="month-first") == ["2025-03-04T00:00:00"]
    assert times_of(tmp_path, ["03/04/2025"], time_format="%m/%d/%Y") == ["2025-03-04T00:00:00"]
    with pytest.raises(ReadError, match=r'"31/12/2025".*"12/31/2025".*--time-format'):
        times_of(tmp_path, ["31/12/2025", "12/31/2025"])
    read = times_of(tmp_path, ["31/12/2025", "12/31/2025"], time_format="day-first")
    assert read == ["2025-12-31T00:00:00", None]


@pytest.mark.parametrize(
    ("form", "stamp"),
    [("excel", "46022.586805555555"), ("epoch", "1767189900"), ("epoch-ms", "1767189900000"),
     ("epoch-us", "1767189900000000"), ("iso", "2025-12-31 14:05"),
     ("%H:%M %d.%m.%y", "14:05 31.12.25")],
)  # fmt: skip
def test_a_form_can_be_declared(form: str, stamp: str, tmp_path: Path) -> None:
    """What is declared holds for the whole column, and other stamps count as missing."""
    assert times_of(tmp_path, [stamp, "soon"], time_format=form) == [NEW_YEARS_EVE, None]


def test_numbers_that_count_nothing_known(tmp_path: Path) -> None:
    """They are an order; where times are asked for, somebody has to say what they count."""
    rows = [Event(case="1", activity=f"{i}", time=f"{46000 - i}") for i in range(3)]
    path = write_csv(tmp_path / "log.csv", rows)
    assert list(count_variants(path)) == [(("2", "1", "0"), 1)]
    with pytest.raises(ReadError, match=r'"45998" counts\. Say it with --time-format excel'):
        read_cases(path)
    assert times_of(tmp_path, ["7", "8"], time_format="number") == [None, None]


def test_one_empty_stamp_does_not_stop_the_rest(tmp_path: Path) -> None:
    """It is counted, said to the holder of the log, and its event comes last in its case."""
    rows = [Event(case="1", activity="a", time=""), Event(case="1", activity="b", time="1.2.2025")]
    told: list[str] = []
    counted = count_variants(write_csv(tmp_path / "log.csv", rows), notify=told.append)
    assert list(counted) == [(("b", "a"), 1)]
    assert told == ["1 event has no time stamp that can be read: it comes last in its case"]


def test_what_cannot_be_declared_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A form is a name or a pattern, and only of tables."""
    path = write_csv(tmp_path / "log.csv", [Event(case="1", activity="a", time="1.2.2025")])
    with pytest.raises(SettingError, match=r'Did you mean "day-first"\?'):
        open_log(path, time_format="dayfirst")
    with pytest.raises(SettingError, match="a pattern of strptime"):
        open_log(path, time_format="%Q")
    (tmp_path / "log.xes").write_text("<log/>")
    with pytest.raises(SettingError, match="left out for xes"):
        open_log(tmp_path / "log.xes", time_format="iso")


def test_the_certificate_says_what_was_taken_from_the_column(tmp_path: Path) -> None:
    """Which of day and month comes first is assumed to be public, unless it was declared."""
    path = write_csv(tmp_path / "log.csv", [Event(case="1", activity="a", time="31/12/2025")])
    found = publish(path, Certified(epsilon=1), tmp_path / "found.csv").certificate
    assert any("day and month" in text for text in found.assumptions)
    assert found.assumptions == anonymize(path, Certified(epsilon=1)).certificate.assumptions
    declared = anonymize(open_log(path, time_format="day-first"), Certified(epsilon=1))
    assert not any("day and month" in text for text in declared.certificate.assumptions)


slashed = st.builds(
    Event,
    case=st.sampled_from("1234"),
    activity=st.sampled_from("ab"),
    time=st.sampled_from(["1/2/2025", "2/1/2025", "3/3/2025", "13/1/2025", "1/13/2025", "5.1.25"]),
)  # fmt: skip


def try_law() -> Counter[str]:
    """Take cases out of logs with open stamps; count logs that were read, and broken laws."""
    seen: Counter[str] = Counter()

    @given(rows=st.lists(slashed, min_size=2, max_size=8))
    @settings(
        max_examples=8, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def law(rows: list[Event]) -> None:
        with TemporaryDirectory() as folder:

            def read(log: list[Event]) -> Any:
                counted = FILES["csv"].read(Path(folder), log, order="time")
                seen["read"] += 1
                return counted

            seen["broken"] += len(list(check_neighbours(read, [rows], unit=ONE_CASE)))  # type: ignore[arg-type]

    law()
    return seen


def test_neighbours_stay_neighbours() -> None:
    """A case that tells which of day and month comes first changes how no other is read."""
    seen = try_law()
    assert seen["read"] > 8 and not seen["broken"]


def test_a_guess_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Day first where nothing else tells: one case then turns all others round."""
    monkeypatch.setattr(
        survey, "_day_month",
        lambda database, name, column, rows, told: "month" if told & 2 else "day",
    )  # fmt: skip
    assert try_law()["broken"]
