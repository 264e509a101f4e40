"""Weights that explain answers."""

from __future__ import annotations

import numpy as np

from sacofa.synthesis.times.courses import Votes, weigh


def test_weights_meet_sizes_exactly_and_targets_closely() -> None:
    """Sizes of groups are kept whatever the target says; a feasible target is met."""
    draws = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], 200)
    cells = draws.integers(0, 4, (600, 2)) + np.array([0, 4])
    sizes = np.array([5, 50, 500])
    target = np.array([300.0, 155, 50, 50, 100, 100, 100, 255])
    owners, noise = np.repeat(np.arange(600), 2), np.full(8, 0.01)
    votes = Votes(owners, cells.ravel(), np.ones(1200), target, noise)
    weights = weigh(votes, group, sizes, np.zeros(600), 1e-6)
    assert np.allclose(np.bincount(group, weights), sizes)
    told = np.bincount(cells.ravel(), np.repeat(weights, 2), minlength=8)
    assert np.allclose(told, target, atol=0.5)
    assert (weights >= 0).all()


def test_without_news_nothing_changes() -> None:
    """Where answers say nothing, all courses of a group weigh the same."""
    cells = np.array([0, 1, 0, 1, 0, 1])
    votes = Votes(np.arange(6), cells, np.ones(6), np.zeros(2), np.full(2, 1e6))
    group, sizes = np.array([0, 0, 1, 1, 1, 1]), np.array([1, 8])
    weights = weigh(votes, group, sizes, np.zeros(6), 1e-6)
    assert np.allclose(weights, [0.5, 0.5, 2, 2, 2, 2], atol=1e-3)
