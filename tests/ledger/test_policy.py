"""The policy of a ledger: obeyed wherever a price is taken, and refused where it cannot be read."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa import Ledger
from sacofa.errors import LedgerError, PolicyError
from sacofa.ledger.policy import current_user, policy_path

HALF = Fraction(1, 2)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger without limits, but for its policy."""
    made = Ledger.create(tmp_path / "a.ledger")
    for name in ("visits", "bills"):
        made.set_budget(name, None)
    return made


def reserve(ledger: Ledger, price: Fraction | None, dataset: str = "visits", **more: Any) -> None:
    """Take a price."""
    ledger.reserve(
        dataset, mechanism="m", settings="{}", price=price, certificate="{}", **more
    )  # fmt: skip


def state(ledger: Ledger, text: str) -> None:
    """Write a policy."""
    policy_path(ledger.path).write_text(text)


def test_a_release_costs_no_more_than_is_allowed(ledger: Ledger) -> None:
    """And a dataset may have a limit of its own."""
    state(ledger, 'largest_release = "1/2"\n[datasets.bills]\nlargest_release = 2\n')
    reserve(ledger, HALF)
    reserve(ledger, Fraction(2), "bills")
    for price, dataset in ((Fraction(3, 4), "visits"), (None, "visits"), (Fraction(3), "bills")):
        with pytest.raises(PolicyError, match="the policy forbids it"):
            reserve(ledger, price, dataset)
    assert len(ledger.entries()) == 2


def test_a_year_costs_no_more_than_is_allowed(ledger: Ledger) -> None:
    """Periods have no case in common, so the dearest counts; other years do not count."""
    state(ledger, "largest_year = 1\n")
    reserve(ledger, HALF)
    for period in ("2025-01", "2025-02"):
        reserve(ledger, HALF, period=period)
    with pytest.raises(PolicyError, match=r"may spend ε = 1 together"):
        reserve(ledger, HALF)
    with pytest.raises(PolicyError):
        reserve(ledger, HALF, period="2025-02")
    reserve(ledger, HALF, period="2025-03")
    assert len(ledger.entries()) == 4
    # What was given back does not count.
    ledger.fail(ledger.entries()[0], "ReadError", data_accessed=False)
    reserve(ledger, HALF)


def test_a_clock_that_is_set_back_begins_no_year_anew(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was spent by a later clock counts; the next year begins as ever."""
    state(ledger, "largest_year = 1\n")

    def at(year: int) -> None:
        monkeypatch.setattr(f"{Ledger.__module__}._now", lambda: f"{year}-05-01T00:00:00+00:00")

    at(2026)
    reserve(ledger, Fraction(1))
    for year in (2025, 1970):
        at(year)
        with pytest.raises(PolicyError, match=f"releases of {year} may spend ε = 1 together"):
            reserve(ledger, HALF)
    at(2027)
    reserve(ledger, Fraction(1))


def test_a_second_name_of_the_ledger_leads_around_no_policy(ledger: Ledger, tmp_path: Path) -> None:
    """A link leads to the one policy; a ledger with two names of its own is refused by both."""
    state(ledger, 'largest_release = "1/4"\n')
    soft, hard = tmp_path / "soft.ledger", tmp_path / "hard.ledger"
    soft.symlink_to(ledger.path)
    with pytest.raises(PolicyError):
        reserve(Ledger.open(soft), HALF)
    hard.hardlink_to(ledger.path)
    for path, price in ((hard, HALF), (ledger.path, HALF / 2), (soft, HALF / 2)):
        with pytest.raises(LedgerError, match="hard link"):
            reserve(Ledger(path), price)
    hard.unlink()
    reserve(ledger, HALF / 2)
    assert len(ledger.entries()) == 1


def test_only_some_may_release(ledger: Ledger) -> None:
    """By the system's own name for who runs the program, whatever the environment says."""
    state(ledger, 'who = ["somebody-else"]\n')
    with pytest.raises(PolicyError, match="may not release"):
        reserve(ledger, HALF)
    state(ledger, "who = []\n")
    with pytest.raises(PolicyError, match="may not release"):
        reserve(ledger, HALF)
    state(ledger, f'who = ["somebody-else", "{current_user()}"]\n')
    reserve(ledger, HALF)


def test_a_release_without_a_finite_epsilon_exceeds_every_year(ledger: Ledger) -> None:
    """Whether it is the release that is asked for, or one of the year before there was a policy."""
    reserve(ledger, None, "bills")
    state(ledger, "largest_year = 100\n")
    with pytest.raises(PolicyError, match="without a finite ε"):
        reserve(ledger, None)
    with pytest.raises(PolicyError, match="may spend ε = 100 together"):
        reserve(ledger, HALF, "bills")
    reserve(ledger, HALF)
    assert len(ledger.entries()) == 2


def test_the_name_is_not_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone can set that."""
    before = current_user()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "director")
    assert current_user() == before


@pytest.mark.parametrize(
    "text",
    [
        "largest = 1", "largest_release = -1", 'largest_release = "much"', "who = 'anna'",
        "datasets = 1", "[datasets]\nvisits = 1", "[datasets.other]\nlargest_yaer = 1", "= =",
        "largest_release = 1\nlargest_release = 2", "who = [1]", "\0", "largest_release = nan",
        "largest_release = true", "largest_release = inf", f"who = {'[' * 5_000}",
        "[datasets.vistis]\nlargest_release = 1", "[datasets.Visits]", 'largest_year = "0"',
        f"{'#' * (1 << 20)}\nlargest_release = \"1/1000\"",
    ],
)  # fmt: skip
def test_a_policy_that_cannot_be_read_forbids_everything(ledger: Ledger, text: str) -> None:
    """A typing error must not open the door."""
    state(ledger, text)
    with pytest.raises(LedgerError) as refused:
        reserve(ledger, Fraction(1, 100))
    assert "\n" not in str(refused.value)
    assert ledger.entries() == []


def test_a_misspelt_dataset_is_named(ledger: Ledger) -> None:
    """With the one that may be meant; once there is such a dataset, its part holds."""
    state(ledger, '[datasets.vistis]\nlargest_release = "1/10"\n')
    with pytest.raises(LedgerError, match=r'no dataset "vistis".*Did you mean "visits"\?'):
        reserve(ledger, Fraction(5))
    with pytest.raises(LedgerError, match="no dataset"):
        ledger.policies()
    ledger.set_budget("vistis", Fraction(1))
    reserve(ledger, Fraction(5))
    with pytest.raises(PolicyError):
        reserve(ledger, HALF, "vistis")


def test_a_link_that_leads_nowhere_is_no_absent_policy(ledger: Ledger, tmp_path: Path) -> None:
    """A drive that is not there takes no limit away."""
    policy_path(ledger.path).symlink_to(tmp_path / "drive" / "policy.toml")
    with pytest.raises(LedgerError, match="not a regular file"):
        reserve(ledger, HALF)
    assert ledger.entries() == []


def test_a_link_to_a_ledger_does_not_lose_its_policy(ledger: Ledger, tmp_path: Path) -> None:
    """It is found by the file itself."""
    state(ledger, 'largest_release = "1/10"\n')
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "b.ledger"
    link.symlink_to(ledger.path)
    with pytest.raises(PolicyError):
        reserve(Ledger(link), HALF)
    with sqlite3.connect(ledger.path) as database:
        assert database.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_limits_are_compared_exactly(ledger: Ledger) -> None:
    """What is above a limit by less than a float can hold is refused."""
    state(ledger, 'largest_release = "1/3"\nlargest_year = "2/3"\n')
    tiny = Fraction(1, 10**40)
    with pytest.raises(PolicyError, match="a release may spend"):
        reserve(ledger, Fraction(1, 3) + tiny)
    reserve(ledger, Fraction(1, 3))
    reserve(ledger, Fraction(1, 3) - tiny)
    with pytest.raises(PolicyError, match="together"):
        reserve(ledger, 2 * tiny)
    reserve(ledger, tiny)
