"""A pool of sequences, logs made of it, and everything that is asked of such a log."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from sacofa.base.distance import nearest
from sacofa.kernel.language import Ids
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.flow import (
    VOTE_UNITS,
    ActivityVotes,
    CaseCount,
    CaseLengths,
    NearestCandidate,
    StepVotes,
    TrigramVotes,
)
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.flow.answers import bin_edges
from sacofa.synthesis.flow.fit import (
    Evidence,
    Nearest,
    count_table,
    length_table,
    occurrence_table,
    step_table,
    trigram_table,
)

from ...kernel.queries.bare import session_of

NAMES = tuple("abcd")
POOL: list[Ids] = [(0, 1, 2), (0, 2, 1), (0, 1, 1, 2), (3,), (0, 3), (), (0, 1, 2, 3, 0)]
MAX_LENGTH = 6
SCALE = Fraction(1, 3)
"""1/scale of all noise."""
STEPS = StepVotes(4, (3, 16, 7, 1))
OCCURRING = ActivityVotes(4, 300)
TRIGRAMS = TrigramVotes(4, ((4, 0, 1), (0, 1, 2), (1, 1, 2), (2, 1, 4), (4, 3, 4), (3, 3, 3)))
SOME = [200, 100, 50, 30, 20, 0, 10]
COUNTS = st.lists(st.integers(0, 300), min_size=len(POOL), max_size=len(POOL))


def log_of(counts: list[int]) -> VariantCounts:
    """A log of the pool."""
    return VariantCounts.from_arrays(
        NAMES, [i for ids in POOL for i in ids], [len(ids) for ids in POOL], counts
    )


def evidence_of(log: VariantCounts, noise: Noise | None = None) -> Evidence:
    """Ask a log everything; without noise if none is given."""
    session, evidence = session_of(log, 6 * SCALE, noise), Evidence()
    edges = bin_edges(MAX_LENGTH)
    for query, table, units in (
        (CaseCount(), count_table, 1),
        (CaseLengths(tuple(edges)), length_table(edges), VOTE_UNITS),
    ):
        evidence.add(session.ask(query, SCALE, "all"), DiscreteLaplace(SCALE / units), table, units)
    votes = session.ask(STEPS, SCALE, "all")
    evidence.add_sparse(
        votes, DiscreteLaplace(SCALE / VOTE_UNITS), step_table(STEPS, MAX_LENGTH), VOTE_UNITS
    )
    votes = session.ask(OCCURRING, SCALE, "all")
    for repeated, cells in ((False, [0, 2, 4, 6, 8]), (True, [1, 3, 5, 7])):
        table = occurrence_table(OCCURRING, repeated=repeated)
        evidence.add(votes[cells], DiscreteLaplace(SCALE / VOTE_UNITS), table, VOTE_UNITS)
    votes = session.ask(NearestCandidate("final", tuple(POOL), nearest), SCALE, "all")
    evidence.add_nearest(votes, DiscreteLaplace(SCALE), Nearest(POOL, 4))
    votes = session.ask(TRIGRAMS, SCALE, "all")
    evidence.add_sparse(
        votes, DiscreteLaplace(SCALE / VOTE_UNITS), trigram_table(TRIGRAMS, MAX_LENGTH), VOTE_UNITS
    )
    return evidence
