"""The numbers of cases that explain all answers at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from sacofa import Certified, anonymize
from sacofa.evaluate.measures.flow import trigrams_distance
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import TrigramVotes
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import questions
from sacofa.synthesis.flow import fit as estimating
from sacofa.synthesis.flow.fit import (
    Evidence,
    Nearest,
    estimate,
    estimate_with_misfit,
    frequent_table,
    share_out,
)

from ...mechanisms.certified.mixture import COUNTS, POOL, SOME, evidence_of, log_of


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), st.integers(1, 10**6))
def test_votes_are_shared_out_among_the_nearest(votes: list[float], cases: int) -> None:
    """All get some, they add up, and the votes of a candidate stay with it and samples near it."""
    drawn = {(0,): 1, (1,): 2, (1, 1, 1, 1, 2): 1, (2, 2): 5}
    named = [(0,), (1,), (2, 2)]
    found = share_out(drawn, dict(zip(named, votes, strict=True)), Nearest(named, 3), cases)
    assert set(found) == set(drawn) and min(found.values()) > 0
    assert sum(found.values()) == pytest.approx(cases)
    if sum(votes) > 100:
        whole = [found[(0,)], found[(1,)] + found[(1, 1, 1, 1, 2)], found[(2, 2)]]
        expected = np.array(votes) / sum(votes) * cases
        assert np.abs(np.array(whole) - expected).max() <= 0.02 * cases
        # Sampled twice as often: at least twice the part.
        assert found[(1,)] >= found[(1, 1, 1, 1, 2)]


def test_a_candidate_keeps_its_votes_as_far_as_samples_near_it_repeat() -> None:
    """Where each sample is another one, the votes go to the samples; where all are alike, not."""
    candidate = (0,) * 9
    alike = {candidate: 40, (*candidate, 1): 20}
    different = {(*candidate[:i], 1, *candidate[i:], j): 1 for i in range(9) for j in range(2, 9)}
    kept = [
        share_out(drawn, {candidate: 60.0}, Nearest([candidate], 9), 60)[candidate]
        for drawn in (alike, different)
    ]
    assert kept[0] > 50 and kept[1] < 5


@given(COUNTS)
@settings(max_examples=20, deadline=None)
def test_numbers_that_explain_the_answers_are_found(counts: list[int]) -> None:
    """From an even start, without noise: nearly all squares of noise scales are explained."""
    evidence = evidence_of(log_of(counts))
    cases = max(sum(counts), 1)
    start = dict.fromkeys(POOL, cases / len(POOL))
    fitted, misfit = estimate_with_misfit(evidence, start)
    found = np.array(list(fitted.values()))
    system = evidence.system(POOL)
    assert misfit == pytest.approx(system.misfit(found))
    assert (found > 0).all()
    before = system.misfit(np.array(list(start.values())))
    assert system.misfit(found) <= max(0.02 * before, 40.0)


def test_numbers_stray_only_if_answers_ask_for_it() -> None:
    """A start that explains the answers hardly moves; one that does not is left."""
    evidence = evidence_of(log_of(SOME))
    true = {ids: n + 0.01 for ids, n in zip(POOL, SOME, strict=True)}
    same = estimate(evidence, true)
    assert max(abs(same[ids] - n) for ids, n in true.items()) < 2
    noisy = evidence_of(log_of(SOME), Noise(SeededBits(5)))
    found = estimate(noisy, dict.fromkeys(POOL, 410 / len(POOL)))
    assert sum(abs(found[ids] - n) for ids, n in true.items()) < 120


def test_answers_without_noise_are_not_explained_by_coincidences() -> None:
    """What a pool cannot give stays unexplained, or its numbers would be torn apart for it."""
    evidence = Evidence()
    table = frequent_table([(0,), (1,)])
    # No noise, and two answers that contradict each other.
    for answer in (100, 104):
        evidence.add(np.array([answer, 100]), DiscreteLaplace(Fraction(1_000)), table)
    found = estimate(evidence, {(0,): 50.0, (1,): 150.0})
    assert 99 < found[(0,)] < 105 and 98 < found[(1,)] < 102
    assert sum(found.values()) == pytest.approx(202, abs=2)


def test_a_fit_is_computed_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digits do not depend on the machine, and other computations keep their threads."""
    seen: list[set[int]] = []

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return prices(*arguments)

    prices = estimating._prices
    monkeypatch.setattr(estimating, "_prices", watched)
    with threadpool_limits(2, user_api="blas"):
        # A library that was built for one thread stays at one.
        before = threads()
        estimate(evidence_of(log_of(SOME)), dict.fromkeys(POOL, 50.0))
        assert {1} == set.union(*seen) and seen[0] != before
        assert threads() == before


def various_log() -> VariantCounts:
    """Ten coins, each of which the one after next repeats: hardly two cases are alike."""
    draw = np.random.default_rng(1)
    cases = []
    for _ in range(12_000):
        heads = list(draw.random(2) < 0.5)
        for i in range(2, 12):
            heads.append(heads[i - 2] if draw.random() < 0.75 else draw.random() < 0.5)
        cases.append([f"{i:02}{'ab'[int(head)]}" for i, head in enumerate(heads)])
    return VariantCounts.from_cases(cases)


def test_where_hardly_two_cases_are_alike_trigrams_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are paid for, and the release knows what steps alone do not tell.

    Without that question it is further from the log.
    """
    log = various_log()

    def off(seeds: range) -> tuple[float, bool]:
        releases = [anonymize(log, Certified(epsilon=1), seed=seed) for seed in seeds]
        asked = {
            any(line.what == TrigramVotes.what for line in r.certificate.spent) for r in releases
        }
        assert all(r.certificate.epsilon == 1 for r in releases)
        [was_asked] = asked
        return float(np.mean([trigrams_distance(log, r.variants) for r in releases])), was_asked

    seeds = range(4)
    usual, asked = off(seeds)
    assert asked
    with monkeypatch.context() as patch:
        patch.setattr(questions, "SCALES_PER_TRIGRAM", 10**9)
        without, asked = off(seeds)
        assert not asked and usual < 0.9 * without
