"""All answers fitted at once: the solver, and how far a fit strays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.synthesis.flow import fit as fitting
from sacofa.synthesis.flow.evidence import Evidence, count_table
from sacofa.synthesis.flow.fit import Gram, fit, solve

from ...mechanisms.certified.mixture import COUNTS, POOL, SCALE, SOME, evidence_of, log_of


@given(COUNTS)
@settings(max_examples=20, deadline=None)
def test_a_fit_finds_the_mixture_without_noise(counts: list[int]) -> None:
    """From a start that is wrong, the counts that gave the answers are found.

    Up to two noise scales: of a small count that may be noise, some is taken for noise.
    """
    system = evidence_of(log_of(counts)).system(POOL)
    rows = system.rows
    start = np.full(len(POOL), 100.0)
    found = start
    for _ in range(40):
        found = solve(Gram(rows @ rows.T), rows @ system.answers, 1e-6, start, found)
    assert np.abs(found - counts).max() <= 2 / SCALE + 0.02 * sum(counts)


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
@settings(max_examples=30, deadline=None)
def test_the_solver_reaches_the_optimum(seed: int, size: int) -> None:
    """Optimality itself: no slope where a number is positive, none downwards where it is 0."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(size, size + 3))
    gram, pull = rows @ rows.T, rows @ draw.normal(size=size + 3) * 5
    start = np.abs(draw.normal(size=size))
    found = start
    for _ in range(60):
        found = solve(Gram(gram), pull, 0.1, start, found)
    slope = gram @ found + 0.1 * found - pull - 0.1 * start
    assert (found >= 0).all() and (slope > -0.2).all()
    assert np.abs(slope[found > 0.01]).max(initial=0.0) < 0.2


def test_a_fit_strays_only_if_answers_ask_for_it() -> None:
    """A start that explains the answers hardly moves; one that does not is left."""
    evidence = evidence_of(log_of(SOME), Noise(SeededBits(5)))
    true = dict(zip(POOL, SOME, strict=True))
    near = fit(evidence, POOL, true, float(SCALE))
    assert sum(abs(near[ids] - n) for ids, n in true.items()) < 40
    far = fit(evidence, POOL, {POOL[1]: 410}, float(SCALE))
    assert abs(far[POOL[0]] - 200) < 60 and far[POOL[1]] < 200


def test_what_is_unexplained_is_explained_by_what_happened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sequence that was left out of a fit is proposed first, and none where nothing was.

    If noise were to be explained, sequences would be proposed for it.
    """
    evidence = evidence_of(log_of(SOME), Noise(SeededBits(5)))
    true = {ids: float(n) for ids, n in zip(POOL, SOME, strict=True)}
    largest = POOL[int(np.argmax(SOME))]
    others = [ids for ids in POOL if ids != largest]
    lacking = {ids: true[ids] for ids in others}
    assert fitting.unexplained(evidence, lacking, [*others, largest], 1) == [largest]
    assert fitting.unexplained(evidence_of(log_of(SOME)), true, POOL, len(POOL)) == []
    # Four cases more than were fitted are little beside noise of three.
    counted = Evidence()
    counted.add(np.array([34]), SCALE, count_table)
    assert fitting.unexplained(counted, {(0,): 30.0}, [(1,)], 1) == []
    monkeypatch.setattr(fitting, "BEYOND", 0.0)
    assert fitting.unexplained(counted, {(0,): 30.0}, [(1,)], 1) == [(1,)]


def test_a_fit_is_reckoned_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digits do not depend on the machine; what others reckon with is left as it was."""
    seen: list[set[int]] = []

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def watched(*arguments: object) -> object:
        seen.append(threads())
        return stray(*arguments)  # type: ignore[arg-type]

    stray = fitting._stray
    monkeypatch.setattr(fitting, "_stray", watched)
    with threadpool_limits(2, user_api="blas"):
        # A library that was built for one thread stays at one.
        before = threads()
        fit(evidence_of(log_of(SOME)), POOL, {}, SCALE)
        assert seen == [{1}] != [before]
        assert threads() == before
