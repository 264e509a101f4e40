"""Which values tell the logs apart, and which only seem to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sacofa.audit import guess as weighing
from sacofa.audit.guess import (
    Sample,
    _chi_square,
    _chi_square_quantile,
    _min_runs,
    _trend,
    weigh_feature,
    weigh_features,
)

DOUBT = 1e-3


@pytest.mark.parametrize("runs", [20, 100, 600])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.8])
def test_values_that_are_left_out_tell_nothing(runs: int, part: float) -> None:
    """However the runs that have a rare value lie, it would not have been kept; some rarer is."""
    sides = np.arange(runs) < part * runs
    fewest = _min_runs(sides, DOUBT)
    for side in (True, False):
        there = np.flatnonzero(sides == side)
        for number in range(min(fewest, len(there) + 1)):
            chosen = there[:number]
            assert weigh_feature(sides, chosen, np.arange(number), DOUBT)[1] <= 0
    fewer = np.flatnonzero(sides == (part < 0.5))
    if len(fewer) > fewest:
        assert weigh_feature(sides, fewer[:fewest], np.ones(fewest, dtype=np.int64), DOUBT)[1] > 0


@pytest.mark.parametrize("freedom", [1, 2, 5, 47])
@pytest.mark.parametrize("doubt", [1e-3, 1e-5, 1e-7])
def test_what_chance_does_is_known_well_enough(freedom: int, doubt: float) -> None:
    """The chi-square that chance reaches is near the true one, and rather higher than lower."""
    assert 0.99 < _chi_square_quantile(freedom, doubt) / stats.chi2.isf(doubt, freedom) < 1.2


def test_values_that_say_nothing_are_kept_as_rarely_as_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two thousand values none is kept where a tenth is allowed, and some where many are."""
    rng = np.random.default_rng(11)
    every = np.arange(1_000)
    columns = {("x", i): (every, rng.integers(0, 2, 1_000)) for i in range(2_000)}
    sample = Sample(sides=rng.random(1_000) < 0.5, columns=columns)
    monkeypatch.setattr(weighing, "EXPECTED_FALSE", 0.1)
    assert not weigh_features(sample)
    monkeypatch.setattr(weighing, "EXPECTED_FALSE", 1000.0)
    assert 0 < len(weigh_features(sample)) < 2_000 * DOUBT + 5


def test_a_trend_over_two_bins_is_any_difference() -> None:
    """There the two tests are one; over many bins a trend is found that any difference is not."""
    larger, smaller = np.array([30, 70]), np.array([45, 40])
    assert _trend(larger, smaller) == pytest.approx(_chi_square(np.array([larger, smaller]) + 0.0))
    assert _trend(np.array([5, 7]), np.array([0, 0])) == _trend(np.array([9]), np.array([4])) == 0
    rising = 20 + np.arange(20) // 2
    table = np.array([rising, rising[::-1]]) + 0.0
    assert _chi_square(table) < _chi_square_quantile(19, DOUBT)
    assert _trend(rising, rising[::-1]) > _chi_square_quantile(1, DOUBT)


def test_a_small_family_is_not_drowned_by_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that tells little is found beside thousands of another name that tell nothing."""
    monkeypatch.setattr(weighing, "EXPECTED_FALSE", 0.1)
    rng = np.random.default_rng(12)
    every = np.arange(1_000)
    sides = every < 500
    noise = {("y", i): (every, rng.integers(0, 2, 1_000)) for i in range(3_000)}
    little = (every, (every % 500 < np.where(sides, 280, 220)).astype(np.int64))
    assert list(weigh_features(Sample(sides=sides, columns={**noise, ("x",): little}))) == [("x",)]
    assert not weigh_features(Sample(sides=sides, columns={**noise, ("y", -1): little}))
