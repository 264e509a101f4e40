"""The equations say what the queries ask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.language import Ids
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import VOTE_UNITS, ActivityVotes, StepVotes, TrigramVotes
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.flow.fit import (
    Entries,
    Evidence,
    Table,
    count_table,
    estimate,
    occurrence_table,
    step_table,
    trigram_table,
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


@given(
    st.lists(st.integers(0, 3), max_size=MAX_LENGTH).map(tuple),
    st.booleans(),
    st.sampled_from([(), (6, 16, 9, 7)]),
    st.booleans(),
)
def test_a_sequence_adds_to_the_equations_what_a_case_of_it_votes_for(
    ids: Ids, once: bool, weights: tuple[int, ...], euclidean: bool
) -> None:
    log = VariantCounts.from_arrays(NAMES, ids, [len(ids)], [1], [len(ids) < MAX_LENGTH])

    def added(table: Table, cells: int) -> list[float]:
        whole = [0.0] * cells
        for cell, votes in table(ids):
            whole[cell] += VOTE_UNITS * votes
        return whole

    steps = StepVotes(4, weights, once, euclidean=euclidean)
    found = added(step_table(steps, MAX_LENGTH), len(steps.cells))
    assert found == pytest.approx(steps.table(log).tolist())
    listed = tuple((a, b, c) for a in (4, 0, 1) for b in range(3) for c in (0, 2, 4))
    trigrams = TrigramVotes(4, listed, euclidean=euclidean)
    found = added(trigram_table(trigrams, MAX_LENGTH), len(listed))
    assert found == pytest.approx(trigrams.table(log).tolist())
    activities = ActivityVotes(4, euclidean=euclidean)
    votes = activities.table(log)
    for repeated, own in ((False, votes[::2]), (True, votes[1::2])):
        found = added(occurrence_table(activities, repeated=repeated), 5)
        # The votes for the others are rounded before they are divided.
        assert found[: len(own)] == pytest.approx(own.tolist(), abs=1)


def test_a_wrong_table_is_noticed() -> None:
    """If the equations do not say what was asked, no counts explain the answers."""
    query = ActivityVotes(4)
    once = query.table(log_of(SOME))[[0, 2, 4, 6, 8]]
    weights = np.array(SOME, dtype=float)
    misfits = []
    for part in (1.0, 0.5):
        evidence = Evidence()
        evidence.add(np.array([sum(SOME)]), DiscreteLaplace(SCALE), count_table)
        evidence.add(
            once,
            DiscreteLaplace(SCALE / VOTE_UNITS),
            occurrence_table(query, part, repeated=False),
            VOTE_UNITS,
        )
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
        (evidence.add_sparse if sparse else evidence.add)(answers, DiscreteLaplace(SCALE), own_cell)
        start = dict.fromkeys(pool[:3], 90.0) | dict.fromkeys(pool[3:], 0.5)
        fitted = estimate(evidence, start)
        assert all(70 < fitted[ids] < 110 for ids in pool[:3])
        invented.append(sum(fitted[ids] for ids in pool[3:]))
    assert invented[0] < 0.5 * invented[1]
