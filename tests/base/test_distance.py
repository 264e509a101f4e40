"""Distances between sequences: edits by the longer length, the first of equals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from sacofa.base import distance
from sacofa.base.distance import WHOLE, distances, nearest

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


some = st.lists(st.lists(st.integers(0, 5), max_size=9).map(tuple), min_size=1, max_size=40)


@given(some, some, st.sampled_from([1, 7, 1 << 17]))
def test_distances_are_those_of_whole_numbers(
    rows: list[tuple[int, ...]], columns: list[tuple[int, ...]], together: int
) -> None:
    """Rounded down to parts of WHOLE without floating point, however they are divided up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "TOGETHER", together)
        patch.setattr(distance, "SYMMETRIC_BLOCK", 3)
        for right in (columns, rows):
            expected = [
                [Levenshtein.distance(a, b) * WHOLE // max(len(a), len(b), 1) for b in right]
                for a in rows
            ]
            assert distances(rows, right, 6).tolist() == expected
            places = [min(range(len(right)), key=each.__getitem__) for each in expected]
            assert nearest(rows, right, 6).tolist() == places


@pytest.mark.parametrize("length", [1023, 65_537, 1_000_003])
def test_long_sequences_are_rounded_down_as_well(length: int) -> None:
    """Floating point meets each whole number that division by a length rounds down to."""
    edits = np.arange(0, length + 1, max(length // 50_000, 1))
    assert np.array_equal(np.floor(edits / length * WHOLE), edits * WHOLE // length)
