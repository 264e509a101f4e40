"""Periods: which cases belong to one follows from each case alone, in every reader."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.events import ReadOptions, count_variants, open_log
from sacofa.events.periods import Period, PeriodFilter

DAYS = st.dates(date(2025, 11, 1), date(2026, 3, 31))
CASES = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from("xyz"), DAYS | st.none()), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)
Log = dict[str, list[tuple[str, date | None]]]


def write_csv(path: Path, log: Log) -> Path:
    """A table with a row for each event."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "activity", "timestamp"])
        for case, events in log.items():
            writer.writerows([case, activity, day or ""] for activity, day in events)
    return path


def write_xes(path: Path, log: Log) -> Path:
    """A trace for each case."""
    lines = ['<log><global scope="event"><date key="time:timestamp" value="1970-01-01"/></global>']
    for case, events in log.items():
        lines.append(f'<trace><string key="concept:name" value={quoteattr(case)}/>')
        for activity, day in events:
            lines.append(f'<event><string key="concept:name" value="{activity}"/>')
            if day is not None:
                lines.append(f'<date key="time:timestamp" value="{day}T12:00:00+00:00"/>')
            lines.append("</event>")
        lines.append("</trace>")
    path.write_text("\n".join([*lines, "</log>"]))
    return path


def frame(_: Path, log: Log) -> pd.DataFrame:
    """A frame with a row for each event."""
    rows = [(case, a, day and str(day)) for case, events in log.items() for a, day in events]
    return pd.DataFrame(rows, columns=["case", "activity", "timestamp"], dtype="object")


WAYS: dict[str, Any] = {"a.csv": write_csv, "a.xes": write_xes, "frame": frame}


def completed(log: Log, period: str) -> dict[tuple[str, ...], int]:
    """The variants of a period, by the simplest way there is."""
    found: dict[tuple[str, ...], int] = {}
    for events in log.values():
        days = [day for _, day in events if day is not None]
        if days and f"{max(days)}".startswith(period):
            variant = tuple(a for a, _ in sorted(events, key=lambda e: e[1] or date.max))
            found[variant] = found.get(variant, 0) + 1
    return found


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=5, deadline=None)
@given(log=CASES)
def test_a_case_belongs_to_the_period_of_its_last_event(
    tmp_path_factory: pytest.TempPathFactory, way: str, log: Log
) -> None:
    """And to no other: all periods together are the log, but for cases without a time."""
    folder = tmp_path_factory.mktemp("log")
    # In which order the events of a case come is not what is asked here.
    source = WAYS[way](folder / way, log)
    for period in ("2025-12", "2026"):
        opened = open_log(source, period=period)
        wanted = completed(log, period)
        counted = count_variants(opened)
        assert counted.cases == sum(wanted.values())
        assert set(counted.activities) == {a for variant in wanted for a in variant}
        assert {tuple(sorted(variant)) for variant in variants_of(opened)} == {
            tuple(sorted(variant)) for variant in wanted
        }


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=4, deadline=None)
@given(log=CASES, data=st.data())
def test_neighbours_stay_neighbours_in_every_period(
    tmp_path_factory: pytest.TempPathFactory, way: str, log: Log, data: st.DataObject
) -> None:
    """Without one case, one period has one case less, and every other is what it was."""
    folder = tmp_path_factory.mktemp("log")
    gone = data.draw(st.sampled_from(sorted(log)))
    less = {case: events for case, events in log.items() if case != gone}
    if not less:
        return
    months = ("2025-11", "2025-12", "2026-01", "2026-02", "2026-03")
    both = [WAYS[way](folder / f"{n}{way}", content) for n, content in enumerate((log, less))]
    changes = 0
    for month in months:
        one, other = (variants_of(open_log(source, period=month)) for source in both)
        changes += sum(abs(one.get(v, 0) - other.get(v, 0)) for v in {*one, *other})
    assert changes == any(day is not None for _, day in log[gone])


TRACES = st.lists(
    st.tuples(
        st.sampled_from("567"),
        st.sampled_from([None, "", "anna", "bert", "carl"]),
        st.sampled_from("xyz"),
        st.sampled_from([date(2025, 12, 31), date(2026, 1, 1), date(2026, 2, 1)]),
    ),
    min_size=2,
    max_size=8,
)
"""Cases of one event each: id, person, activity, day. Few ids, so that persons share them."""
Traces = list[tuple[str, str | None, str, date]]


def write_traces(path: Path, traces: Traces) -> Path:
    """A trace for each case."""
    lines = ['<log><extension name="Time" prefix="time" uri="x"/>']
    for case, person, activity, day in traces:
        whose = "" if person is None else f'<string key="who" value="{person}"/>'
        lines.append(
            f'<trace><string key="concept:name" value="{case}"/>{whose}<event>'
            f'<string key="concept:name" value="{activity}"/>'
            f'<date key="time:timestamp" value="{day}"/></event></trace>'
        )
    path.write_text("\n".join([*lines, "</log>"]))
    return path


@pytest.mark.parametrize("files", [1, 2])
@settings(max_examples=40, deadline=None)
@given(traces=TRACES, max_cases=st.sampled_from([1, 2]))
def test_ids_that_persons_share_move_no_case_of_others(
    tmp_path_factory: pytest.TempPathFactory, files: int, traces: Traces, max_cases: int
) -> None:
    """A person who comes or goes changes a period by max_cases at most, whoever has their ids."""
    folder = tmp_path_factory.mktemp("log")
    traces = [*traces, ("0", "someone", "x", date(2026, 1, 1))]
    for gone in ("anna", "bert", "carl"):
        counted = []
        for without in (None, gone):
            paths = [
                write_traces(
                    folder / f"{without}-{part}.xes",
                    [t for t in traces[part::files] if without is None or t[1] != without],
                )
                for part in range(files)
            ]
            opened = open_log(
                paths, person="who", max_cases=max_cases, period="2026", protect="person"
            )
            counted.append(variants_of(opened))
        one, other = counted
        assert sum(abs(one.get(v, 0) - other.get(v, 0)) for v in {*one, *other}) <= max_cases


def variants_of(log: Any) -> dict[tuple[str, ...], int]:
    """Variants by the names of their activities."""
    counted = count_variants(log)
    found: dict[tuple[str, ...], int] = {}
    for ids, count in zip(counted.sequences(), counted.counts.tolist(), strict=True):
        found[tuple(counted.activities[i] for i in ids)] = count
    return found


@given(day=st.dates(date(1971, 1, 1), date(2068, 12, 31)))
def test_periods_hold_their_days(day: date) -> None:
    """A day is in its year, quarter, month and day, and the day after the end is not."""
    quarter = f"{day.year}-Q{(day.month + 2) // 3}"
    for text in (f"{day.year}", quarter, f"{day:%Y-%m}", f"{day}"):
        period = Period.parse(text)
        assert period.start <= day < period.end
        midnight = Period.parse(f"{day}").first
        assert period.holds(midnight) and not period.holds(period.after)
        assert not period.holds(period.first - 1) and not period.holds(None)
        assert period.is_over(period.end) and not period.is_over(period.end - timedelta(days=1))


@pytest.mark.parametrize("text", ["", "26", "2026-13", "2026-Q5", "2026-02-30", "2026-1", "٢٠٢٦"])
def test_what_is_no_period_is_refused(text: str) -> None:
    """In one line, which says what is one."""
    with pytest.raises(SettingError, match="a year, quarter, month or day"):
        ReadOptions(period=text)


def test_a_log_without_times_has_no_periods(tmp_path: Path) -> None:
    """Neither have counted variants, nor a database."""
    path = tmp_path / "a.csv"
    path.write_text("case,activity\n1,a\n")
    with pytest.raises(SettingError, match="declares no time stamps"):
        open_log(path, period="2026")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(SettingError, match="left out for json"):
        open_log(tmp_path / "a.json", period="2026")


def test_a_person_with_periods_says_what_is_protected() -> None:
    """Prices add up over periods, or a period stands for itself: nobody else can decide."""
    with pytest.raises(SettingError, match="person-period"):
        ReadOptions(person="p", max_cases=1, period="2026")
    with pytest.raises(SettingError, match="left out"):
        ReadOptions(person="p", max_cases=1, protect="person")
    assert ReadOptions(
        person="p", max_cases=1, period="2026", protect="person-period"
    ).unit.per_period
    assert not ReadOptions(person="p", max_cases=1, period="2026", protect="person").unit.per_period


def test_the_first_with_an_id_counts_wherever_it_belongs() -> None:
    """Which of two traces of one name is read must not change with the period."""
    chosen = PeriodFilter(period=Period.parse("2026"))
    inside, outside = Period.parse("2026-02").first, Period.parse("2025-02").first
    assert not chosen.keeps("a", [outside])
    assert not chosen.keeps("a", [inside])
    assert chosen.keeps("b", [None, inside, outside])
    assert not chosen.keeps(None, [inside])
    assert not chosen.keeps("c", [])
    assert chosen.counts == {"again": 1, "nameless": 1, "elsewhere": 2}
    assert chosen.keeps("d", [inside], "anna") and chosen.keeps("d", [inside], "bert")
    assert not chosen.keeps("e", [outside], "anna") and not chosen.keeps("e", [inside], "anna")
    assert chosen.counts == {"again": 2, "nameless": 1, "elsewhere": 3}
    assert len(chosen.notices()) == 3


def test_longer_periods_are_those_that_contain_it() -> None:
    """Compared day by day, and two periods are nested or have no day in common."""
    names = ["2024", "2025", *(f"2024-Q{q}" for q in range(1, 5))]
    names += [f"2024-{m:02}" for m in range(1, 13)]
    names += ["2024-01-01", "2024-02-29", "2024-12-31", "2025-Q1", "2025-01"]
    periods = [Period.parse(name) for name in names]
    for one in periods:
        for other in periods:
            inside = other.start <= one.start and one.end <= other.end
            assert (other.name in one.longer) == (inside and one != other)
            apart = one.end <= other.start or other.end <= one.start
            assert apart or one == other or other.name in one.longer or one.name in other.longer
