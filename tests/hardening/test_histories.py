"""Random histories of releases, deaths, restarts and periods: the ledger is as its model says."""

from __future__ import annotations

import pytest

from .child import run_module


def test_histories_are_as_the_model_says() -> None:
    """No overspending, no case twice, nothing lost; `make histories` goes through 10,000."""
    done = run_module("histories", "run", 60, 1)
    assert done.returncode == 0, done.stderr
    assert "as the model says" in done.stdout


@pytest.mark.parametrize(
    "mistake", ["forget", "free-periods", "lose-returns", "periods-alone", "lose-ids"]
)
def test_the_model_finds_mistakes(mistake: str) -> None:
    """A ledger that forgets cases, ids or overlaps, allows too much or returns nothing fails."""
    done = run_module("histories", "run", 40, 1, mistake)
    assert done.returncode != 0
    assert "Error" in done.stderr


@pytest.mark.slow
def test_sixteen_processes_release_periods_at_once() -> None:
    """Periods that overlap, from one ledger: every case is in one release."""
    done = run_module("histories", "crowd", 16)
    assert done.returncode == 0, done.stderr
    assert "no case twice" in done.stdout
