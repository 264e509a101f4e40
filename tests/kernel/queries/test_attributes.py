"""Queries about attributes: whatever a case holds, it moves a table by one vote at most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.base.batches import concatenate
from sacofa.kernel.cases import CaseBatch, Values
from sacofa.kernel.queries.attributes import (
    AttributePair,
    CaseAttribute,
    EventAttribute,
    families,
    first_cells,
)
from sacofa.kernel.queries.flow import VOTE_UNITS

ACTIVITIES, SIZE = 4, 5
"""The domain of both attributes has five cells; the last one is for what is missing."""
Case = tuple[int, list[tuple[int, int]]]

cells = st.integers(0, SIZE - 1)
any_case = st.tuples(cells, st.lists(st.tuples(st.integers(0, ACTIVITIES - 1), cells), max_size=9))
QUERIES = (
    CaseAttribute(key="case:c", size=SIZE, splits=()),
    CaseAttribute(key="case:c", size=SIZE, splits=(1, 3)),
    EventAttribute(key="e", size=SIZE - 1, activities=ACTIVITIES),
    EventAttribute(key="e", size=SIZE - 1, activities=ACTIVITIES, splits=(2,)),
    AttributePair(keys=("case:c", "e"), sizes=(SIZE, SIZE)),
)


def batch(cases: list[Case]) -> CaseBatch:
    """Lay cases end to end."""
    events = [event for _, case in cases for event in case]
    return CaseBatch(
        activities=tuple("abcd"),
        activity_ids=np.array([a for a, _ in events], dtype=np.int32),
        offsets=np.cumsum([0, *(len(case) for _, case in cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        attributes=(
            Values(name="case:c", of_case=True, cells=np.array([c for c, _ in cases], np.int32)),
            Values(name="e", of_case=False, cells=np.array([v for _, v in events], np.int32)),
        ),
    )


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@given(st.lists(any_case, max_size=5), any_case)
@settings(max_examples=40, deadline=None)
def test_a_case_moves_a_table_by_one_vote_at_most(
    query: CaseAttribute | EventAttribute | AttributePair, cases: list[Case], added: Case
) -> None:
    """And what it moves is its own table: the tables of parts add up."""
    smaller, larger = query.table(batch(cases)), query.table(batch([*cases, added]))
    own = query.table(batch([added]))
    assert (larger - smaller == own).all()
    assert (own >= 0).all() and own.sum() <= query.sensitivity == VOTE_UNITS
    assert len(own) == len(query.cells) and own.dtype == np.int64


@pytest.mark.parametrize("query", QUERIES[:4], ids=lambda query: type(query).__name__)
def test_a_careless_vote_would_be_noticed(query: CaseAttribute | EventAttribute) -> None:
    """A whole vote for each event breaks the law that the test above holds."""
    case: Case = (0, [(0, 1), (1, 2), (0, 3)])
    careless = sum(query.table(batch([(0, [event])])).sum() for event in case[1])
    assert careless > query.sensitivity


def test_votes_are_spread_over_activities_then_events() -> None:
    """An activity that happens often takes no more of the vote than one that happens once."""
    query = QUERIES[2]
    assert isinstance(query, EventAttribute)
    table = query.table(batch([(0, [(0, 1), (1, 2), (1, 3), (2, SIZE - 1)])]))
    rows = table[:-1].reshape(ACTIVITIES, SIZE - 1)
    assert rows[0].tolist() == [0, 500, 0, 0]
    assert rows[1].tolist() == [0, 0, 250, 250]
    assert not rows[2:].any() and table[-1] == 0
    nothing = query.table(batch([(0, [(0, SIZE - 1)]), (0, [])]))
    assert nothing[-1] == 2 * VOTE_UNITS == nothing.sum()


def test_families_and_first_values() -> None:
    """A family is which of some activities happen; the first value is the first that is there."""
    log = batch([(0, [(1, 4), (3, 2)]), (1, [(0, 4)]), (2, []), (3, [(3, 1), (3, 0)])])
    assert families(log, (1, 3)).tolist() == [3, 0, 0, 2]
    assert first_cells(log, log.values("e"), SIZE - 1).tolist() == [2, 4, 4, 1]
    assert first_cells(log, log.values("case:c"), SIZE - 1).tolist() == [0, 1, 2, 3]


def test_attributes_follow_their_cases() -> None:
    """Cut, chosen, joined or projected: values stay with their events and cases."""
    log = batch([(0, [(1, 4), (3, 2)]), (1, [(0, 1)])])
    kept = log.project_onto(("d", "a"))
    assert kept.values("e").cells.tolist() == [2, 1] and kept.values("case:c").cells.tolist() == [
        0,
        1,
    ]
    second = log.where(np.array([False, True]))
    assert second.values("e").cells.tolist() == [1] and second.values("case:c").cells.tolist() == [
        1
    ]
    both = concatenate([second, log])
    assert both.values("e").cells.tolist() == [1, 4, 2, 1]
    assert concatenate([replace(log, attributes=())] * 2).attributes == ()
