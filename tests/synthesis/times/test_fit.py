"""Times for a release: order, granularity, totality, and truth where there is no noise."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.evaluate.measures.times import (
    Timed,
    arrivals_distance,
    bottlenecks_kept,
    cycle_time_error,
    mean_cycle_ratio,
    wait_error,
)
from sacofa.kernel.cases import CaseBatch
from sacofa.kernel.queries.durations import DAY, MINUTE, SECOND
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.numerics import Uniform, draw_uniform
from sacofa.synthesis.times.ask import TimeSettings, TimeShares, time_queries
from sacofa.synthesis.times.fit import ReleasedTimes, fit_times

from ...kernel.queries.batches import Event, batch, nasty_cases
from .releases import answer, counted, office, seeded

SECONDS = TimeSettings()


def as_log(released: ReleasedTimes, variants: VariantCounts) -> CaseBatch:
    """A release as a log."""
    return CaseBatch(
        activities=variants.activities,
        activity_ids=released.activity_ids,
        offsets=released.offsets,
        complete=np.ones(len(released.variant), dtype=np.bool_),
        times=released.times,
        starts=released.starts,
    )


def check_shape(released: ReleasedTimes, variants: VariantCounts, unit: int) -> None:
    """Each variant has as many cases as released, and times never run backwards."""
    assert (np.bincount(released.variant, minlength=len(variants)) == variants.counts).all()
    parts = [
        tuple(released.activity_ids[a:b])
        for a, b in zip(released.offsets[:-1], released.offsets[1:], strict=True)
    ]
    sequences = list(variants.sequences())
    assert all(parts[i] == sequences[v] for i, v in enumerate(released.variant))
    first = np.zeros(len(released.times), dtype=bool)
    first[released.offsets[:-1][np.diff(released.offsets) > 0]] = True
    steps = np.diff(released.times, prepend=released.times[:1])
    assert (steps[~first] >= 0).all()
    assert (released.times % unit == 0).all()


def uniform(seed: int) -> Uniform:
    """Numbers from 0 to 1 with a seed."""
    return partial(draw_uniform, seeded(seed))


@settings(deadline=None, max_examples=40)
@given(
    log=st.lists(nasty_cases, max_size=4),
    flow=st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=5),
    granularity=st.sampled_from(["second", "minute", "day"]),
    seed=st.integers(0, 99),
)
def test_any_log_and_any_flow_give_times(
    log: list[list[Event]], flow: list[list[str]], granularity: str, seed: int
) -> None:
    """No case, no event, one event, absurd dates: a release all the same, in order."""
    variants = VariantCounts.of([(case, 1) for case in flow], "abcd")
    how = TimeSettings(granularity=granularity)
    noise = seeded(seed)
    told = answer(batch(log), variants, how, noise=noise, service=True)
    released = fit_times(told, variants, how, partial(draw_uniform, noise))
    check_shape(released, variants, how.unit)
    assert released.starts is not None
    assert (released.starts <= released.times).all()


@pytest.mark.parametrize(
    ("granularity", "unit"), [("second", SECOND), ("minute", MINUTE), ("day", DAY)]
)
def test_times_are_whole_units(granularity: str, unit: int) -> None:
    """Whatever was asked for, released times show no more."""
    log = office(60)
    how = TimeSettings(granularity=granularity)
    variants = counted(log)
    released = fit_times(answer(log, variants, how, noise=seeded(1)), variants, how, uniform(2))
    check_shape(released, variants, unit)


def test_the_same_seed_gives_the_same_times() -> None:
    """And another seed others."""
    log = office(80)
    variants = counted(log)
    told = answer(log, variants, SECONDS, noise=seeded(1))
    one, same, other = (fit_times(told, variants, SECONDS, uniform(seed)) for seed in (3, 3, 4))
    assert (one.times == same.times).all()
    assert (one.times != other.times).any()


def test_without_noise_times_come_back() -> None:
    """Answers that are true, and fine enough, give the waits, totals and months of the log."""
    log = office(400)
    variants = counted(log)
    told = answer(log, variants, SECONDS, epsilon=Fraction(2_000))
    released = fit_times(told, variants, SECONDS, uniform(5))
    both = Timed.both(log, as_log(released, variants))
    assert wait_error(*both) < 0.25
    assert cycle_time_error(*both) < 0.3
    assert 0.9 < mean_cycle_ratio(*both) < 1.1
    assert bottlenecks_kept(*both) == 1
    assert arrivals_distance(*both) < 0.02


def test_office_hours_show() -> None:
    """Where the week is well told, few events fall on closed hours."""
    log = office(400)
    variants = counted(log)
    told = answer(log, variants, SECONDS, epsilon=Fraction(2_000))
    released = fit_times(told, variants, SECONDS, uniform(6))
    hours = released.times // (3_600 * SECOND) % 24
    assert np.mean((hours >= 8) & (hours < 20)) > 0.85


def test_service_times_come_back() -> None:
    """An hour of work is an hour, a minute a minute."""
    log = office(400)
    variants = counted(log)
    told = answer(log, variants, SECONDS, epsilon=Fraction(2_000), service=True)
    released = fit_times(told, variants, SECONDS, uniform(7))
    assert released.starts is not None
    took = (released.times - released.starts) / SECOND
    assert 45 < np.median(took[released.activity_ids == 1]) < 75
    assert 3_000 < np.median(took[released.activity_ids == 3]) < 4_500


def test_gaps_of_their_own_would_not_do() -> None:
    """Totals follow their answer: they would not if the answer about them were another."""
    log = office(400)
    variants = counted(log)
    told = answer(log, variants, SECONDS, epsilon=Fraction(2_000))
    table = told.cycle_time.table.copy()
    table[:] = table[::-1]
    wrong = type(told.cycle_time)(told.cycle_time.query, table, told.cycle_time.epsilon)
    answers = type(told)(**{**told.__dict__, "cycle_time": wrong})
    released = fit_times(answers, variants, SECONDS, uniform(5))
    assert cycle_time_error(*Timed.both(log, as_log(released, variants))) > 0.3


def test_prices_add_up_exactly() -> None:
    """With and without service times, and for any shares."""
    variants = VariantCounts.of({("a", "b"): 5})
    for shares in (TimeShares(), TimeShares(gaps=Fraction(7), week=Fraction(1, 3))):
        for service in (False, True):
            asked = time_queries(
                variants, TimeSettings(shares=shares), Fraction(2, 7), service=service
            )
            assert sum(price for _, price in asked.values()) == Fraction(2, 7)
            assert ("service" in asked) == service


def test_impossible_settings_are_refused() -> None:
    """Before any log is read."""
    for make in (
        lambda: TimeSettings(granularity="week"),
        lambda: TimeSettings(calendar="2020-04/2020-03"),
        lambda: TimeShares(gaps=Fraction(0)),
    ):
        with pytest.raises(SettingError):
            make()


def test_a_calendar_is_two_months() -> None:
    """As people write it; what is none, or runs backwards, is refused at once."""
    assert TimeSettings(calendar="2019-11/2020-02").first_month == 49 * 12 + 10
    assert TimeSettings(calendar="2019-11/2020-02").months == 4
    assert (TimeSettings().first_month, TimeSettings().months) == (0, 1_200)
    for odd in ("2019", "2019-13/2020-01", "2020-02/2020-01", "0001-01/9999-12", "", "a/b"):
        with pytest.raises(SettingError, match="calendar"):
            TimeSettings(granularity="second", calendar=odd)


def test_no_case_begins_outside_a_declared_calendar() -> None:
    """Whatever the noise."""
    log, how = office(50), TimeSettings(granularity="second", calendar="2021-03/2021-12")
    variants = counted(log)
    released = fit_times(answer(log, variants, how, noise=seeded(1)), variants, how, uniform(2))
    begins = released.times[released.offsets[:-1]].astype("M8[us]").astype("M8[M]").astype(str)
    assert min(begins) >= "2021-03"
    assert max(begins) <= "2021-12"
