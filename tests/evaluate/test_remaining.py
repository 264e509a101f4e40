"""Remaining time: a model of a release is tested on the original."""

from __future__ import annotations

import numpy as np

from sacofa.evaluate.measures.times import Timed, remaining_time_error

HOUR = 3_600


def log(cases: int, seed: int, slow_after_b: bool = True) -> Timed:
    """Cases a, b or c, d: after b it takes days, after c minutes, or the other way round."""
    draws = np.random.default_rng(seed)
    b = draws.random(cases) < 0.5
    wait = np.where(b == slow_after_b, 72 * HOUR, 600) * draws.uniform(0.9, 1.1, cases)
    begin = draws.uniform(0, 1e7, cases)
    seconds = np.stack([begin, begin + HOUR, begin + HOUR + wait], axis=1).ravel()
    ids = np.stack([np.zeros(cases), np.where(b, 1, 2), np.full(cases, 3)], axis=1).ravel()
    return Timed(tuple("abcd"), ids.astype(np.int64), np.arange(cases + 1) * 3, seconds)


def test_a_second_sample_foretells_the_rest() -> None:
    """Right after b or c the rest is known; after a it is one of both."""
    error = remaining_time_error(log(300, 1), log(300, 2))
    assert error is not None
    # Half of all beginnings are a alone, where days and minutes are eight doublings apart.
    assert 1 < error < 2.6


def test_a_wrong_release_foretells_worse() -> None:
    """Where the release takes one for the other, what it says is far off."""
    good = remaining_time_error(log(300, 1), log(300, 2))
    bad = remaining_time_error(log(300, 1), log(300, 2, slow_after_b=False))
    assert good is not None and bad is not None
    assert bad > good + 3


def test_nothing_is_foretold_where_nothing_remains() -> None:
    """Cases of one event have no rest; neither has an empty log."""
    single = Timed(("a",), np.zeros(3, dtype=np.int64), np.arange(4), np.zeros(3))
    empty = Timed(("a",), np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(0))
    for one in (single, empty):
        for other in (single, empty):
            assert remaining_time_error(one, other) is None


def test_one_case_is_enough() -> None:
    """A log of one case has a model, too."""
    error = remaining_time_error(log(1, 1), log(1, 1))
    assert error is not None
    assert error < 10
