"""Sequences sampled step by step."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.synthesis.flow.chain import Chain, UniformSampler
from sacofa.synthesis.flow.steps import KeptSteps


def test_what_comes_next_goes_by_weight() -> None:
    """The end may come at once; what has no weight never comes."""
    weights = np.array([[0, 3, 9], [0, 0, 5], [2, 1, 4]])
    chain = Chain(KeptSteps(weights=weights), 3, UniformSampler(Noise(SeededBits(3))))
    drawn = Counter(chain.draw() for _ in range(2_000))
    assert set(drawn) == {(), (0,), (0, 1), (1,)}
    assert abs(drawn[()] / 2_000 - 4 / 7) < 0.05 and abs(drawn[(0, 1)] / 2_000 - 1 / 14) < 0.03


def test_what_happens_once_is_not_repeated() -> None:
    """Back and forth between two activities is what a chain does, and no case need do."""
    weights = np.array([[0, 8, 2], [8, 0, 2], [5, 5, 0]])

    def repeating(once: frozenset[int]) -> float:
        sampler = UniformSampler(Noise(SeededBits(5)))
        chain = Chain(KeptSteps(weights=weights), 9, sampler, once=once)
        drawn = [chain.draw() for _ in range(1_000)]
        return sum(ids.count(0) > 1 for ids in drawn) / 1_000

    assert repeating(frozenset()) > 0.3
    assert repeating(frozenset({0})) == 0 == repeating(frozenset({0, 1}))
