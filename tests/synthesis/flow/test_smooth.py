"""Numbers of cases for thousands of draws: shared out, fitted, and settled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa import Certified, anonymize
from sacofa.evaluate.measures.flow import trigrams_distance
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import TrigramVotes
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import questions
from sacofa.synthesis.flow import chain
from sacofa.synthesis.flow.evidence import Evidence, Nearest, count_table
from sacofa.synthesis.flow.smooth import (
    ENOUGH,
    SETTLED,
    minimize,
    settle,
    share_out,
    smooth,
)

from ...mechanisms.certified.mixture import COUNTS, POOL, SCALE, SOME, evidence_of, log_of


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), st.integers(1, 10**6))
def test_votes_are_shared_out_among_the_nearest(votes: list[float], cases: int) -> None:
    """All draws get some, they add up, and what a candidate has its own draws get."""
    drawn = {(0,): 1, (1,): 2, (1, 1, 1, 1, 2): 1, (2, 2): 5}
    found = share_out(drawn, Nearest([(0,), (1,), (2, 2)], 3), np.array(votes), cases)
    assert list(found) == list(drawn) and min(found.values()) > 0
    assert sum(found.values()) == pytest.approx(cases)
    if sum(votes) > 100:
        whole = [found[(0,)], found[(1,)] + found[(1, 1, 1, 1, 2)], found[(2, 2)]]
        expected = np.array(votes) / sum(votes) * cases
        assert np.abs(np.array(whole) - expected).max() <= 0.02 * cases
        # Drawn twice as often: twice the part.
        assert found[(1,)] >= found[(1, 1, 1, 1, 2)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_the_solver_reaches_the_least_value(seed: int, size: int) -> None:
    """Of a convex function with one least value the slope is nothing there."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(size + 3, size))
    least = draw.normal(size=size)

    def function(point: np.ndarray) -> tuple[float, np.ndarray]:
        apart = rows @ (point - least)
        return float((np.cosh(apart) - 1).sum()), rows.T @ np.sinh(apart)

    found = minimize(function, np.zeros(size))
    assert function(found)[0] < 1e-3 * max(function(np.zeros(size))[0], 1e-3)


@given(COUNTS)
@settings(max_examples=20, deadline=None)
def test_numbers_that_explain_the_answers_are_found(counts: list[int]) -> None:
    """From an even start; what is left unexplained is no more than is called enough."""
    evidence = evidence_of(log_of(counts))
    cases = max(sum(counts), 1)
    found = smooth(evidence, dict.fromkeys(POOL, cases / len(POOL)))
    system = evidence.system(POOL)
    weights = np.array([found[ids] for ids in POOL])
    assert (weights > 0).all()
    assert system.misfit(weights) <= max(ENOUGH * system.expected, 1.0)


def test_numbers_stray_only_if_answers_ask_for_it() -> None:
    """A start that explains the answers stays as it is; one that does not is left."""
    evidence = evidence_of(log_of(SOME))
    true = {ids: n + 0.01 for ids, n in zip(POOL, SOME, strict=True)}
    assert smooth(evidence, true) == true
    noisy = evidence_of(log_of(SOME), Noise(SeededBits(5)))
    found = smooth(noisy, dict.fromkeys(POOL, 410 / len(POOL)))
    assert sum(abs(found[ids] - n) for ids, n in true.items()) < 120


def test_what_is_dropped_is_given_to_the_others() -> None:
    """The number of cases stays; what only few can explain goes to those, beside an even share."""
    counted = Evidence()
    counted.add(np.array([100]), SCALE, count_table)
    even = settle(counted, {(0,): 40.0, (1,): 40.0, (2,): 20.0}, [(0,), (1,)])
    assert even[(0,)] == pytest.approx(even[(1,)]) and sum(even.values()) == pytest.approx(100)
    # Long cases were dropped, and only one of those that are left is long.
    evidence = evidence_of(log_of([200, 0, 200, 0, 0, 0, 200]))
    fitted = {POOL[0]: 200.0, POOL[2]: 200.0, POOL[6]: 200.0}
    left = settle(evidence, fitted, [POOL[0], POOL[2]])
    assert left[POOL[2]] > left[POOL[0]] and SETTLED > 0


def test_a_start_of_next_to_nothing_is_settled() -> None:
    """Whatever a fit has left, numbers come out."""
    evidence = evidence_of(log_of(SOME))
    left = settle(evidence, dict.fromkeys(POOL, 0.0), POOL[:3])
    assert np.isfinite(list(left.values())).all()


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

    Without that question, or without draws, it is further from the log.
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
    with monkeypatch.context() as patch:
        patch.setattr(chain, "VARIOUS", 10**9)
        few, asked = off(seeds)
        assert not asked and usual < 0.8 * few
