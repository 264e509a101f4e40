"""Time stamps as people's programs write them, and the law that they are read by."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, check_neighbours
from sacofa.base.batches import gather
from sacofa.errors import ReadError, SettingError
from sacofa.events import Log, count_variants, open_log, read_cases
from sacofa.events.duckdb import survey
from sacofa.events.duckdb.stamps import define_times
from sacofa.events.source import OPEN_ORDER
from sacofa.kernel.cases import NO_TIME
from sacofa.kernel.unit import ONE_CASE
from sacofa.mechanisms import Certified
from sacofa.release import anonymize, publish

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


def read_stamps(stamps: list[str], *readings: str) -> list[tuple[Any, ...]]:
    """Give what SQL makes of each stamp, in column `c`."""
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    define_times(database)
    given = "SELECT c, try_cast(c AS TIMESTAMPTZ) AS iso FROM (SELECT unnest(?) AS c)"
    return database.execute(f"SELECT c, {', '.join(readings)} FROM ({given})", [stamps]).fetchall()


CLOCKS = [
    "", " ", " 9", " 9:05", " 9:5", " 09:05", "  9:05", "\t9:05", ", 9:05", "T9:05", " 9:05 ",
    " 9.5", " 14:05", " 14:05:6", " 14:05:06", " 14:05:06.5", " 14:60", " 23:59:60", " 24:00",
    " 0:00", " 2:05 PM", " 2:05PM", " 02:05 pm", " 2:5 PM", " 14:05 PM", " 0:05 AM", " 12:05 am",
    " 2:05 p.m.", " 2:05:07 PM", " 2:05:7 PM", " 14:05 +02", " 14:05Z", " 14:05 Uhr", " 14:05 x",
]  # fmt: skip
DAYS = [
    ("1", "2"), ("03", "04"), ("31", "12"), ("12", "31"), ("9", "9"), (" 13", "13"), ("0", "1"),
    ("\u00a03", "4"), ("\u2003 3", "4"),
]  # fmt: skip
YEARS = ["2025", "25", "205", "0025", "20255", "5"]


def odd_stamps() -> list[str]:
    """Stamps that look nearly the same: dates of many kinds, each with each clock."""
    return [
        f"{first}{mark}{second}{again}{year}{clock}"
        for first, second in DAYS
        for mark, again in product("./-", repeat=2)
        for year, clock in product(YEARS, CLOCKS)
    ]


@pytest.mark.parametrize("order", ["day", "month", "either"])
def test_a_quick_way_reads_the_same(order: str) -> None:
    """Stamps that look usual are read as by the patterns that read all."""
    quick, slow = (f"epoch_us({way}_time(c, '{order}'))" for way in ("common", "written"))
    found = read_stamps(odd_stamps(), quick, slow)
    assert any(one is not None for _, one, _ in found)
    for stamp, one, other in found:
        assert one in (None, other), stamp


def test_a_stamp_that_another_order_changes_says_so() -> None:
    """A stamp that leaves day and month open is never passed over; nor is one read two ways."""
    day, month = (f"epoch_us(text_time(c, iso, '{order}'))" for order in ("day", "month"))
    found = read_stamps(odd_stamps(), day, month, "day_month(c, iso)")
    assert all(told for _, one, other, told in found if one != other)
    assert any(one != other for _, one, other, _ in found)
    assert [day for c, day, *_ in found if c in ("3/4.2025", "03.04/2025", "1-2/2025")] == [
        None
    ] * 2


def test_minutes_of_one_digit(tmp_path: Path) -> None:
    """9:5 is five past nine, wherever it stands and whatever the other stamps look like."""
    late, short = ["1.2.2025 14:05"], ["1.2.2025 9:5", "1.2.2025 9:5:7"]
    meant = ["2025-02-01T09:05:00", "2025-02-01T09:05:07"]
    assert times_of(tmp_path, short) == meant
    assert times_of(tmp_path, late + short)[1:] == meant


def test_a_month_may_come_first(tmp_path: Path) -> None:
    """One stamp that can be read in one way only tells how the others are meant."""
    read = times_of(tmp_path, ["03/04/2025 1:05 PM", "12/31/2025 12:00 AM", "5/6/25"])
    assert read == ["2025-03-04T13:05:00", "2025-12-31T00:00:00", "2025-05-06T00:00:00"]
    read = times_of(tmp_path, ["03/04/2025 13:05", "31/12/2025 00:00", "5/6/25"])
    assert read == ["2025-04-03T13:05:00", "2025-12-31T00:00:00", "2025-06-05T00:00:00"]


def test_nobody_guesses_day_and_month(tmp_path: Path) -> None:
    """Where nothing tells, or stamps contradict each other, somebody has to say it."""
    with pytest.raises(ReadError, match=r'"03/04/2025": choose time_format=.day-first. or'):
        times_of(tmp_path, ["03/04/2025", "05/06/2025"])
    assert times_of(tmp_path, ["03/04/2025"], time_format="month-first") == ["2025-03-04T00:00:00"]
    assert times_of(tmp_path, ["03/04/2025"], time_format="%m/%d/%Y") == ["2025-03-04T00:00:00"]
    with pytest.raises(ReadError, match=r'"31/12/2025".*"12/31/2025".*time_format=.day-first.'):
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
    with pytest.raises(ReadError, match=r'"45998" counts\. Declare it with time_format: excel'):
        read_cases(path)
    assert times_of(tmp_path, ["7", "8"], time_format="number") == [None, None]


def test_one_empty_stamp_does_not_stop_the_rest(tmp_path: Path) -> None:
    """It is counted, said to the holder of the log, and its event comes last in its case."""
    rows = [Event(case="1", activity="a", time=""), Event(case="1", activity="b", time="1.2.2025")]
    told: list[str] = []
    counted = count_variants(
        write_csv(tmp_path / "log.csv", rows), notify=lambda note: told.append(str(note))
    )
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
    assert OPEN_ORDER in found.assumptions
    assert found.assumptions == anonymize(path, Certified(epsilon=1)).certificate.assumptions
    declared = anonymize(open_log(path, time_format="day-first"), Certified(epsilon=1))
    assert OPEN_ORDER not in declared.certificate.assumptions


def events_at(stamps: list[str]) -> st.SearchStrategy[Event]:
    """Events of few cases at some of these times."""
    return st.builds(
        Event,
        case=st.sampled_from("1234"),
        activity=st.sampled_from("ab"),
        time=st.sampled_from(stamps),
    )


OPEN = ["1/2/2025", "2/1/2025", "3/3/2025", "13/1/2025", "1/13/2025", "5.1.25"]
"""Stamps that leave open which of day and month comes first, and some that tell it."""
TOLD = ["1/2/2025", "2/1/2025", "1/13/2025"]
"""Stamps of which only one tells what all others mean."""
ALIKE = ["1.2.2025 9:5", "1.2.2025 9:50", "1/2.2025", "15.1.2025", "1/13/2025"]
"""Stamps of which quick ways to read one kind, and marks that differ, would take others along."""


def broken_laws(log: list[Event], way: str, seen: Counter[str]) -> int:
    """Take each case out of a log; count logs that were read, and give how many laws broke."""
    with TemporaryDirectory() as folder:

        def read(part: list[Event]) -> Any:
            counted = FILES[way].read(Path(folder), part, order="time")
            seen["read"] += 1
            return counted

        return len(list(check_neighbours(read, [log], unit=ONE_CASE)))  # type: ignore[arg-type]


def try_law(
    stamps: list[str], way: str = "csv", *, examples: int = 16, rows: int = 8
) -> Counter[str]:
    """Take cases out of logs with such stamps; count logs that were read, and broken laws."""
    seen: Counter[str] = Counter()

    @given(log=st.lists(events_at(stamps), min_size=rows // 4, max_size=rows))
    @settings(
        max_examples=examples, deadline=None, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def law(log: list[Event]) -> None:
        seen["broken"] += broken_laws(log, way, seen)

    for number in range(4):
        seed(number)(law)()
        if seen["read"] > examples:
            break
    return seen


def test_neighbours_stay_neighbours() -> None:
    """A case that tells which of day and month comes first changes how no other is read."""
    for stamps in (OPEN, TOLD):
        seen = try_law(stamps)
        assert seen["read"] > 16 and not seen["broken"]


@pytest.mark.parametrize("way", ["csv", "pandas", "polars"])
def test_stamps_that_look_alike_are_read_each_for_itself(way: str) -> None:
    """A case whose stamps are written in one way changes how no other is read."""
    seen = try_law(ALIKE, way, examples=24, rows=24)
    assert seen["read"] > 24 and not seen["broken"]


def test_a_guess_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Day first where nothing else tells: one case then turns all others round."""
    monkeypatch.setattr(
        survey, "_day_month",
        lambda view, found: "month" if found["tells_2"] else "day",
    )  # fmt: skip
    events = [("1", "a", "1/2/2025"), ("1", "b", "2/1/2025"), ("2", "a", "1/13/2025")]
    log = [Event(case=case, activity=activity, time=time) for case, activity, time in events]
    assert broken_laws(log, "csv", Counter())


def starts_of(source: Any) -> list[int]:
    """The minutes of the year at which work began."""
    cases = read_cases(source)
    assert cases.by_case is not None
    batch = gather(cases.by_case)
    assert batch.starts is not None
    zero = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
    return [(start - zero) // 60_000_000 for start in batch.starts.tolist()]


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_times_that_are_no_text_with_starts_that_are(kind: str, tmp_path: Path) -> None:
    """Each column is read for what it is; what a column of starts tells is assumed, too."""
    ends = pd.to_datetime(["2025-01-03 10:00", "2025-01-03 11:00"])

    def log(*starts: str, **options: Any) -> Log:
        frame = pd.DataFrame({"case": "1", "activity": ["a", "b"], "time": ends, "Beginn": starts})
        frame.to_parquet(tmp_path / "log.parquet")
        return open_log(frame if kind == "frame" else tmp_path / "log.parquet", **options)

    iso = log("2025-01-02 09:00", "2025-01-03 00:30")
    assert starts_of(iso) == [33 * 60, 48 * 60 + 30]
    told = log("1/2/2025", "1/31/2025")
    assert starts_of(told) == [24 * 60, 30 * 24 * 60]
    assert told.assumptions == iso.assumptions and told.assumptions[0] == OPEN_ORDER
    with pytest.raises(ReadError, match=r'in column "Beginn", as in "1/2/2025": choose'):
        starts_of(log("1/2/2025", "1/3/2025"))
    declared = log("1/2/2025", "1/3/2025", time_format="month-first")
    assert starts_of(declared) == [24 * 60, 48 * 60] and not declared.assumptions
    assert starts_of(log("1735689600", "x", time_format="epoch"))[0] == 0


@pytest.mark.parametrize("first", ["number", "text"])
def test_numbers_next_to_dates_are_the_times_they_are(first: str, tmp_path: Path) -> None:
    """Seconds, milliseconds and compact dates have their place among texts, not after them."""
    stamps = ["1735653600", "2024-12-31 15:00:00", "1735660800000", "01.01.2025", "20250102"]
    rows = list(zip("abcde", stamps, strict=True))
    listed = rows if first == "number" else rows[::-1]
    path = tmp_path / "log.csv"
    path.write_text("case,activity,time\n" + "".join(f"1,{name},{time}\n" for name, time in listed))
    assert dict(count_variants(open_log(path))) == {tuple("abcde"): 1}


@pytest.mark.parametrize("number", ["7", "-1", "20250199", "45322"])
def test_numbers_that_are_no_times_are_refused_next_to_times(number: str, tmp_path: Path) -> None:
    """With their row; alone in their column they are an order, and a declared form decides."""
    path = tmp_path / "log.csv"
    path.write_text(f"case,activity,time\n1,a,2025-01-01\n1,b,{number}\n")
    with pytest.raises(
        ReadError, match='column "time" holds a number in row 2 that cannot be read'
    ):
        count_variants(open_log(path))
    assert dict(count_variants(open_log(path, order="file"))) == {("a", "b"): 1}
    assert dict(count_variants(open_log(path, time_format="iso"))) == {("a", "b"): 1}
    path.write_text("case,activity,time\n1,b,8\n1,a,7\n")
    assert dict(count_variants(open_log(path))) == {("a", "b"): 1}
