"""Sequences drawn step by step."""

from __future__ import annotations

import numpy as np

from sacofa.mechanisms.certified.chain import Chain
from sacofa.mechanisms.certified.sampler import UniformSampler
from sacofa.mechanisms.certified.steps import KeptSteps
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise


def test_what_comes_after_an_activity_is_never_the_end() -> None:
    """The end may come in a draw, but not where an activity is asked for."""
    weights = np.array([[0, 3, 9], [0, 0, 5], [2, 1, 4]])
    chain = Chain(KeptSteps(weights=weights), 3, UniformSampler(Noise(SeededBits(3))))
    after = [[chain.activity_after(a) for _ in range(200)] for a in range(3)]
    assert [{*some} for some in after] == [{1}, {None}, {0, 1}]
    assert () in {chain.draw() for _ in range(200)}
