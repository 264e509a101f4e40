"""What each query about control flow asks for, added up case by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.base.distance import nearest
from sacofa.kernel.cases import CaseBatch
from sacofa.kernel.language import Ids
from sacofa.kernel.queries.flow import (
    END_WEIGHT,
    FULL_WEIGHT,
    VOTE_UNITS,
    ActivityVotes,
    CaseCount,
    CaseLengths,
    NearestCandidate,
    StepVotes,
    TrigramVotes,
)
from sacofa.kernel.queries.protocol import Query

from ...rules.cases import logs, variants_of
from ...rules.oracle import Case
from .bare import session_of

Vote = TypeVar("Vote", bound=Query)
EDGES = (1, 2, 4)
CANDIDATES = ((0, 1), (), (0, 0, 1))


def queries(size: int) -> list[Query]:
    """One query of each kind, for logs of so many activities."""
    return [
        CaseCount(),
        CaseLengths(EDGES),
        ActivityVotes(size),
        ActivityVotes(size, 200),
        StepVotes(size),
        StepVotes(size, tuple(1 + 5 * i % FULL_WEIGHT for i in range(size))),
        StepVotes(size, once=True),
        NearestCandidate("final", CANDIDATES, nearest),
        TrigramVotes(size, trigrams(size)),
    ]


def trigrams(size: int) -> tuple[Ids, ...]:
    """Some of all 3-grams of so many activities, in no order."""
    listed = [(size, 0, size), *product(range(size + 1), range(size), range(size + 1))]
    return tuple(dict.fromkeys(ids for i, ids in enumerate(listed) if i % 3 == 0))[::-1]


def changes(
    queries: Callable[[int], Sequence[Vote]], kind: int, *logs: tuple[list[Case], int]
) -> tuple[Vote, list[np.ndarray]]:
    """A query, and how each case of the second log changes its table.

    A case is tried by itself, because tables add up: that is tried as well.
    """
    size = max(2, *(activities for _, activities in logs))
    query, (first, second) = queries(size)[kind], (cases for cases, _ in logs)
    parts = [query.table(variants_of(cases, size)) for cases in (first, second)]
    assert np.array_equal(sum(parts), query.table(variants_of(first + second, size)))
    tables = [query.table(variants_of([case], size)) for case in second]
    assert all(len(table) == len(query.cells) for table in tables)
    return query, tables


@given(logs(), st.integers(1, 8), st.data())
def test_a_case_spreads_its_votes_over_its_steps(
    log: tuple[list[Case], int], length: int, data: st.DataObject
) -> None:
    """The table of all votes is what the steps of every case add up to, one by one.

    Cases that are shorter than the cut are finished, whatever was known of them before. A step
    counts as the rarer of its ends; beginning and end are neither rare nor common. If each activity
    counts once, the steps are those between first events.
    """
    cases, size = log
    chosen = st.lists(st.integers(1, FULL_WEIGHT), min_size=size, max_size=size)
    weights = tuple(data.draw(st.one_of(st.just([]), chosen)))
    once = data.draw(st.booleans())
    counts = [*weights, END_WEIGHT] if weights else [FULL_WEIGHT] * (size + 1)
    expected = np.zeros((size + 1, size + 1), dtype=np.int64)
    for ids, _ in cases:
        voted = [a for i, a in enumerate(ids[:length]) if not once or a not in ids[:i]]
        path = [size, *voted, *([size] if len(ids) < length else [])]
        each = [max(counts[a], counts[b]) for a, b in pairwise(path)]
        for (a, b), weight in zip(pairwise(path), each, strict=True):
            expected[a, b] += VOTE_UNITS * weight // sum(each)
    session = session_of(variants_of(cases, size))
    session.truncate(length)
    votes = session.ask(StepVotes(size, weights, once), Fraction(1), "all")
    assert votes.reshape(size + 1, -1).tolist() == expected.tolist()


@given(logs(), st.sampled_from([850, 200, 333]))
def test_a_case_spreads_its_votes_over_its_activities(
    log: tuple[list[Case], int], for_repeats: int
) -> None:
    """So many of 1,000 go to the activities that a case repeats, the rest to others, each evenly.

    850 unless said otherwise.
    """
    cases, size = log
    expected = [0] * (2 * size + 1)
    for ids, _ in cases:
        kinds = [{a for a in ids if (ids.count(a) > 1) == again} for again in (False, True)]
        for again, activities in enumerate(kinds):
            votes = (for_repeats if again else 1_000 - for_repeats) if all(kinds) else 1_000
            for a in activities:
                expected[2 * a + again] += votes // len(activities)
        if not ids:
            expected[-1] += VOTE_UNITS
    query = ActivityVotes(size, for_repeats)
    assert query.table(variants_of(cases, size)).tolist() == expected
    assert ActivityVotes(size) == ActivityVotes(size, 850)


@given(logs())
def test_a_case_spreads_its_votes_over_its_events(log: tuple[list[Case], int]) -> None:
    """Each event is one 3-gram, with its neighbours; those that are not listed get nothing."""
    cases, size = log
    listed = trigrams(size)
    expected = dict.fromkeys(listed, 0)
    for ids, complete in cases:
        path = (size, *ids, *([size] if complete else []))
        for i in range(len(path) - 2):
            if path[i : i + 3] in expected:
                expected[path[i : i + 3]] += VOTE_UNITS // len(ids)
    table = TrigramVotes(size, listed).table(variants_of(cases, size))
    assert table.tolist() == list(expected.values())


def test_votes_for_events_are_kept_however_many_activities_there_are() -> None:
    """2,000 activities have eight billion 3-grams: their numbers take more than 32 bits."""
    ids, size = (1_990, 1_991, 1_992), 2_000
    listed = ((size, *ids[:2]), ids, (*ids[1:], size), (0, 0, 0))
    table = TrigramVotes(size, listed).table(variants_of([(ids, True)], size))
    assert table.tolist() == [333, 333, 333, 0]


@given(logs())
def test_a_case_votes_for_the_two_lengths_that_it_lies_between(
    log: tuple[list[Case], int],
) -> None:
    """The nearer one gets more, so that the mean of the cases is that of the votes."""
    cases, size = log
    votes = CaseLengths(EDGES).table(variants_of(cases, size))
    lengths = [min(max(len(ids), EDGES[0]), EDGES[-1]) for ids, _ in cases]
    assert votes.sum() == VOTE_UNITS * len(cases)
    assert (votes * EDGES).sum() == VOTE_UNITS * sum(lengths)
    for i, edge in enumerate(EDGES):
        near = EDGES[max(i - 1, 0)], EDGES[min(i + 1, len(EDGES) - 1)]
        voters = [n for n in lengths if n == edge or near[0] < n < near[1]]
        assert VOTE_UNITS * lengths.count(edge) <= votes[i] <= VOTE_UNITS * len(voters)


@given(logs(), logs(), st.integers(0, len(queries(2)) - 1))
def test_no_case_changes_a_table_by_more_than_its_sensitivity(
    log: tuple[list[Case], int], other: tuple[list[Case], int], kind: int
) -> None:
    """A case more, of any kind, in any log: the cells change by the sensitivity at most, in sum."""
    query, tables = changes(queries, kind, log, other)
    assert all(np.abs(table).sum() <= query.sensitivity for table in tables)


@pytest.mark.parametrize("kind", range(len(queries(2))))
def test_some_case_changes_a_table_by_its_sensitivity(kind: int) -> None:
    """No sensitivity is larger than it has to be: nothing is wasted."""
    query = queries(2)[kind]
    assert np.abs(query.table(variants_of([((0,), True)], 2))).sum() == query.sensitivity


@pytest.mark.parametrize("candidates", [((0,), (1,)), ((1, 0), (0, 1), (1, 1)), ((1,), (0,), ())])
def test_a_case_that_is_as_near_to_several_candidates_votes_for_the_first(
    candidates: tuple[Ids, ...],
) -> None:
    """A case of another activity is as far from all of them, and has one vote all the same."""
    query = NearestCandidate("final", candidates, nearest)
    first = [1, *[0] * (len(candidates) - 1)]
    ids = (2,) * max(map(len, candidates))
    assert query.table(variants_of([(ids, True)], 3)).tolist() == first
    assert query.table(variants_of([(ids, True)] * 7, 3)).tolist() == [7 * n for n in first]


@given(logs())
def test_cases_one_by_one_give_the_tables_of_their_variants(log: tuple[list[Case], int]) -> None:
    """A query asks the same of counted variants and of the cases that they count."""
    cases, size = log
    batch = CaseBatch(
        activities=tuple(map(str, range(size))),
        activity_ids=np.array([a for ids, _ in cases for a in ids], dtype=np.int32),
        offsets=np.cumsum([0, *(len(ids) for ids, _ in cases)]),
        complete=np.array([complete for _, complete in cases], dtype=np.bool_),
    )
    for query in queries(max(size, 2)) if size > 1 else queries(2)[:2]:
        assert query.table(batch).tolist() == query.table(batch.variants()).tolist()
