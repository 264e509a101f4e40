"""Distances between sequences: edits by the longer length, the first of equals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sacofa.queries.distance import WHOLE, distances, nearest

sequences = st.lists(st.integers(0, 4), max_size=6).map(tuple)


def test_nearest_takes_the_first_of_equals() -> None:
    """Distance is edits by the longer length; ties go to the lower place."""
    columns = [(0, 1), (1, 0), (0,), ()]
    assert nearest([(0, 1), (0,), (2,), ()], columns, 3).tolist() == [0, 2, 0, 3]
    assert distances([(0, 1)], columns, 3)[0].tolist() == [0, WHOLE, WHOLE // 2, WHOLE]
    many = [tuple(range(i, i + 3)) for i in range(3_000)]
    assert nearest(many, many, 4_000).tolist() == list(range(3_000))


@given(st.lists(sequences, min_size=1, max_size=5))
def test_many_activities_are_written_otherwise_and_are_as_far_apart(
    rows: list[tuple[int, ...]],
) -> None:
    """Distances do not depend on how many activities there are besides."""
    few, many = (distances(rows, rows, activities) for activities in (256, 257))
    assert few.tolist() == many.tolist()
    high = [tuple(251 + i for i in ids) for ids in rows]
    assert distances(high, high, 256).tolist() == few.tolist()
