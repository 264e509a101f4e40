"""Fitted numbers become whole numbers of cases that add up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sacofa.synthesis.flow.release import round_to


@given(st.lists(st.floats(0, 60), min_size=1, max_size=12), st.integers(1, 100))
def test_rounding_gives_out_all_cases_and_no_more(numbers: list[float], size: int) -> None:
    """Whole numbers above 0 that add up; a larger number never gets fewer cases."""
    cells = round_to({(i,): number for i, number in enumerate(numbers)}, size)
    assert sum(cells.values()) == size and min(cells.values()) > 0
    counts = [cells.get((i,), 0) for i in range(len(numbers))]
    for one, n in zip(numbers, counts, strict=True):
        for other, m in zip(numbers, counts, strict=True):
            assert one <= other + 1e-6 or n >= m - 1


def test_the_largest_remainders_are_rounded_up() -> None:
    """And where nothing was fitted, all get alike."""
    assert round_to({(0,): 1.0, (1,): 1.5, (2,): 0.1}, 5) == {(0,): 2, (1,): 3}
    assert round_to({(0,): 0.0, (1,): 0.0}, 3) == {(0,): 2, (1,): 1}
