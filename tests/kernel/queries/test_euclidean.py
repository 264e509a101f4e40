"""Votes that are bounded in the L2 norm: no case has more, and none of them is wasted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.kernel.queries.flow import (
    FULL_WEIGHT,
    VOTE_UNITS,
    ActivityVotes,
    BoundedVotes,
    CaseLengths,
    StepVotes,
    TrigramVotes,
)

from ...rules.cases import logs, variants_of
from ...rules.oracle import Case
from .batches import Event, nasty_cases
from .batches import batch as timed
from .test_attributes import QUERIES as ATTRIBUTE_QUERIES
from .test_attributes import any_case
from .test_attributes import batch as valued
from .test_flow import EDGES, changes, trigrams
from .test_times import QUERIES as TIME_QUERIES


def queries(size: int) -> list[BoundedVotes]:
    """Each kind of query about control flow."""
    return [
        CaseLengths(EDGES, euclidean=True),
        ActivityVotes(size, 920, euclidean=True),
        ActivityVotes(size, 200, euclidean=True),
        StepVotes(size, euclidean=True),
        StepVotes(size, tuple(1 + 5 * i % FULL_WEIGHT for i in range(size)), euclidean=True),
        StepVotes(size, once=True, euclidean=True),
        TrigramVotes(size, trigrams(size), euclidean=True),
    ]


def norm_squared(table: np.ndarray) -> int:
    """The square of the Euclidean norm, in whole numbers."""
    return sum(int(cell) ** 2 for cell in table.tolist())


@given(logs(), logs(), st.integers(0, len(queries(2)) - 1))
def test_no_case_changes_a_table_by_more_than_its_sensitivity(
    log: tuple[list[Case], int], other: tuple[list[Case], int], kind: int
) -> None:
    """In the Euclidean norm, and in sum by the bound that a session refuses in pure ε."""
    query, tables = changes(queries, kind, log, other)
    for change in tables:
        assert norm_squared(change) <= query.l2_sensitivity**2
        assert np.abs(change).sum() <= query.sensitivity


cases = st.tuples(st.lists(st.integers(0, 1), max_size=6).map(tuple), st.booleans())


@given(st.lists(cases, min_size=1, max_size=4), st.integers(0, len(queries(2)) - 1))
def test_no_person_changes_a_table_by_more_than_all_cases_may(
    person: list[Case], kind: int
) -> None:
    """The cases of a person add up to their number times the norm of one, if they are alike.

    So noise for √m cases, which would do if all voted for different cells, is too little.
    """
    query = queries(2)[kind]
    most = len(person) * query.l2_sensitivity
    assert norm_squared(query.table(variants_of(person, 2))) <= most**2
    alike = query.table(variants_of([((0,), True)] * 4, 2))
    assert norm_squared(alike) > (2 * query.l2_sensitivity) ** 2 or not alike.any()


@given(cases, cases, st.integers(0, len(queries(2)) - 1))
def test_the_content_of_a_case_costs_twice_its_rho(one: Case, other: Case, kind: int) -> None:
    """Votes are not negative, so two versions of a case differ by √2 of the norm of one."""
    query = queries(2)[kind]
    tables = [query.table(variants_of([case], 2)) for case in (one, other)]
    assert all((table >= 0).all() for table in tables)
    assert norm_squared(tables[1] - tables[0]) <= 2 * query.l2_sensitivity**2


@pytest.mark.parametrize("query", TIME_QUERIES, ids=lambda q: q.name)
@settings(deadline=None)
@given(case=nasty_cases)
def test_no_case_moves_a_table_of_times_by_more_than_one_vote(
    query: BoundedVotes, case: list[Event]
) -> None:
    """Whatever its times are."""
    table = replace(query, euclidean=True).table(timed([case]))
    assert norm_squared(table) <= query.l2_sensitivity**2


@pytest.mark.parametrize("query", ATTRIBUTE_QUERIES, ids=lambda q: type(q).__name__)
@settings(deadline=None)
@given(case=any_case)
def test_no_case_moves_a_table_of_values_by_more_than_one_vote(
    query: BoundedVotes, case: tuple[int, list[tuple[int, int]]]
) -> None:
    """Whatever its values are."""
    table = replace(query, euclidean=True).table(valued([case]))
    assert norm_squared(table) <= query.l2_sensitivity**2


@pytest.mark.parametrize("pairs", [1, 4, 9, 25, 100])
def test_a_case_gives_each_of_many_cells_the_root_of_its_share(pairs: int) -> None:
    """1/√n where votes in sum give 1/n: that is what a budget in ρ buys."""
    case = (tuple(range(pairs - 1)), True)
    log = variants_of([case], max(pairs - 1, 1))
    table = StepVotes(max(pairs - 1, 1), euclidean=True).table(log)
    assert table[table > 0].tolist() == [isqrt(VOTE_UNITS**2 // pairs)] * pairs


@dataclass(frozen=True)
class Votes(BoundedVotes):
    """Some cells to vote for."""

    number: int

    @property
    def cells(self) -> range:
        return range(self.number)


def test_votes_are_in_proportion_to_weights() -> None:
    """Weights of one cell are added up first; a case without any has no votes; counts multiply."""
    owner, cells, counts = np.array([0, 0, 0, 1]), np.array([2, 2, 1, 0]), np.array([10, 1, 1])
    weights = np.array([2, 2, 3, 0])
    table = Votes(4, euclidean=True).divide(owner, cells, weights, counts)
    assert table.tolist() == [0, 6_000, 8_000, 0]


def test_extreme_weights_do_not_overflow() -> None:
    """A case of millions of events in one cell has all its votes there."""
    many = np.zeros(3_000_000, dtype=np.int64)
    table = Votes(1, euclidean=True).divide(many, many, 16, np.array([1]))
    assert table.tolist() == [VOTE_UNITS]
