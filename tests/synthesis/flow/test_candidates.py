"""The list of sequences that cases vote for."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.synthesis.flow.candidates import CandidateGenerator
from sacofa.synthesis.flow.chain import Chain
from sacofa.synthesis.flow.steps import KeptSteps, StepOdds
from sacofa.synthesis.numerics import draw_uniform


def chain_of(steps: KeptSteps, max_length: int, once: frozenset[int] = frozenset()) -> Chain:
    """A chain with a fixed seed."""
    return Chain(steps, max_length, partial(draw_uniform, Noise(SeededBits(2))), once=once)


def test_candidates_are_few_and_new() -> None:
    """No list is longer than asked for, none has a sequence twice or one that is too long."""
    weights = np.ones((5, 5), dtype=np.int64)
    steps = KeptSteps(weights=weights)
    generator = CandidateGenerator(steps, chain_of(steps, 6))
    samples = generator.samples(100)
    assert len(samples) >= 100 and max(map(len, samples)) <= 6
    first = generator.first(40, {}, 100, samples)
    second = generator.second(40, {first[3]: 9}, dict.fromkeys(samples, 1.0) | {first[0]: 60.0})
    for found in (first, second):
        assert 1 < len(found) <= 40 and len(set(found)) == len(found)
        assert max(map(len, found)) <= 6
    assert second[:2] == [first[3], first[0]]


def test_nothing_follows_itself_unless_that_step_passed() -> None:
    """Where samples were moved, a repeated activity may come directly after itself."""
    weights = np.ones((4, 4), dtype=np.int64)
    weights[0, 0] = weights[1, 1] = 0
    steps = KeptSteps(weights=weights)
    generator = CandidateGenerator(steps, chain_of(steps, 9))
    found = generator.second(10, {}, {(0, 0, 1): 9.0, (1, 2, 2): 5.0, (0, 1, 0): 3.0})
    assert found[:2] == [(1, 2, 2), (0, 1, 0)]
    assert not any(a == b and a < 2 for ids in found for a, b in pairwise(ids))


def test_published_variants_leave_less_room_for_samples() -> None:
    """The fewer cases are left, the fewer samples join; but all published variants stay."""
    steps = KeptSteps(weights=np.ones((5, 5), dtype=np.int64))
    generator = CandidateGenerator(steps, chain_of(steps, 6))
    samples = generator.samples(2_000)
    lengths = [
        len(generator.first(100, {(0, 1): shown}, 1_000, samples)) for shown in (0, 500, 1_000)
    ]
    assert lengths == [101, 51, 26]


def test_the_likeliest_changes_of_usual_sequences_are_tried() -> None:
    """Those of one in a short list, those of several in a long one; none that may not be."""
    weights = np.ones((7, 7), dtype=np.int64)
    weights[2, 2] = 0
    votes = np.zeros((7, 7))
    # Some cases do 2 and 3 before 1, and some end after 1.
    for step in ((0, 2), (3, 1), (1, 6)):
        votes[step] = 4.0
    usual = (0, 1, 2, 3)
    steps = KeptSteps(
        weights=weights,
        likeliest=(usual, (0, 1)),
        odds=StepOdds(votes=votes, weights=weights, cases=80.0),
    )
    generator = CandidateGenerator(steps, chain_of(steps, 5, frozenset({3})))
    first = generator.first(30, {}, 100, generator.samples(1_000))
    assert first[:2] == [usual, (0, 1)] and (0, 2, 3, 1) in first[:6]
    assert len(first) == 30
    one = generator.changed({usual: 9, (4, 5): 3}, 20)
    assert len(one) == 10 and {(0, 2, 3, 1), (0, 1)} <= {*one[:4]}
    many = generator.changed({usual: 9, (4, 5): 3}, 120)
    assert any(4 in ids and 5 in ids and 2 not in ids for ids in many[-20:])
    for ids in many:
        assert len(ids) <= 5 and ids.count(3) < 2 and (2, 2) not in pairwise(ids)
    assert not generator.changed({usual * 26: 9}, 20)
    bare = KeptSteps(weights=weights)
    assert not CandidateGenerator(bare, chain_of(bare, 5)).changed({usual: 9}, 20)
