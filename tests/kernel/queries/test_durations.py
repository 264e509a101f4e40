"""The public bins of durations."""

from __future__ import annotations

import numpy as np
import pytest

from sacofa.kernel.queries.durations import (
    HUMAN,
    LOWEST,
    RUNGS,
    bin_of,
    bins,
    edges,
)
from sacofa.synthesis.times.ask import rung_for
from sacofa.synthesis.times.rows import within


def test_rung_0_has_the_bins_that_people_use() -> None:
    """Fourteen bins, the first for less than a second; half as many on the rung below."""
    assert edges(0) == HUMAN
    assert bins(0) == 14
    assert bins(-1) == 7


@pytest.mark.parametrize("rung", range(LOWEST + 1, RUNGS))
def test_rungs_are_nested(rung: int) -> None:
    """Each rung splits the bins of the one below, and keeps all its edges."""
    assert set(edges(rung - 1)) < set(edges(rung))
    assert list(edges(rung)) == sorted(set(edges(rung)))
    assert bins(rung) == 2 * bins(rung - 1) - (rung > 0)
    assert edges(rung)[:2] == edges(0)[:2]
    assert edges(rung)[-1] == edges(0)[-1]
    lies_in = within(rung, rung - 1)
    assert (np.array(edges(rung - 1))[lies_in] <= np.array(edges(rung)[:-1])).all()
    assert (np.array(edges(rung)[1:]) <= np.array(edges(rung - 1))[lies_in + 1]).all()


@pytest.mark.parametrize("rung", range(LOWEST, RUNGS))
def test_every_duration_has_a_bin(rung: int) -> None:
    """An edge belongs to the bin above it; what is out of range to the first or the last."""
    low = np.array(edges(rung)[:-1])
    assert (bin_of(low, rung) == np.arange(bins(rung))).all()
    assert (bin_of(low[1:] - 1, rung) == np.arange(bins(rung) - 1)).all()
    extreme = np.array([np.iinfo(np.int64).min, -1, np.iinfo(np.int64).max])
    assert bin_of(extreme, rung).tolist() == [0, 0, bins(rung) - 1]


def test_more_votes_are_told_finer() -> None:
    """From no votes at all to any number, and never beyond the ladder."""
    rungs = [rung_for(votes) for votes in (-1.0, 0.0, 300.0, 1e4, 1e12)]
    assert rungs == sorted(rungs)
    assert rungs[0] == LOWEST
    assert rungs[-1] == RUNGS - 1
