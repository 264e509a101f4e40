"""Samples that are moved until they agree with the noisy answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.language import Ids
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import VOTE_UNITS, ActivityVotes, StepVotes
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.flow.chain import Chain
from sacofa.synthesis.flow.fit import Evidence, estimate, occurrence_table, spread, step_table
from sacofa.synthesis.flow.population import ActivityAnswers, Population, is_various
from sacofa.synthesis.flow.steps import KeptSteps
from sacofa.synthesis.numerics import draw_uniform

NAMES = tuple("abcdefg")
CASES = 3_000
NOISE = Noise(SeededBits(4))


def parallel_log() -> list[Ids]:
    """First a, then b to e in any order, g in every third case among them, and f at the end."""
    draw = np.random.default_rng(1)
    cases = []
    for i in range(CASES):
        block = draw.permutation([1, 2, 3, 4, *([6] if i % 3 == 0 else [])]).tolist()
        cases.append((0, *block, 5))
    return cases


def looping_log() -> list[Ids]:
    """b and c in turns, up to several times."""
    draw = np.random.default_rng(2)
    return [(0, *((1, 2) * int(draw.geometric(0.5))), 3) for _ in range(CASES)]


def moved(
    cases: Sequence[Ids], *, rounds: int, never_repeated: frozenset[int], longest: int = 40
) -> tuple[list[Ids], list[Ids]]:
    """Samples of the chain of a log, before and after they were moved; answers have no noise."""
    size = len(NAMES) + 1
    steps = np.zeros((size, size), dtype=np.int64)
    for ids in cases:
        path = (len(NAMES), *ids, len(NAMES))
        for a, b in pairwise(path):
            steps[a, b] += 1
    log = VariantCounts.from_cases([[NAMES[i] for i in ids] for ids in cases]).project_onto(NAMES)
    query, pairs, evidence = ActivityVotes(len(NAMES)), StepVotes(len(NAMES)), Evidence()
    table = query.table(log)
    votes = table[:-1].reshape(-1, 2) / VOTE_UNITS
    for repeated, cells in ((False, table[::2]), (True, table[1::2])):
        adds = occurrence_table(query, repeated=repeated)
        evidence.add(cells, DiscreteLaplace(Fraction(1, 3) / VOTE_UNITS), adds, VOTE_UNITS)
    adds = step_table(pairs, longest)
    law = DiscreteLaplace(Fraction(1, 3) / VOTE_UNITS)
    evidence.add_sparse(pairs.table(log), law, adds, VOTE_UNITS)
    uniform = partial(draw_uniform, NOISE)
    chain = Chain(KeptSteps(weights=steps), longest, uniform, once=never_repeated)
    samples = chain.draw(2_000)
    answers = ActivityAnswers(
        once=votes[:, 0],
        repeated=votes[:, 1],
        part_once=1 - query.for_repeats / VOTE_UNITS,
        part_repeated=query.for_repeats / VOTE_UNITS,
        never_repeated=never_repeated,
    )
    population = Population(samples, steps.astype(np.float64), answers, longest, uniform)
    for _ in range(rounds):
        times = Counter(population.samples)
        start = spread(times, len(cases))
        population.evolve(start, estimate(evidence, start), len(cases))
    return samples, population.samples


def shares(cases: Sequence[Ids], times: int = 1) -> np.ndarray:
    """The share of cases that have each activity at least this often."""
    counts = [[ids.count(a) >= times for a in range(len(NAMES))] for ids in cases]
    return np.mean(counts, axis=0)


def test_samples_have_each_activity_as_often_as_cases_of_parallel_branches() -> None:
    """A chain forgets what was done, and loses a third of some activities; moved samples do not."""
    cases = parallel_log()
    before, after = moved(cases, rounds=4, never_repeated=frozenset(range(7)))
    wrong, right = (np.abs(shares(found) - shares(cases)) for found in (before, after))
    assert wrong.max() > 0.15
    assert right.max() < 0.06 and right.mean() < 0.25 * wrong.mean()
    # What happens once is never repeated, and cases begin and end as they do.
    assert shares(after, 2).max() == 0
    assert np.mean([ids[0] == 0 and ids[-1] == 5 for ids in after]) > 0.9


def test_samples_repeat_as_often_as_cases() -> None:
    """Loops are neither cut off nor made."""
    cases = looping_log()
    _, after = moved(cases, rounds=3, never_repeated=frozenset({0, 3}))
    assert np.abs(shares(after, 2) - shares(cases, 2)).max() < 0.1
    assert np.abs(shares(after) - shares(cases)).max() < 0.05


def test_no_sample_becomes_as_long_as_truncated_cases() -> None:
    """Those that were truncated already stay as they are; no case without events is made."""
    cases = parallel_log()
    _, after = moved(cases, rounds=3, never_repeated=frozenset(range(7)), longest=7)
    assert max(map(len, after)) <= 7 and min(map(len, after)) > 0


def test_without_answers_about_activities_samples_are_selected_only() -> None:
    """Each as often as its number says, rounded up or down."""
    uniform = partial(draw_uniform, NOISE)
    samples: list[Ids] = [(0,)] * 50 + [(1,)] * 50
    population = Population(samples, np.ones((8, 8)), None, 9, uniform)
    population.evolve({(0,): 50.0, (1,): 50.0}, {(0,): 80.6, (1,): 19.4}, 100)
    assert Counter(population.samples) in (Counter({(0,): 80, (1,): 20}),
                                               Counter({(0,): 81, (1,): 19}))  # fmt: skip


def test_fitted_numbers_tell_whether_cases_are_alike() -> None:
    """A few that leave one path are not various; those that all differ are."""
    assert not is_various({(0, 1): 900.0} | {(0, i): 1.0 for i in range(2, 90)})
    assert is_various({(i, i + 1): 2.0 for i in range(400)})
