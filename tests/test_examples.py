"""The embedded examples: always the same, and worth looking at."""

from __future__ import annotations

import io

import pandas

from sacofa import open_log
from sacofa.events import count_variants
from sacofa.examples import hospital, hospital_csv, running_example


def test_the_running_example_is_the_paper_s_table() -> None:
    """49 cases in 6 variants; every case begins with Register and Triage and ends with Release."""
    example = running_example()
    assert (example.cases, len(example)) == (49, 6)
    for variant, _ in example:
        assert variant[:2] == ("Register", "Triage") and variant[-1] == "Release"


def test_the_hospital_is_always_the_same() -> None:
    """The same log on every call, with frequent variants, loops and a long tail."""
    log = hospital()
    assert log == hospital()
    assert log.cases == 4000
    assert log.counts.max() > 200
    assert (log.counts == 1).sum() > 100
    assert any(variant.count("Blood test") > 2 for variant, _ in log)


def test_the_hospital_has_times_of_its_own() -> None:
    """The same cases in the order of time; people come by day, and bills are written at work."""
    table = hospital_csv()
    assert table == hospital_csv()
    frame = pandas.read_csv(io.BytesIO(table), parse_dates=["time:timestamp"])
    counted = count_variants(open_log(frame))
    assert dict(counted) == dict(hospital())
    times = frame["time:timestamp"]
    begins = times.groupby(frame["case:concept:name"]).min()
    assert set(begins.dt.year) == {2000, 2001, 2002}
    assert (begins.dt.hour.between(8, 19)).mean() > 0.6
    bills = times[frame["concept:name"] == "Bill"]
    assert (bills.dt.day_of_week < 5).all()
    assert bills.dt.hour.between(8, 15).all()
    took = times.groupby(frame["case:concept:name"]).max() - begins
    assert took.median().days < 7 < took.quantile(0.95).days
