"""Budgets in ρ with a δ: what is charged, what is refused, and what becomes of older ledgers."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import log, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.base.claims import FOR_SELECTION
from sacofa.errors import BudgetError, LedgerError, PolicyError, SettingError
from sacofa.kernel.accounting import ZCDP
from sacofa.ledger import Account, Entry, Ledger, rows, storage
from sacofa.ledger.policy import policy_path
from sacofa.ledger.records import Cost, Rho
from sacofa.release.keys import make_key, read_private_key
from sacofa.release.sign import sign_ledger, verify_ledger

from .test_ledger import in_child

MILLIONTH = Fraction(1, 10**6)
HUNDREDTH = Rho(rho=Fraction(1, 100), selection=Fraction(1, 10**9))
ONE = Rho(rho=ZCDP(Fraction(1), MILLIONTH, MILLIONTH / 10).rho, selection=MILLIONTH / 10)
"""What a release of certified with (1, 10⁻⁶) costs."""
VERSION_3 = Path(__file__).with_name("version_3.sql")
"""A ledger that the version before wrote: five releases of two datasets, two of them of periods."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with one dataset and a budget of (2, 10⁻⁶)."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(2), MILLIONTH)
    return made


@pytest.fixture
def old(tmp_path: Path) -> Ledger:
    """A ledger of version 3."""
    path = tmp_path / "old.ledger"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(VERSION_3.read_text(encoding="utf-8"))
    return Ledger.open(path)


def reserve(
    ledger: Ledger, cost: Cost, epsilon: Fraction = Fraction(1), period: str | None = None
) -> Entry:
    """Reserve with settings that do not matter."""
    rho = cost if isinstance(cost, Rho) else None
    return ledger.reserve(
        "visits", mechanism="certified", settings="{}", certificate="{}", period=period,
        price=cost if rho is None else epsilon, rho=rho, delta=MILLIONTH if rho else Fraction(0),
    )  # fmt: skip


def test_a_budget_holds_the_rho_that_implies_it(ledger: Ledger) -> None:
    """The value of a search over a fine grid of α; the conversion of Bun and Steinke gives less."""
    budget = ledger.account("visits").budget
    assert budget == ZCDP(Fraction(2), MILLIONTH, FOR_SELECTION * MILLIONTH).rho
    assert float(budget) == pytest.approx(0.0874038916, abs=1e-9)
    conversion = log(1 / float(MILLIONTH * (1 - FOR_SELECTION)))
    simple = (sqrt(conversion + 2) - sqrt(conversion)) ** 2
    assert simple < budget < 1.5 * simple


def test_a_release_of_the_same_claim_fits_exactly(ledger: Ledger) -> None:
    """A budget of (1, 10⁻⁶) takes one release of (1, 10⁻⁶), and nothing after it."""
    account = ledger.set_budget("visits", Fraction(1), MILLIONTH)
    assert account.budget == ONE.rho
    reserve(ledger, ONE)
    account = ledger.account("visits")
    assert (account.left, account.left_for_selection) == (0, 0)
    with pytest.raises(BudgetError, match="nothing was read or released"):
        reserve(ledger, Fraction(1, 1000))
    ledger.check()


def test_what_is_left_is_said_in_epsilon_too(ledger: Ledger) -> None:
    """A release of the ε that is left for the δ fits, and the next larger one does not."""
    reserve(ledger, replace(ONE, selection=Fraction(0)))
    account = ledger.account("visits")
    assert account.left is not None
    left = account.epsilon(account.left, fits=True)
    assert float(left) == pytest.approx(1.678, abs=1e-6)
    delta = MILLIONTH * (1 - FOR_SELECTION)
    assert ZCDP(left, delta).rho <= account.left < ZCDP(left + Fraction(1, 1000), delta).rho
    with pytest.raises(BudgetError) as refused:
        reserve(ledger, Fraction(1, 2))
    assert str(refused.value) == (
        'the release is charged ρ = 0.125 (ε = 2.431 at δ = 10⁻⁶), and dataset "visits" has '
        "ρ = 0.06327 (ε = 1.678 at δ = 10⁻⁶) left of ρ = 0.0874 (ε = 2 at δ = 10⁻⁶): "
        "nothing was read or released"
    )
    assert refused.value.left == account.left


def test_a_pure_release_counts_half_the_square_of_its_epsilon(ledger: Ledger) -> None:
    """Three of a tenth are 3/200; without a finite ε, nothing fits."""
    for _ in range(3):
        reserve(ledger, Fraction(1, 10))
    assert ledger.account("visits").spent == Fraction(3, 200)
    with pytest.raises(BudgetError, match="no finite ε"):
        reserve(ledger, None)


def test_the_parts_of_delta_for_selection_add_up(ledger: Ledger) -> None:
    """They are no part of ρ: a tenth of the δ of the budget is for them, over all releases."""
    tiny = replace(ONE, rho=Fraction(1, 10**6), selection=MILLIONTH * 6 / 100)
    reserve(ledger, tiny)
    with pytest.raises(BudgetError, match=r"spends 6·10⁻⁸ of δ .* has 4·10⁻⁸ left .* smaller δ"):
        reserve(ledger, tiny)
    reserve(ledger, replace(tiny, selection=MILLIONTH * 4 / 100))
    ledger.check()


def test_a_budget_in_epsilon_refuses_a_delta_with_the_remedy(ledger: Ledger) -> None:
    """The remedy works: the budget gets a δ, and the earlier release counts."""
    ledger.set_budget("visits", Fraction(4))
    reserve(ledger, Fraction(1, 5))
    with pytest.raises(LedgerError, match=r"leave out δ, or set a budget with a δ .*--delta DELTA"):
        reserve(ledger, ONE)
    assert len(ledger.entries()) == 1
    account = ledger.set_budget("visits", Fraction(4), MILLIONTH)
    assert account.spent == Fraction(1, 50)
    reserve(ledger, ONE)
    assert ledger.account("visits").spent == Fraction(1, 50) + ONE.rho
    ledger.check()


def test_a_budget_in_rho_becomes_none_in_epsilon_once_a_delta_was_charged(ledger: Ledger) -> None:
    """Before that it can, and what was spent is in ε again."""
    reserve(ledger, Fraction(1, 5))
    assert ledger.set_budget("visits", Fraction(2)).spent == Fraction(1, 5)
    ledger.set_budget("visits", Fraction(2), MILLIONTH)
    reserve(ledger, HUNDREDTH)
    with pytest.raises(SettingError, match="a budget in ε cannot hold them"):
        ledger.set_budget("visits", Fraction(2))
    assert [budget.delta for budget in ledger.budgets()] == [MILLIONTH, 0, MILLIONTH]
    ledger.check()


def test_what_ends_after_the_currency_changed_is_given_back_in_the_new_one(ledger: Ledger) -> None:
    """A release was reserved in ε, and fails when the budget is in ρ."""
    ledger.set_budget("visits", Fraction(2))
    entry = reserve(ledger, Fraction(1, 5))
    ledger.set_budget("visits", Fraction(2), MILLIONTH)
    ledger.fail(entry, "ReadError", data_accessed=False)
    assert ledger.account("visits").spent == 0
    ledger.check()


def test_a_release_with_a_delta_is_given_back_as_a_whole(ledger: Ledger) -> None:
    """Both its ρ and its part of δ."""
    entry = reserve(ledger, ONE)
    ledger.fail(entry, "ReadError", data_accessed=False)
    account = ledger.account("visits")
    assert (account.spent, account.selection) == (0, 0)
    ledger.check()


def test_periods_pay_each_by_itself_in_rho(ledger: Ledger) -> None:
    """The largest sum counts, in ρ and in δ, whichever periods they are of."""
    reserve(ledger, Rho(rho=Fraction(3, 100), selection=Fraction(1, 10**8)), period="2025-01")
    reserve(ledger, Rho(rho=Fraction(1, 100), selection=Fraction(5, 10**8)), period="2025-02")
    account = ledger.account("visits")
    assert account.spent == Fraction(3, 100)
    assert account.left_for_selection == Fraction(5, 10**8)
    assert account.in_periods == {"2025-01": Fraction(3, 100), "2025-02": Fraction(1, 100)}
    ledger.check()


def test_the_chain_holds_delta_and_rho(ledger: Ledger) -> None:
    """A row that was changed and sealed again does not fit the chain."""
    entry = reserve(ledger, ONE)
    for change in (
        {"delta": MILLIONTH / 2}, {"rho": Fraction(1)}, {"selection": Fraction(0)}
    ):  # fmt: skip
        changed = replace(entry, **change)
        assert rows.chain_of("", changed) != rows.chain_of("", entry)
    with closing(sqlite3.connect(ledger.path)) as database:
        for column in ("delta", "rho", "selection"):
            with pytest.raises(sqlite3.IntegrityError, match="a price cannot be changed"):
                database.execute(f"UPDATE entries SET {column} = '1'")


costs: st.SearchStrategy[Fraction | Rho] = st.one_of(
    st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100),
    st.builds(
        Rho,
        rho=st.fractions(Fraction(1, 1000), Fraction(1, 20), max_denominator=1000),
        selection=st.integers(0, 40).map(lambda n: Fraction(n, 10**9)),
    ),
)


@settings(max_examples=25)
@given(st.lists(st.tuples(costs, st.sampled_from([None, "2025-01", "2025-02"])), max_size=8))
def test_what_is_spent_never_passes_the_budget(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[Fraction | Rho, str | None]]
) -> None:
    """Neither in ρ nor in δ, and exactly what does not fit is refused."""
    ledger = Ledger.create(tmp_path_factory.mktemp("ledgers") / "a.ledger")
    account = ledger.set_budget("visits", Fraction(2), MILLIONTH)
    assert account.budget is not None
    for cost, period in asked:
        fits = account.in_period(period).allows(cost)
        try:
            reserve(ledger, cost, period=period)
            account = account.book(cost, period)
            assert fits
        except BudgetError:
            assert not fits
        assert ledger.account("visits") == account
        assert account.spent is not None and account.budget is not None
        assert account.spent <= account.budget
        assert account.left_for_selection >= 0
    ledger.check()


def test_a_policy_allows_pure_epsilon_alone_unless_it_names_a_delta(ledger: Ledger) -> None:
    """Who wrote a policy before there was a δ meant pure ε."""
    policy = policy_path(ledger.path)
    policy.write_text('largest_release = "1"\n', encoding="utf-8")
    with pytest.raises(
        PolicyError, match=r"at most δ = 0 \(largest_delta\), and this one claims δ = 10⁻⁶"
    ):
        reserve(ledger, ONE)
    policy.write_text('largest_release = "1"\nlargest_delta = "1e-7"\n', encoding="utf-8")
    with pytest.raises(PolicyError, match=r"at most δ = 10⁻⁷ \(largest_delta\), and"):
        reserve(ledger, ONE)
    policy.write_text('largest_release = "1"\nlargest_delta = "1e-6"\n', encoding="utf-8")
    reserve(ledger, ONE)
    policy.write_text('largest_delta = "0.1"\n', encoding="utf-8")
    with pytest.raises(LedgerError, match='largest_delta must be a δ such as "1e-6"'):
        reserve(ledger, ONE)


def test_a_policy_bounds_the_epsilon_of_a_year_for_the_delta_of_the_budget(ledger: Ledger) -> None:
    """Two releases of (1, 10⁻⁶) claim 1.451 together, not 2."""
    ledger.set_budget("visits", Fraction(9), MILLIONTH)
    half = replace(ONE, selection=Fraction(0))
    policy = policy_path(ledger.path)
    policy.write_text('largest_year = "1.451"\nlargest_delta = "1e-6"\n', encoding="utf-8")
    reserve(ledger, half)
    reserve(ledger, half)
    with pytest.raises(PolicyError, match=r"with this one they would spend ε = 1\.806\."):
        reserve(ledger, half)


def test_a_ledger_of_version_3_is_read_as_it_is(old: Ledger) -> None:
    """Also where it cannot be written: with all its releases, budgets and sums."""
    before = old.path.read_bytes()
    os.chmod(old.path, 0o400)
    old.check()
    assert {a.dataset: (a.budget, a.spent) for a in old.accounts()} == {
        "bills": (None, None), "visits": (3, Fraction(1, 2) + Fraction(1, 3) + Fraction(1, 5))
    }  # fmt: skip
    assert [entry.state for entry in old.entries()] == [
        "released", "returned", "reserved", "reserved", "reserved"
    ]  # fmt: skip
    assert {budget.delta for budget in old.budgets()} == {0}
    assert old.path.read_bytes() == before


def test_a_ledger_of_version_3_grows_and_keeps_every_record(old: Ledger) -> None:
    """Its rows, seals and chain stay; in ρ the releases count half the square of their ε."""
    entries, budgets, claims = old.entries(), old.budgets(), old.claims()
    account = old.set_budget("visits", Fraction(30), MILLIONTH)
    expected = (Fraction(1, 4) + Fraction(1, 9) + Fraction(1, 25)) / 2
    assert account.spent == expected
    reserve(old, ONE)
    old.check()
    assert old.entries()[:-1] == entries
    assert old.budgets()[:-1] == budgets
    assert old.claims() == claims
    assert old.account("visits").spent == expected + ONE.rho
    with closing(sqlite3.connect(old.path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (4,)


def test_an_account_in_rho_says_what_it_implies() -> None:
    """Against an independent accountant: σ of the sum of all ρ, at the δ of the budget."""
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="extra dev")
    account = Account(dataset="", budget=None, delta=MILLIONTH)
    for _ in range(5):
        account = account.book(Rho(rho=ONE.rho), None)
    assert account.spent == 5 * ONE.rho
    sigma = float(1 / (2 * account.spent)) ** 0.5
    true = library.from_discrete_gaussian_mechanism(sigma).get_epsilon_for_delta(1e-6)
    assert 0.9 * true < true <= account.epsilon(account.spent) < 1.3 * true


def test_processes_at_once_never_overspend_a_budget_in_rho(ledger: Ledger) -> None:
    """Pure releases and those with a δ, in turns: of 48 requests just the 17 that fit are taken."""
    body = (
        "from sacofa.errors import BudgetError\nfrom sacofa.ledger.records import Rho\n"
        "with_delta = dict(delta=Fraction(1, 10**6), rho=Rho(rho=Fraction(1, 200)))\n"
        "sys.stdin.readline()\ntaken = 0\n"
        "for turn in range(8):\n"
        "    try: ledger.reserve('visits', **ask, **(with_delta if turn % 2 else {})); taken += 1\n"
        "    except BudgetError as refused: assert refused.left < Fraction(1, 200)\n"
        "print(taken)"
    )
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: in_child(body, ledger.path, input="\n"), range(6)))
    assert [process.stderr for process in done] == [""] * 6
    assert sum(int(process.stdout) for process in done) == 17
    assert ledger.account("visits").spent == Fraction(17, 200)
    ledger.check()


def test_a_ledger_of_version_3_that_dies_while_it_grows_is_as_it_was(old: Ledger) -> None:
    """New columns, the budget and all sums come with one change, or none of them."""
    before, accounts = old.path.read_bytes(), old.accounts()
    write, seen = rows.write, []

    def failing(database: sqlite3.Connection, record: rows.Record) -> None:
        seen.append(record)
        if isinstance(record, rows.Head):
            raise OSError("the power is gone")
        write(database, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "write", failing)
        with pytest.raises(OSError, match="power"):
            old.set_budget("visits", Fraction(30), MILLIONTH)
    assert any(isinstance(record, Account) for record in seen)
    assert old.path.read_bytes() == before
    assert old.accounts() == accounts
    old.check()


def test_the_delta_of_a_budget_is_signed(ledger: Ledger, tmp_path: Path) -> None:
    """Whoever changes the budget that was set, and all sums with it, is found out."""
    key, _ = make_key(tmp_path / "office")
    signer = read_private_key(key)
    sign_ledger(ledger, signer)
    verify_ledger(ledger, [signer.public])
    (budget,) = ledger.budgets()
    for change in ({"delta": MILLIONTH * 2}, {"rho": Fraction(1)}):
        forged = replace(budget, **change)  # type: ignore[arg-type]
        with storage.writing(ledger.path) as database:
            rows.write(database, forged)
            account = replace(ledger.account("visits"), delta=forged.delta, budget=forged.rho)
            rows.write(database, account)
        ledger.check()
        with pytest.raises(LedgerError, match="budget"):
            verify_ledger(ledger, [signer.public])


@pytest.mark.parametrize("given", [{"delta": MILLIONTH}, {"rho": ONE}])
def test_delta_and_rho_come_together(ledger: Ledger, given: dict[str, Any]) -> None:
    """A δ without its ρ would be charged as pure ε."""
    with pytest.raises(SettingError, match="given together with"):
        ledger.reserve(
            "visits", mechanism="m", settings="{}", certificate="{}", price=Fraction(1), **given
        )
    assert ledger.entries() == []
