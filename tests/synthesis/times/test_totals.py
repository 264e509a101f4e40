"""How long cases take: bins that add up, and ends that noise does not reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.kernel.queries.durations import RUNGS, bin_of, bins, edges
from sacofa.synthesis.numerics import project_to_total
from sacofa.synthesis.times.rows import longest, read_totals

CASES = 20_000.0
DAY = 86_400_000_000


def true_votes(rung: int, seed: int = 1) -> np.ndarray:
    """Cases of some days, on a rung."""
    days = np.random.default_rng(seed).lognormal(1.5, 0.8, int(CASES))
    places = bin_of((days * DAY).astype(np.int64), rung)
    return np.bincount(places, minlength=bins(rung)).astype(np.float64)


@given(
    rung=st.integers(0, RUNGS - 1),
    seed=st.integers(0, 999),
    noise=st.sampled_from([0.0, 1.0, 1e6]),
    single=st.sampled_from([0.0, 5.0, CASES]),
)
def test_any_answer_gives_shares(rung: int, seed: int, noise: float, single: float) -> None:
    """Shares add up to 1 and none is negative, whatever the noise."""
    noisy = true_votes(rung) + np.random.default_rng(seed).laplace(0, noise, bins(rung))
    shares, kept = read_totals(noisy, noise, CASES, single)
    assert len(shares) == bins(rung)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0)
    assert 1 <= kept <= bins(0)


@pytest.mark.parametrize("rung", [0, 2, 6])
def test_without_noise_they_are_true(rung: int) -> None:
    """Nothing is cut and nothing moved where the answer is exact."""
    shares, _ = read_totals(true_votes(rung), 0.0, CASES, 0.0)
    assert shares == pytest.approx(true_votes(rung) / CASES)


def test_noise_of_many_empty_bins_does_not_add_up() -> None:
    """Told from coarse to fine, far fewer cases are misplaced than by one projection."""
    rung, noise = 6, 11.0
    true, middles = true_votes(rung), np.log2(1 + np.array(edges(rung)[1:]) / 1e6)
    far: dict[str, list[float]] = {"ladder": [], "at once": []}
    for seed in range(10):
        noisy = true + np.random.default_rng(seed).laplace(0, noise, bins(rung))
        for name, told in (
            ("ladder", read_totals(noisy, noise, CASES, 0.0)[0] * CASES),
            ("at once", project_to_total(noisy, CASES)),
        ):
            off = np.abs(np.cumsum(told - true))[:-1] @ np.diff(middles)
            far[name].append(float(off) / CASES)
    assert np.median(far["ladder"]) < np.median(far["at once"]) / 3


def test_short_cases_within_the_noise_are_none() -> None:
    """A few false cases of a second among cases of days are dropped; many are true."""
    noise = 10.0
    votes = true_votes(0)
    votes[1] = 12.0
    assert read_totals(votes, noise, CASES, 0.0)[0][1] == 0
    votes[1] = 400.0
    assert read_totals(votes, noise, CASES, 0.0)[0][1] > 0


def test_cases_of_one_event_take_no_time() -> None:
    """The flow says how many there are, and no noise takes them away."""
    votes = true_votes(0)
    shares, _ = read_totals(votes, 10.0, CASES + 300, 300.0)
    assert shares[0] * (CASES + 300) == pytest.approx(300.0)


def test_a_tail_within_the_noise_is_cut() -> None:
    """The longer a bin is, the more votes it takes to be believed."""
    middles = np.array([1.0, 10.0, 100.0, 1e6])
    flat = np.array([500.0, 300.0, 200.0, 0.0])
    assert longest(flat + np.array([0, 0, 0, 30]), 10.0, 1000.0, middles) == 3
    assert longest(flat + np.array([0, 0, 0, 200]), 10.0, 1000.0, middles) == 4
    assert longest(np.full(4, -5.0), 10.0, 1.0, middles) == 1
