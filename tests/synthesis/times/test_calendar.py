"""Months and weeks out of noise."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.synthesis.times.fit import _best_stretch, estimate_months, estimate_week


def test_months_are_found_on_a_calendar_of_a_century() -> None:
    """Sixteen months of cases stand out from a century of noise that is a third as large."""
    draws = np.random.default_rng(1)
    true = np.zeros(1200)
    true[500:516] = 90
    for _ in range(5):
        found = estimate_months(true + draws.laplace(0, 20, 1200), 20.0, true.sum())
        assert np.isclose(found.sum(), 1)
        assert found[495:521].sum() > 0.99
        assert np.abs(found - true / true.sum()).sum() / 2 < 0.2


def test_two_stretches_and_a_pause() -> None:
    """Cases that begin in two far years are found in both, and hardly between."""
    draws = np.random.default_rng(2)
    true = np.zeros(1200)
    true[100:112], true[700:712] = 400, 200
    found = estimate_months(true + draws.laplace(0, 20, 1200), 20.0, true.sum())
    assert found[700:712].sum() > 0.3
    assert found[115:695].sum() < 0.02


def test_noise_alone_gives_months_all_the_same() -> None:
    """A log without any case has a calendar too."""
    for noisy in (np.zeros(1200), np.full(3, -50.0), np.array([7.0]), np.array([0.0, 90.0])):
        found = estimate_months(noisy, 20.0, 0.0)
        assert np.isclose(found.sum(), 1)
        assert (found >= 0).all()


def test_a_week_of_office_hours() -> None:
    """Ten noise scales a cell tell Monday to Friday from nights and weekends."""
    office = np.zeros((7, 6))
    office[:5, 2:4] = 100.0
    noise = np.random.default_rng(3).laplace(0, 30, 42)
    found = estimate_week(office.ravel() + noise, 30.0, 1000.0)
    assert np.isclose(found.sum(), 1)
    assert found[office.ravel() > 0].sum() > 0.8


@settings(deadline=None)
@given(seed=st.integers(0, 999), months=st.integers(1, 40), shift=st.sampled_from([-50.0, 0, 3]))
def test_the_stretch_that_stands_out_is_found_among_all(
    seed: int, months: int, shift: float
) -> None:
    """It is the first best of all widths and places, also where every month is below zero."""
    noisy = np.random.default_rng(seed).normal(shift, 10, months).round()
    sums = np.concatenate([[0.0], np.cumsum(noisy)])
    scores = {
        (first, first + width): (sums[first + width] - sums[first]) / (2.0 * np.sqrt(width))
        for width in range(1, months + 1)
        for first in range(months - width + 1)
    }
    best = max(scores, key=scores.__getitem__)
    assert _best_stretch(noisy, 2.0) == (*best, scores[best])
