"""Which activities have a value: found in noise, more surely where attributes go together."""

from __future__ import annotations

import numpy as np

from sacofa.kernel.queries.attributes import EventAttribute
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.attributes.ask import laid_out
from sacofa.synthesis.attributes.tables import (
    EventTable,
    ReleasedCases,
    find_presence,
    settle_presence,
)

NAMES = tuple("abcdefgh")
CASES = ReleasedCases(laid_out(VariantCounts.of({NAMES: 1000})))


def table(noise: float, seed: int, *, rates: list[float] | None = None) -> EventTable:
    """Votes for one of three values at some activities, seen through noise."""
    query = EventAttribute(key="x", size=3, activities=len(NAMES))
    votes, none = CASES.votes(query, np.array(rates or [1.0] + [0.0] * 7))
    seen = np.zeros((len(NAMES), 3))
    seen[:, 1] = votes
    drawn = np.random.default_rng(seed).laplace(0, noise, seen.size + 1)
    return EventTable(
        query=query,
        seen=seen + drawn[:-1].reshape(seen.shape),
        none=none + float(drawn[-1]),
        noise=noise,
        ordered=(0, 0),
        cases=CASES,
    )


def test_one_activity_is_found_and_all_are() -> None:
    """With little noise; and nothing is lowered that has all its votes."""
    for rates in ([1.0] + [0.0] * 7, [1.0] * 8):
        one = table(4.0, 1, rates=rates)
        assert settle_presence(one, find_presence(one), []).tolist() == rates


def test_now_and_then_is_told_from_always() -> None:
    """Cases without a value say how often there is one; more votes elsewhere do not."""
    for rate in (0.3, 0.6):
        one = table(2.0, 2, rates=[rate] + [0.0] * 7)
        found = settle_presence(one, find_presence(one), [])
        assert abs(found[0] - rate) < 0.05 and not found[1:].any()
    uneven = table(2.0, 3, rates=[1.0] * 7 + [0.2])
    found = settle_presence(uneven, find_presence(uneven), [])
    assert (found[:7] == 1).all() and 0.1 < found[7] < 0.35


def test_what_is_true_of_others_helps_where_noise_hides_it() -> None:
    """The right set is found more often if another attribute shows it, a wrong one no more so."""
    right, wrong = np.eye(8)[0], np.eye(8)[3]
    alone = helped = misled = 0
    for seed in range(20):
        one = table(70.0, seed)
        own = find_presence(one)
        alone += bool((own[0] == right).all())
        helped += bool((settle_presence(one, own, [right]) > 0).tolist() == (right > 0).tolist())
        misled += bool(settle_presence(one, own, [wrong])[3] > 0 and not own[0][3])
    assert helped >= alone + 3 and misled <= 2
