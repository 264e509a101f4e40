"""Rows of durations told from noisy votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.kernel.queries.durations import LOWEST, bins, edges
from sacofa.synthesis.times.rows import Table, read_rows, within

NOISE = 14.0
"""That of elapsed times at ε = 1."""
LONGEST = edges(0)[-1] / 1e6
TRUE = np.array([0, 0, 1, 8, 22, 25, 20, 10, 5, 4, 3, 2, 0, 0]) * 1.0
"""A hundred votes for minutes and hours, with a tail of days."""


def on(rung: int) -> np.ndarray:
    """The true votes on rung 0 or below."""
    return np.bincount(within(0, rung), TRUE, minlength=bins(rung))


def told(rung: int, noisy: np.ndarray, noise: float = NOISE) -> np.ndarray:
    """What a single row is taken for, on rung 0."""
    rows = np.array([TRUE.sum()]), np.array([0])
    _, shares = read_rows(Table.of((rung,)), noisy, *rows, noise, LONGEST)
    return shares


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [1e8, 1e12])
def test_no_noise_is_too_large_for_a_row(noise: float) -> None:
    """Where a price is tiny, noise is reckoned with like any other, without a word of it."""
    for seed in range(20):
        noisy = np.random.default_rng(seed).laplace(0, noise, bins(LOWEST))
        for top in (1.0, 3600.0):
            rows = np.array([TRUE.sum()]), np.array([0])
            _, shares = read_rows(Table.of((LOWEST,)), noisy, *rows, noise, top)
            assert shares.sum() == pytest.approx(1) and (shares >= 0).all()


@settings(deadline=None, max_examples=40)
@given(
    rungs=st.lists(st.integers(LOWEST, 2), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    noise=st.floats(0.1, 1e4),
    top=st.sampled_from([1.0, 3600.0, 91 * 86_400.0, LONGEST]),
)
def test_any_answer_gives_shares(rungs: list[int], seed: int, noise: float, top: float) -> None:
    """Rows add up to one, on rung 0 or above, and nothing takes longer than the longest."""
    draws = np.random.default_rng(seed)
    table = Table.of(tuple(rungs))
    noisy = draws.laplace(0, noise, len(table.low))
    votes = draws.integers(0, 100, len(rungs)).astype(float)
    kin = draws.integers(0, 2, len(rungs))
    found, shares = read_rows(table, noisy, votes, kin, noise, top)
    assert found.rungs == tuple(max(rung, 0) for rung in rungs)
    assert (shares >= 0).all()
    assert found.sums(shares) == pytest.approx(1.0)
    assert not shares[found.low >= top].any()


@pytest.mark.parametrize("rung", [-1, 0])
def test_without_noise_cells_are_true(rung: int) -> None:
    """Whatever shape is laid into them."""
    shares = told(rung, on(rung), 1e-6)
    assert np.bincount(within(0, rung), shares) == pytest.approx(on(rung) / TRUE.sum(), abs=1e-6)


def test_few_votes_are_told_better_in_few_bins() -> None:
    """Noise of half as many bins adds up to less: shares up to a minute, an hour, a day, a week."""
    ends = np.flatnonzero(np.diff(within(0, -1)))
    true = np.cumsum(TRUE)[ends] / TRUE.sum()
    off = {}
    for rung in (-1, 0):
        draws = np.random.default_rng(1)
        rows = [told(rung, on(rung) + draws.laplace(0, NOISE, bins(rung))) for _ in range(200)]
        off[rung] = np.mean([np.abs(np.cumsum(row)[ends] - true).mean() for row in rows])
    assert off[-1] < 0.85 * off[0]
