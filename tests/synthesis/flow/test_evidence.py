"""The equations say what the queries ask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.language import Ids
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import VOTE_UNITS, ActivityVotes, StepVotes
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.flow.fit import (
    Entries,
    Evidence,
    count_table,
    estimate,
    occurrence_table,
    step_table,
)

from ...mechanisms.certified.mixture import (
    COUNTS,
    MAX_LENGTH,
    NAMES,
    POOL,
    SCALE,
    SOME,
    evidence_of,
    log_of,
)


@given(COUNTS)
@settings(max_examples=40, deadline=None)
def test_equations_say_what_the_queries_ask(counts: list[int]) -> None:
    """Without noise, the log's own counts solve all equations, lost remainders and all."""
    system = evidence_of(log_of(counts)).system(POOL)
    own = np.array(counts, dtype=float)
    assert system.misfit(own) <= 1e-9 * (1 + sum(counts)) ** 2
    assert system.misfit(own + np.eye(len(POOL))[0] * 50) > 100


@given(st.lists(st.integers(0, 3), max_size=MAX_LENGTH).map(tuple), st.booleans())
def test_what_is_repeated_counts_once_in_both(ids: Ids, once: bool) -> None:
    """A sequence adds to the equations of steps what a case of it votes for."""
    query = StepVotes(4, (), once)
    whole = [0.0] * len(query.cells)
    for cell, votes in step_table(query, MAX_LENGTH)(ids):
        whole[cell] += VOTE_UNITS * votes
    log = VariantCounts.from_arrays(NAMES, ids, [len(ids)], [1], [len(ids) < MAX_LENGTH])
    assert whole == pytest.approx(query.table(log).tolist())


def test_a_wrong_table_is_noticed() -> None:
    """If the equations do not say what was asked, no counts explain the answers."""
    query = ActivityVotes(4)
    once = query.table(log_of(SOME))[[0, 2, 4, 6, 8]]
    weights = np.array(SOME, dtype=float)
    misfits = []
    for part in (1.0, 0.5):
        evidence = Evidence()
        evidence.add(np.array([sum(SOME)]), SCALE, count_table)
        evidence.add(once, SCALE, occurrence_table(query, part, repeated=False), VOTE_UNITS)
        misfits.append(evidence.system(POOL).misfit(weights))
    assert misfits[0] < 1e-9 and misfits[1] > 500


def test_noise_in_empty_cells_is_not_explained() -> None:
    """Of 300 cells with 3 full ones, a fit finds those, and little in the others.

    If answers were taken as they are, many cases would be made of noise.
    """

    def own_cell(ids: Ids) -> Entries:
        yield ids[0], 1.0

    pool: list[Ids] = [(i,) for i in range(300)]
    full = np.where(np.arange(300) < 3, 90, 0)
    answers = full + np.array(Noise(SeededBits(8)).laplace(SCALE, 300))
    invented = []
    for sparse in (True, False):
        evidence = Evidence()
        (evidence.add_sparse if sparse else evidence.add)(answers, SCALE, own_cell)
        start = dict.fromkeys(pool[:3], 90.0) | dict.fromkeys(pool[3:], 0.5)
        fitted = estimate(evidence, start)
        assert all(70 < fitted[ids] < 110 for ids in pool[:3])
        invented.append(sum(fitted[ids] for ids in pool[3:]))
    assert invented[0] < 0.5 * invented[1]
