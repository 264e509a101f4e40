"""Measures of time: known values, oracles, and what equal logs and nasty ones give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.evaluate.measures.times import (
    Indicator,
    Timed,
    arrivals_distance,
    bottlenecks,
    bottlenecks_kept,
    cycle_time_distance,
    cycle_time_error,
    mean_cycle_error,
    mean_cycle_ratio,
    transport,
    wait_error,
    waits,
)
from sacofa.kernel.cases import NO_TIME
from sacofa.kernel.queries.durations import DAY, HOUR, MINUTE, SECOND

from ...kernel.queries.batches import Event, batch
from ...synthesis.times.releases import office

stats = pytest.importorskip("scipy.stats")

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12).map(np.array)
sane = st.lists(
    st.lists(
        st.tuples(st.integers(0, 3), st.just(0), st.integers(0, 10**4).map(lambda m: m * MINUTE)),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


def timed(cases: list[list[Event]]) -> Timed:
    """Cases as measures see them."""
    return Timed.of(batch(cases), "abcd")


@settings(deadline=None)
@given(left=numbers, right=numbers)
def test_transport_is_the_wasserstein_distance(left: np.ndarray, right: np.ndarray) -> None:
    """As SciPy reckons it."""
    assert np.isclose(transport(left, right), stats.wasserstein_distance(left, right), atol=1e-6)


def test_a_log_is_no_distance_from_itself() -> None:
    """All differences are zero, all ratios one."""
    log = Timed.of(office(50), "abcd")
    assert waits(log, log) == (0, 0)
    for error in (wait_error, cycle_time_error, mean_cycle_error, arrivals_distance):
        assert error(log, log) == 0
    assert (mean_cycle_ratio(log, log), bottlenecks_kept(log, log)) == (1, 1)
    assert cycle_time_distance(log, log) == 0


def test_waits_are_told_in_doublings() -> None:
    """Twice the gap is one doubling, a step that is gone counts ten."""
    log = timed([[(0, 0, 0), (1, 0, HOUR), (2, 0, HOUR)]] * 4)
    slow = timed([[(0, 0, 0), (1, 0, 2 * HOUR), (2, 0, 2 * HOUR)]])
    assert np.isclose(wait_error(log, slow), 0.5, atol=1e-3)
    gone = waits(log, timed([[(0, 0, 0), (1, 0, HOUR)]]))
    assert gone == (5.0, 0.5)
    assert np.isclose(mean_cycle_ratio(log, slow), 2)


def test_bottlenecks_are_the_steps_with_most_time_in_all() -> None:
    """A short step that is taken often may take more time than a long one."""
    often = [(0, 0, 0), *((1, 0, hour * HOUR) for hour in range(1, 9))]
    rare = [(2, 0, 0), (3, 0, 2 * HOUR)]
    log = timed([often, rare])
    assert bottlenecks(log) == [("b", "b"), ("c", "d"), ("a", "b")]


def test_arrivals_are_compared_by_month() -> None:
    """Half of the cases in another month are a half."""
    log = timed([[(0, 0, 0)], [(0, 0, DAY)]])
    assert arrivals_distance(log, timed([[(0, 0, 0)], [(0, 0, 40 * DAY)]])) == 0.5


def test_missing_times_and_empty_logs_are_measured() -> None:
    """Events without a time are passed over; nothing at all is far from something."""
    log = timed([[(0, 0, 0), (1, 0, NO_TIME), (2, 0, HOUR)], [(0, 0, NO_TIME)]])
    assert log.cases == 1
    assert log.cycle_times.tolist() == [3600]
    empty = timed([])
    assert mean_cycle_ratio(empty, empty) == 1
    assert cycle_time_error(log, empty) == float("inf")


@settings(deadline=None)
@given(log=sane, other=sane)
def test_cycle_times_are_compared_as_their_paper_defines_it(
    log: list[list[Event]], other: list[list[Event]]
) -> None:
    """Against a version written word by word."""
    cycles = [np.array([max(t for *_, t in case) - min(t for *_, t in case) for case in cases])
              for cases in (log, other)]  # fmt: skip
    least = min(min(some) for some in cycles)
    hours = [np.floor((some - least) / HOUR + 1e-9) for some in cycles]
    found = cycle_time_distance(timed(log), timed(other))
    assert np.isclose(found, stats.wasserstein_distance(*hours), atol=1e-6)


def test_cycle_times_are_compared_as_the_package_of_the_authors_does() -> None:
    """Where log-distance-measures is installed."""
    package = pytest.importorskip("log_distance_measures")
    assert package
    import pandas as pd
    from log_distance_measures import cycle_time_distribution as ctd
    from log_distance_measures.config import EventLogIDs

    ids = EventLogIDs(case="case", activity="activity", start_time="time", end_time="time")
    logs = [office(40, seed) for seed in (1, 2)]
    frames = [
        pd.DataFrame(
            {
                "case": np.repeat(np.arange(len(log.counts)), np.diff(log.offsets)),
                "activity": log.activity_ids,
                "time": pd.to_datetime(log.times, unit="us", utc=True),
            }
        )
        for log in logs
    ]
    theirs = ctd.cycle_time_distribution_distance(
        frames[0], ids, frames[1], ids, bin_size=pd.Timedelta(hours=1)
    )
    assert np.isclose(cycle_time_distance(*Timed.both(*logs)), theirs, atol=1e-6)


CASES: list[list[Event]] = [
    [(0, 0, 0), (1, 0, 30 * MINUTE), (1, 0, 5 * HOUR), (3, 0, DAY)],
    [(1, 0, 0), (0, 0, HOUR), (3, 0, 3 * HOUR)],
    [(0, 0, 0), (3, 0, 10 * SECOND)],
    [(0, 0, 0), (1, 0, 2 * HOUR)],
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("median time from a to first b", 4_500),
        ("mean time from a to last b", (5 + 2) * 1_800),
        ("share with time from a to first b under 1 h", 1 / 3),
        ("share with time from a to first b over 1 h", 1 / 3),
        ('median time from start to "d"', 10_800),
        ("p50 time from start to end", 9_000),
        ("share with time from start to end under 1 min", 1 / 4),
        ("mean time from a to start", 0),
    ],
)
def test_indicators(text: str, value: float) -> None:
    """What people write means what it says."""
    assert np.isclose(Indicator.parse(text).of(timed(CASES)), value)


def test_an_indicator_that_no_case_shows_is_not_a_number() -> None:
    """Rather than zero."""
    assert np.isnan(Indicator.parse("median time from c to first b").of(timed(CASES)))
    assert np.isnan(Indicator.parse("share with time from c to first b under 1 h").of(timed(CASES)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "time from a to b",
        "median time from a to first b under 1 h",
        "share with time from a to b",
        "share with time from a to b under 1 hours",
    ],
)
def test_indicators_that_cannot_be_are_refused(text: str) -> None:
    """With one line that says what would do."""
    with pytest.raises(SettingError):
        Indicator.parse(text)


def test_unknown_activities_are_refused() -> None:
    """With the nearest name."""
    with pytest.raises(SettingError, match="Did you mean"):
        Indicator.parse("median time from start to first Relase").check(("Release", "Admit"))
