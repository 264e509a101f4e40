"""The list of sequences that cases vote for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.synthesis.flow.candidates import CandidateGenerator
from sacofa.synthesis.flow.chain import Chain
from sacofa.synthesis.flow.edits import StepOdds
from sacofa.synthesis.flow.sampler import UniformSampler
from sacofa.synthesis.flow.steps import KeptSteps


def test_candidates_are_few_and_new() -> None:
    """No list is longer than asked for, none has a sequence twice or one that is too long."""
    weights = np.ones((5, 5), dtype=np.int64)
    steps = KeptSteps(weights=weights)
    sampler = UniformSampler(Noise(SeededBits(2)))
    chain = Chain(steps, 6, sampler)
    generator = CandidateGenerator(steps, chain, sampler)
    first = generator.first(40, {}, 100)
    chain.learn({first[0]: 60, first[1]: 40})
    second = generator.next(40, {first[0]: 60, first[1]: 40})
    for found in (first, second):
        assert 1 < len(found) <= 40 == len({*found}) + 40 - len(found)
        assert max(map(len, found)) <= 6
    assert second[:2] == first[:2]


def test_nothing_follows_itself_unless_that_step_passed() -> None:
    """Where what lay between is deleted, a repeated activity would."""
    weights = np.ones((4, 4), dtype=np.int64)
    weights[0, 0] = weights[1, 1] = 0
    steps = KeptSteps(weights=weights)
    sampler = UniformSampler(Noise(SeededBits(2)))
    generator = CandidateGenerator(steps, Chain(steps, 9, sampler), sampler)
    found = generator.next(400, {(0, 1, 0, 2, 2): 50, (1, 0, 1, 2): 50})
    twice = {a for ids in found for a, b in pairwise(ids) if a == b}
    assert twice == {2}


def test_what_few_cases_repeat_is_tried_on_the_usual_ways() -> None:
    """Usual sequences take each likely way back once; what is done in them is no way."""
    weights = np.ones((5, 5), dtype=np.int64)
    weights[1, 1] = 0
    steps = KeptSteps(weights=weights, ways_back={0: [3, 0], 1: [2, 1, 3]})
    sampler = UniformSampler(Noise(SeededBits(2)))
    chain = Chain(steps, 5, sampler)
    generator = CandidateGenerator(steps, chain, sampler)
    usual = {(0, 1, 2): 90, (1, 1): 50, (0, 2, 3): 20, (0, 1, 2, 3): 9}
    # Draws repeat everything as often as they like: then nothing is missing.
    assert not generator.repeating(usual, 20)
    chain.limit_repeats([0.01] * 4)
    found = generator.repeating(usual, 20)
    assert found == [
        (0, 3, 0, 1, 2), (0, 0, 1, 2), (0, 0, 2, 3), (0, 0, 1, 2, 3), (0, 1, 3, 1, 2),
    ]  # fmt: skip
    assert generator.repeating(usual, 2) == found[:2]


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
    sampler = UniformSampler(Noise(SeededBits(2)))
    generator = CandidateGenerator(steps, Chain(steps, 5, sampler), sampler, frozenset({3}))
    first = generator.first(30, {}, 100)
    assert first[:2] == [usual, (0, 1)] and (0, 2, 3, 1) in first[:6]
    assert len(first) == 30
    one = generator.changed({usual: 9, (4, 5): 3}, 10)
    assert len(one) == 10 and {(0, 2, 3, 1), (0, 1)} <= {*one[:4]}
    many = generator.changed({usual: 9, (4, 5): 3}, 60)
    assert any(4 in ids and 5 in ids and 2 not in ids for ids in many[-20:])
    for ids in many:
        assert len(ids) <= 5 and ids.count(3) < 2 and (2, 2) not in pairwise(ids)
    assert not generator.changed({usual * 26: 9}, 10)
    bare = KeptSteps(weights=weights)
    assert not CandidateGenerator(bare, Chain(bare, 5, sampler), sampler).changed({usual: 9}, 10)
