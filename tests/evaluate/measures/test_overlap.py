"""Shares of cases whose variant both logs know, and sizes."""

from __future__ import annotations

import pytest

from sacofa.evaluate.measures.flow import invented, mass_kept, size_error
from sacofa.kernel.variants import VariantCounts

ORIGINAL = VariantCounts.of({("a", "b"): 6, ("a", "c"): 3, ("a",): 1})


@pytest.mark.parametrize(
    ("released", "kept", "new", "error"),
    [
        ({("a", "b"): 6, ("a", "c"): 3, ("a",): 1}, 1, 0, 0),
        ({("a", "b"): 3, ("b", "a"): 1}, 0.6, 0.25, 0.6),
        ({("z",): 25}, 0, 1, 1.5),
        ({("a",): 1}, 0.1, 0, 0.9),
        ({}, 0, 0, 1),
    ],
)
def test_by_hand(
    released: dict[tuple[str, ...], int], kept: float, new: float, error: float
) -> None:
    """Figures that one can count on one's fingers."""
    release = VariantCounts.of(released)
    assert mass_kept(ORIGINAL, release) == pytest.approx(kept)
    assert invented(ORIGINAL, release) == pytest.approx(new)
    assert size_error(ORIGINAL, release) == pytest.approx(error)


def test_cut_and_finished_cases_are_one_sequence() -> None:
    """A variant that is there both finished and cut counts with both."""
    release = VariantCounts.of({("a", "b"): 1, ("x",): 1}, truncated={("a", "b"): 2})
    assert mass_kept(ORIGINAL, release) == pytest.approx(0.6)
    assert invented(ORIGINAL, release) == pytest.approx(0.25)
