"""Sequences drawn step by step."""

from __future__ import annotations

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.synthesis.flow.chain import MUCH, Chain, repeats_of
from sacofa.synthesis.flow.sampler import UniformSampler
from sacofa.synthesis.flow.steps import KeptSteps


def test_what_comes_after_an_activity_is_never_the_end() -> None:
    """The end may come in a draw, but not where an activity is asked for."""
    weights = np.array([[0, 3, 9], [0, 0, 5], [2, 1, 4]])
    chain = Chain(KeptSteps(weights=weights), 3, UniformSampler(Noise(SeededBits(3))))
    after = [[chain.activity_after(a) for _ in range(200)] for a in range(3)]
    assert [{*some} for some in after] == [{1}, {None}, {0, 1}]
    assert () in {chain.draw() for _ in range(200)}


def test_a_chain_repeats_hardly_more_often_than_cases_do() -> None:
    """Back and forth between two activities is what a chain does, and no case need do."""
    weights = np.array([[0, 8, 2], [8, 0, 2], [5, 5, 0]])
    steps = KeptSteps(weights=weights)

    def repeating(shares: list[float] | None, once: frozenset[int] = frozenset()) -> float:
        chain = Chain(steps, 9, UniformSampler(Noise(SeededBits(5))), once=once)
        if shares is not None:
            chain.limit_repeats(shares)
        return sum(0 in repeats_of(chain.draw()) for _ in range(2_000)) / 2_000

    free = repeating(None)
    assert free > 0.3
    # Draws of both are drawn for each by itself.
    assert 0 < repeating([0.05, 1.0]) < 1.3 * MUCH * 0.05 < free
    # What is repeated as often as the chain does it is not limited, what happens once is.
    assert abs(repeating([1.0, 1.0]) - free) < 0.05
    assert repeating([1.0, 1.0], frozenset({0, 1})) == 0


def test_variations_repeat_as_seldom_as_draws() -> None:
    """What chance forbids is not repeated, and what is not limited is no matter of chance."""
    chain = Chain(
        KeptSteps(weights=np.array([[3, 6, 4], [6, 3, 4], [5, 5, 0]])),
        9,
        UniformSampler(Noise(SeededBits(5))),
    )
    assert all(chain.may_repeat({0, 1}) for _ in range(50)) and not chain.is_limited(0)
    chain.limit_repeats([0.02, 1.0])
    assert chain.is_limited(0) and not chain.is_limited(1)
    assert all(chain.may_repeat(some) for some in [(), (1,)] * 50)
    assert 0 < sum(chain.may_repeat({0, 1}) for _ in range(2_000)) < 300


def test_a_chain_follows_trigrams() -> None:
    """After two activities comes what votes say, whatever steps and sequences would do."""
    weights = np.array([[0, 5, 5, 5], [0, 0, 5, 5], [0, 5, 0, 5], [9, 0, 0, 0]])
    chain = Chain(KeptSteps(weights=weights), 9, UniformSampler(Noise(SeededBits(5))))
    chain.learn({(0, 1, 2): 1_000})
    before = sum((*ids, 3)[:3] == (0, 1, 2) for ids in (chain.draw() for _ in range(300)))
    assert before > 200
    # That nothing but 2 follows 0 and 1 at the beginning was learnt, and no longer holds.
    chain.follow({(0, 1, 3): 10**6, (0, 1, 2): 0})
    drawn = [chain.draw() for _ in range(300)]
    assert all(len(ids) == 2 for ids in drawn if ids[:2] == (0, 1))
    assert any(ids[:2] == (0, 1) for ids in drawn)


def test_draws_tell_whether_cases_are_alike() -> None:
    """One way with a few that leave it is not various; a coin at each of ten steps is."""

    def chain(other: int) -> Chain:
        weights = np.zeros((21, 21), dtype=np.int64)
        weights[20, 0], weights[20, 10] = 100, other
        for a in range(9):
            for row in (a, 10 + a):
                weights[row, a + 1], weights[row, 11 + a] = 100, other
        weights[[9, 19], 20] = 1
        return Chain(KeptSteps(weights=weights), 30, UniformSampler(Noise(SeededBits(5))))

    assert not chain(2).is_various()
    assert chain(100).is_various()
