"""Votes become whole numbers of cases that add up."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sacofa.synthesis.flow.apportion import apportion

small = st.integers(-30, 60)


@given(st.lists(small, min_size=1, max_size=12), st.integers(0, 10), st.integers(1, 100))
def test_apportioning_gives_out_all_cases_and_no_more(
    votes: list[int], least: int, size: int
) -> None:
    """Whole numbers, none negative, that add up; what is below the threshold gets nothing."""
    cells = apportion(np.array(votes), least, size)
    assert cells.sum() == size and (cells >= 0).all()
    if max(votes) >= max(least, 1):
        assert not cells[np.array(votes) < max(least, 1)].any()
        order = np.argsort(votes, kind="stable")
        assert (np.diff(cells[order]) >= -1).all()


def test_apportioning_lowers_all_alike_and_scales_up() -> None:
    """Too many votes are lowered by one amount; too few are scaled."""
    assert apportion(np.array([10, 6, 1]), 1, 14).tolist() == [9, 5, 0]
    assert apportion(np.array([10, 5, -3]), 1, 30).tolist() == [20, 10, 0]
    assert apportion(np.array([-5, -2]), 1, 7).tolist() == [0, 7]
