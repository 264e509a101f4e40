"""Numerics that the stages of synthesis share: projections and minima."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.synthesis.numerics import (
    minimize_convex,
    project_to_total,
    weighted_median,
)

votes = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20).map(np.array)


@settings(deadline=None)
@given(noisy=votes, total=st.floats(0.01, 1e4))
def test_a_projection_is_a_histogram(noisy: np.ndarray, total: float) -> None:
    """It has no negative cell and the total; what already is one stays."""
    found = project_to_total(noisy, total)
    assert (found >= 0).all()
    assert np.isclose(found.sum(), total)
    assert np.allclose(project_to_total(found, total), found, atol=1e-6 * total)


@settings(deadline=None)
@given(noisy=votes, total=st.floats(1, 1e4), other=votes)
def test_a_projection_is_the_nearest(noisy: np.ndarray, total: float, other: np.ndarray) -> None:
    """No other histogram with that total is nearer."""
    rival = np.resize(np.abs(other) + 1e-3, len(noisy))
    rival *= total / rival.sum()
    near = np.linalg.norm(project_to_total(noisy, total) - noisy)
    assert near <= np.linalg.norm(rival - noisy) + 1e-6 * (1 + near)


def test_no_total_leaves_nothing() -> None:
    """Also where there are no cells at all."""
    assert project_to_total(np.array([1.0, 2.0]), 0.0).tolist() == [0.0, 0.0]
    assert project_to_total(np.zeros(0), 1.0).tolist() == []


def test_a_weighted_median_splits_the_weight() -> None:
    """Values of little weight do not move it."""
    assert weighted_median(np.array([9.0, 1.0, 2.0]), np.array([0.1, 1.0, 1.5])) == 2.0


def test_the_minimum_of_a_convex_function_is_found() -> None:
    """Of one that bends very differently in different directions."""
    bends = np.array([1.0, 100.0, 0.01])
    middle = np.array([3.0, -1.0, 7.0])

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(bends @ (x - middle) ** 2), 2 * bends * (x - middle)

    assert np.allclose(minimize_convex(function, np.zeros(3), max_rounds=80), middle, atol=1e-3)
    assert len(minimize_convex(function, np.zeros(0), max_rounds=80)) == 0


def test_a_search_stops_where_little_is_gained() -> None:
    """So far from the minimum that a further round would gain less than asked for."""
    middle = np.array([3.0, -1.0])
    calls = 0

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal calls
        calls += 1
        bends = np.array([1.0, 1e-4])
        return float(bends @ (x - middle) ** 2), 2 * bends * (x - middle)

    minimize_convex(function, np.zeros(2), least_gain=1e9, max_rounds=80)
    few = calls
    minimize_convex(function, np.zeros(2), max_rounds=80)
    assert few < calls - few
