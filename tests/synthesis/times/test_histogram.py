"""Histograms out of noise."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.synthesis.times.histogram import longest, project

votes = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20).map(np.array)


@settings(deadline=None)
@given(noisy=votes, total=st.floats(0.01, 1e4))
def test_a_projection_is_a_histogram(noisy: np.ndarray, total: float) -> None:
    """It has no negative cell and the total; what already is one stays."""
    found = project(noisy, total)
    assert (found >= 0).all()
    assert np.isclose(found.sum(), total)
    assert np.allclose(project(found, total), found, atol=1e-6 * total)


@settings(deadline=None)
@given(noisy=votes, total=st.floats(1, 1e4), other=votes)
def test_a_projection_is_the_nearest(noisy: np.ndarray, total: float, other: np.ndarray) -> None:
    """No other histogram with that total is nearer."""
    rival = np.resize(np.abs(other) + 1e-3, len(noisy))
    rival *= total / rival.sum()
    near = np.linalg.norm(project(noisy, total) - noisy)
    assert near <= np.linalg.norm(rival - noisy) + 1e-6 * (1 + near)


def test_a_tail_within_the_noise_is_cut() -> None:
    """The longer a bin is, the more votes it takes to be believed."""
    middles = np.array([1.0, 10.0, 100.0, 1e6])
    flat = np.array([500.0, 300.0, 200.0, 0.0])
    assert longest(flat + np.array([0, 0, 0, 30]), 10.0, 1000.0, middles) == 3
    assert longest(flat + np.array([0, 0, 0, 200]), 10.0, 1000.0, middles) == 4
    assert longest(np.full(4, -5.0), 10.0, 1.0, middles) == 1
