"""Releases that are killed: nothing is out without a row, and no row is lost."""

from __future__ import annotations

import re

import pytest

from .child import run_module


@pytest.mark.slow
def test_a_release_can_be_killed_at_every_line() -> None:
    """Each line that deals with the ledger and the files, on each way there.

    Lines that find what the line before found are one: of these, each tenth is killed, too.
    """
    done = run_module("killed", "steps", 10)
    assert done.returncode == 0, done.stderr
    found = re.match(
        r"(\d+) lines, (\d+) changes: .*'nothing': \d+.*'reserved': \d+.*'released': \d+",
        done.stdout,
    )
    assert found is not None, done.stdout
    assert int(found[1]) > 500
    assert int(found[2]) > 15


@pytest.mark.slow
def test_a_release_of_a_period_can_be_killed_at_every_step() -> None:
    """Cases that noise was drawn about are known by then, and go to no other period."""
    done = run_module("killed", "periods", 43)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("killed at ")


@pytest.mark.parametrize("mistake", ["claim-late", "forget"])
def test_the_check_of_periods_finds_mistakes(mistake: str) -> None:
    """A package that does not know its cases, or takes them twice, does not pass."""
    done = run_module("killed", "periods", 43, mistake)
    assert done.returncode != 0
    assert "AssertionError" in done.stderr, done.stderr


@pytest.mark.slow
def test_a_release_can_be_killed_at_any_moment() -> None:
    """Two hundred releases into one ledger are killed wherever they are, in the database too."""
    done = run_module("killed", "moments", 200)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        ("never-link", "a file without a row|KeyError"),
        ("pay-late", "a case was read without a row|noise without a row"),
        ("give-back", "a price was given back|a file without a row"),
    ],
)
def test_the_check_finds_mistakes(mistake: str, found: str) -> None:
    """A package that does things in the wrong order does not pass."""
    done = run_module("killed", "steps", 50, mistake)
    assert done.returncode != 0
    assert re.search(found, done.stderr), done.stderr
