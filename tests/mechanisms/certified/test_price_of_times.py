"""What times cost: all questions together tell no case from its absence by more than their share.

Noise on every cell is Laplace's, so the largest ratio of likelihoods is known exactly: e to the
power of the sum, over all questions, of what a case changes times the price of a unit of it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sacofa.kernel.cases import NO_TIME, CaseBatch, Cases
from sacofa.kernel.queries.durations import DAY, HOUR
from sacofa.kernel.queries.flow import VOTE_UNITS, VoteQuery
from sacofa.kernel.queries.protocol import Ints, add_votes
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.protocol import perform
from sacofa.synthesis.times.ask import TimeSettings, time_queries

from ...kernel.queries.batches import Event, batch
from ...synthesis.times.releases import office, seeded

LIMIT = 2**62
ADDED: dict[str, list[Event]] = {
    "an ordinary case": [(0, 0, 0), (1, 0, HOUR), (3, 0, DAY)],
    "one extreme gap": [(0, 0, 0), (1, 0, LIMIT)],
    "a clock that runs backwards": [(0, 0, LIMIT), (1, 0, -LIMIT), (2, 0, 0)],
    "one extreme date": [(0, 0, -LIMIT)],
    "a very long case": [(i % 4, 0, i * HOUR) for i in range(5_000)],
    "missing times": [(0, 0, NO_TIME), (1, 0, NO_TIME), (2, 0, 5)],
    "no event": [],
}
EPSILON = Fraction(9, 20)


def price(log: CaseBatch, case: list[Event]) -> Fraction:
    """The exponent of the largest ratio between a log and the same with a case more."""
    # The released flow is public by then: the same for both.
    queries = time_queries(log.variants(), TimeSettings(), EPSILON)
    added = batch([case])
    # Tables of parts add up, so what a case changes is its own table.
    return sum(
        (
            int(np.abs(query.table(added)).sum()) * cost / VOTE_UNITS
            for query, cost in queries.values()
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("name", ADDED)
def test_a_case_costs_no_more_than_the_share_of_times(name: str) -> None:
    """Whatever happened in it, and whenever."""
    assert price(office(200), ADDED[name]) <= EPSILON


def test_the_share_is_reached() -> None:
    """A case that can tell something on every question costs all of it: the bound is no slack."""
    case: list[Event] = [(0, 0, 0), (1, 0, HOUR)]
    assert price(office(200), case) == EPSILON


def test_a_careless_vote_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whole vote for each gap breaks the bound."""

    def careless(query: VoteQuery, owner: Ints, cells: Ints, *_: object) -> Ints:
        return add_votes(len(query.cells), cells, np.full(len(owner), VOTE_UNITS))

    monkeypatch.setattr(VoteQuery, "divide", careless)
    assert price(office(200), ADDED["an ordinary case"]) > EPSILON


@pytest.mark.parametrize("name", ADDED)
def test_every_log_gets_times(name: str) -> None:
    """One odd case is no error, and neither is a log of nothing else."""
    mechanism = Certified(epsilon=1)
    for log in (batch([ADDED[name]]), batch([ADDED[name]] * 50)):
        cases = Cases(variants=log.variants(), by_case=log)
        outcome = perform(mechanism, cases, seeded(1))
        assert outcome.log.times is not None
        assert len(outcome.log.times) == outcome.log.variants.events
