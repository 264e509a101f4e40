"""Courses that are stretched: totals are met, order and short gaps stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.synthesis.times.courses import lengths_of, stretch

COURSES = st.lists(
    st.tuples(
        st.lists(st.floats(1.0, 1e7), min_size=1, max_size=6),
        st.floats(0.0, 1e8),
    ),
    min_size=1,
    max_size=8,
)


def offsets_of(courses: list[list[float]]) -> np.ndarray:
    """Where courses begin."""
    return np.cumsum([0, *map(len, courses)])


@given(COURSES)
def test_courses_take_as_long_as_wanted(courses: list[tuple[list[float], float]]) -> None:
    """Whatever the lengths, gaps stay above zero and add up."""
    parts = [gaps for gaps, _ in courses]
    wanted = np.array([length for _, length in courses])
    offsets = offsets_of(parts)
    changed = stretch(np.concatenate(parts), offsets, wanted)
    assert (changed >= 0).all()
    assert np.add.reduceat(changed, offsets[:-1]) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_long_gaps_give_and_take() -> None:
    """A case of minutes and one wait of days stays one, when it is longer and when shorter."""
    gaps = np.array([60.0, 120.0, 864_000.0])
    for wanted in (86_400.0, 8_640_000.0):
        changed = stretch(gaps, np.array([0, 3]), np.array([wanted]))
        assert changed[:2] == pytest.approx(gaps[:2], rel=0.01)


def test_what_has_no_gaps_stays() -> None:
    """A case of one event, and one whose events are all at the same time, take no time."""
    changed = stretch(np.zeros(2), np.array([0, 0, 2]), np.array([5.0, 5.0]))
    assert (changed == 0).all()


def test_lengths_follow_the_shares() -> None:
    """As many cases lie in each bin as its share says, shortest first."""
    edges = np.array([0.0, 1.0, 10.0, 100.0, 1000.0])
    lengths = lengths_of(np.array([0.1, 0.0, 0.6, 0.3]), edges, 1_000)
    assert (np.diff(lengths) >= 0).all()
    assert (lengths[:100] == 0).all()
    assert np.histogram(lengths[100:], edges)[0].tolist() == [0, 0, 600, 300]
    assert len(lengths_of(np.zeros(4), edges, 0)) == 0
