"""The ledger: exact budgets, every release a row, and clear refusals."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import BudgetError, LedgerError, SettingError
from sacofa.ledger import Account, Entry, Ledger, rows, storage

PRICES = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with one dataset and a budget of 1."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(1))
    return made


def reserve(ledger: Ledger, price: Fraction | None, **other: Any) -> Entry:
    """Reserve with settings that do not matter."""
    request: dict[str, Any] = {
        "mechanism": "certified", "settings": "{}", "certificate": "{}", **other
    }  # fmt: skip
    return ledger.reserve("visits", price=price, **request)


def test_ten_tenths_fit_a_budget_of_one_and_an_eleventh_does_not(ledger: Ledger) -> None:
    """Prices are added up as fractions."""
    for _ in range(10):
        reserve(ledger, Fraction("0.1"))
    with pytest.raises(BudgetError) as refused:
        reserve(ledger, Fraction("0.1"))
    assert (refused.value.left, refused.value.budget) == (0, 1)
    assert len(ledger.entries()) == 10


def test_a_refusal_says_what_is_left_and_leaves_no_trace(ledger: Ledger) -> None:
    """A request that does not fit is no release."""
    reserve(ledger, Fraction(2, 3))
    with pytest.raises(BudgetError, match=r'spends ε = 0.5, and dataset "visits" has ε = 1/3 left'):
        reserve(ledger, Fraction(1, 2))
    assert ledger.account("visits").left == Fraction(1, 3)
    reserve(ledger, Fraction(1, 3))


@settings(max_examples=25, deadline=None)
@given(budget=PRICES, prices=st.lists(PRICES, max_size=8))
def test_what_is_spent_never_passes_the_budget(budget: Fraction, prices: list[Fraction]) -> None:
    """A request is taken just when it fits, whatever came before."""
    account = Account(dataset="visits", budget=budget)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder) / "a.ledger")
        ledger.set_budget("visits", budget)
        spent = Fraction(0)
        for price in prices:
            if spent + price <= budget:
                reserve(ledger, price)
                spent += price
            else:
                with pytest.raises(BudgetError):
                    reserve(ledger, price)
            account = ledger.account("visits")
            assert (account.spent, account.left) == (spent, budget - spent)


def test_no_finite_price_fits_no_finite_budget(ledger: Ledger) -> None:
    """A release without ε is possible without a limit only, and then nothing finite is left."""
    with pytest.raises(BudgetError, match="has no finite ε"):
        reserve(ledger, None)
    ledger.set_budget("visits", None)
    reserve(ledger, None)
    assert ledger.account("visits").spent is None
    ledger.set_budget("visits", Fraction(1_000_000))
    with pytest.raises(BudgetError):
        reserve(ledger, Fraction(1, 1_000_000))


def test_a_lower_budget_leaves_nothing_and_a_higher_one_more(ledger: Ledger) -> None:
    """What was spent stays spent, and each budget stays in the history."""
    reserve(ledger, Fraction(1, 2))
    assert ledger.set_budget("visits", Fraction(1, 4)).left == 0
    with pytest.raises(BudgetError):
        reserve(ledger, Fraction(1, 1000))
    assert ledger.set_budget("visits", Fraction(2)).left == Fraction(3, 2)
    assert [budget.epsilon for budget in ledger.budgets()] == [1, Fraction(1, 4), 2]


def test_an_unknown_dataset_is_refused_with_the_nearest_name(ledger: Ledger) -> None:
    """A mistyped name does not become an account of its own."""
    with pytest.raises(LedgerError, match=r'no dataset "visit".*Did you mean "visits"\?'):
        ledger.reserve(
            "visit", mechanism="certified", settings="{}", price=Fraction(1), certificate="{}"
        )


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_names_are_names(ledger: Ledger, name: str) -> None:
    """A dataset has a name that fits on a line."""
    with pytest.raises(SettingError):
        ledger.set_budget(name, Fraction(1))


def test_datasets_do_not_touch_each_other(ledger: Ledger) -> None:
    """Each dataset has its own account."""
    ledger.set_budget("bills", Fraction(3))
    reserve(ledger, Fraction(1))
    assert [(a.dataset, a.left) for a in ledger.accounts()] == [("bills", 3), ("visits", 0)]
    assert ledger.entries("bills") == []


def test_an_identical_request_costs_again_and_says_so(ledger: Ledger) -> None:
    """A repeat is a new entry that names the one before."""
    first = reserve(ledger, Fraction(1, 10))
    other = reserve(ledger, Fraction(1, 10), settings='{"max_length": 3}')
    again = reserve(ledger, Fraction(1, 10))
    assert (first.repeats, other.repeats, again.repeats) == (None, None, first.id)
    assert ledger.account("visits").spent == Fraction(3, 10)


def finish(ledger: Ledger, entry: Entry, file: Path) -> None:
    """Link an entry to a file and let the file have its name."""
    digest = hashlib.sha256(b"released").hexdigest()
    ledger.link(
        entry, file=file, size=len(b"released"), sha256=digest, certificate='{"final": true}'
    )
    file.write_bytes(b"released")


def test_a_release_goes_from_reserved_to_released(ledger: Ledger, tmp_path: Path) -> None:
    """A row holds the whole story."""
    entry = reserve(ledger, Fraction(1, 2))
    assert ledger.entries() == [entry]
    assert (entry.state, entry.spent, entry.file) == ("reserved", True, None)
    finish(ledger, entry, tmp_path / "out.csv")
    ledger.complete(entry)
    (done,) = ledger.entries()
    assert (done.state, done.spent) == ("released", True)
    assert (done.file, done.certificate) == (str(tmp_path / "out.csv"), '{"final": true}')


def test_what_died_before_its_file_had_a_name_counts_as_spent(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Reserved entries stay, linked or not."""
    reserve(ledger, Fraction(1, 4))
    entry = reserve(ledger, Fraction(1, 4))
    ledger.link(entry, file=tmp_path / "never", size=1, sha256="0" * 64, certificate="{}")
    reserve(ledger, Fraction(1, 4))
    assert [e.state for e in ledger.entries()] == ["reserved"] * 3
    assert ledger.account("visits").left == Fraction(1, 4)


def test_what_died_after_its_file_had_a_name_is_released(ledger: Ledger, tmp_path: Path) -> None:
    """The next look at the ledger finds the file by its hash, and the next release says so."""
    entry = reserve(ledger, Fraction(1, 4))
    finish(ledger, entry, tmp_path / "out.csv")
    assert ledger.entries()[0].state == "released"
    reserve(ledger, Fraction(1, 4))
    (tmp_path / "out.csv").unlink()
    assert [e.state for e in ledger.entries()] == ["released", "reserved"]


def test_another_file_of_that_name_is_not_the_release(ledger: Ledger, tmp_path: Path) -> None:
    """A name proves nothing."""
    finish(ledger, reserve(ledger, Fraction(1, 4)), tmp_path / "out.csv")
    (tmp_path / "out.csv").write_bytes(b"something else")
    assert ledger.entries()[0].state == "reserved"


def test_a_failure_after_a_look_stays_spent_and_one_before_is_given_back(ledger: Ledger) -> None:
    """Only what cannot have drawn noise is free."""
    ledger.fail(reserve(ledger, Fraction(1)), "ReadError", data_accessed=False)
    ledger.fail(reserve(ledger, Fraction(1)), "TooLargeError", data_accessed=True)
    assert [(e.state, e.spent, e.reason) for e in ledger.entries()] == [
        ("returned", False, "ReadError"),
        ("failed", True, "TooLargeError"),
    ]
    assert ledger.account("visits").left == 0
    assert ledger.entries()[1].repeats is None


def test_a_release_ends_once(ledger: Ledger, tmp_path: Path) -> None:
    """Nothing is given back, and no other file is linked, after the end."""
    entry = reserve(ledger, Fraction(1))
    finish(ledger, entry, tmp_path / "out.csv")
    ledger.complete(entry)
    ledger.complete(entry)
    ledger.fail(entry, "KeyboardInterrupt", data_accessed=True)
    with pytest.raises(LedgerError, match="has ended already"):
        ledger.link(entry, file=tmp_path / "b", size=1, sha256="", certificate="")
    with pytest.raises(LedgerError, match="is no longer in this ledger"):
        ledger.complete(replace(entry, token="another"))
    assert ledger.account("visits").left == 0
    assert [(e.state, e.reason) for e in ledger.entries()] == [("released", None)]


def test_an_interrupt_after_the_file_had_its_name_is_a_release(
    ledger: Ledger, tmp_path: Path
) -> None:
    """What is out is out, whatever happens next."""
    entry = reserve(ledger, Fraction(1))
    finish(ledger, entry, tmp_path / "out.csv")
    ledger.fail(entry, "KeyboardInterrupt", data_accessed=True)
    (tmp_path / "out.csv").unlink()
    assert ledger.entries()[0].state == "released"


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM entries",
        "UPDATE entries SET price = '0'",
        "UPDATE entries SET dataset = 'other'",
        "UPDATE entries SET state = 'returned' WHERE state = 'failed'",
        "DELETE FROM budgets",
    ],
)
def test_rows_cannot_be_lost_by_mistake(ledger: Ledger, change: str) -> None:
    """Even someone at the database itself is stopped, unless they mean it."""
    ledger.fail(reserve(ledger, Fraction(1)), "TooLargeError", data_accessed=True)
    with sqlite3.connect(ledger.path) as database, pytest.raises(sqlite3.IntegrityError):
        database.execute(change)
    assert ledger.account("visits").left == 0


def test_a_missing_ledger_is_refused_and_not_made(tmp_path: Path) -> None:
    """A mistyped path does not become a fresh ledger."""
    with pytest.raises(LedgerError, match="there is no ledger: make one with"):
        Ledger.open(tmp_path / "none")
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger.create(tmp_path / "no" / "such" / "folder")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_ledger_is_refused(ledger: Ledger) -> None:
    """Its rules are not known."""
    with sqlite3.connect(ledger.path) as database:
        database.execute("PRAGMA user_version = 5")
    for use in (Ledger.open, Ledger.create, lambda path: reserve(Ledger(path), Fraction(1))):
        with pytest.raises(LedgerError, match="version 5, and this program knows version 4"):
            use(ledger.path)


def test_another_database_is_no_ledger(tmp_path: Path) -> None:
    """Neither is a text file, and neither is changed."""
    with sqlite3.connect(tmp_path / "b.db") as database:
        database.execute("CREATE TABLE t (a)")
    (tmp_path / "c.txt").write_text("a text of several words\n" * 100)
    for name in ("b.db", "c.txt"):
        before = (tmp_path / name).read_bytes()
        for use in (Ledger.open, Ledger.create):
            with pytest.raises(LedgerError, match="not a ledger"):
                use(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_a_damaged_ledger_is_refused_or_right(ledger: Ledger) -> None:
    """Whichever byte is changed, the answer is what was recorded or an error of ours."""
    for price in (1, 2, 3):
        reserve(ledger, Fraction(price, 10))
    whole = ledger.path.read_bytes()
    truth = (ledger.accounts(), ledger.entries(), ledger.budgets())
    refused = 0
    for place in range(0, len(whole), 37):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        ledger.path.write_bytes(damaged)
        try:
            opened = Ledger.open(ledger.path)
            assert (opened.accounts(), opened.entries(), opened.budgets()) == truth
        except LedgerError:
            refused += 1
    assert refused > 10
    for end in range(1, len(whole), 997):
        ledger.path.write_bytes(whole[:end])
        with pytest.raises(LedgerError):
            Ledger.open(ledger.path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET price = '1/90' WHERE id = 2",
        "UPDATE entries SET price = NULL WHERE id = 1",
        "UPDATE entries SET state = 'returned' WHERE id = 3",
        "UPDATE entries SET dataset = x'ff' WHERE id = 3",
        "DELETE FROM entries WHERE id = 3",
        "DELETE FROM entries",
        "UPDATE budgets SET epsilon = '1000'",
    ],
)
def test_a_row_that_changed_or_went_missing_is_damage(ledger: Ledger, change: str) -> None:
    """Whoever looks at all rows finds it, and a reservation has never more left than there is."""
    for price in (1, 2, 3):
        reserve(ledger, Fraction(price, 10))
    with forging(ledger) as database:
        database.execute(change)
    with pytest.raises(LedgerError, match="damaged"):
        ledger.check()
    with pytest.raises((BudgetError, LedgerError)):
        reserve(ledger, Fraction(5, 10))


@contextmanager
def forging(ledger: Ledger) -> Iterator[sqlite3.Connection]:
    """The database without its triggers, which are there again at the end."""
    with closing(sqlite3.connect(ledger.path)) as database, database:
        triggers = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        yield database
        for _, made in triggers:
            database.execute(made)


def with_three(ledger: Ledger) -> list[Entry]:
    """Two releases of the whole log and one of a period, of 1/10 each."""
    ledger.set_budget("visits", Fraction(9))
    reserve(ledger, Fraction(1, 10))
    reserve(ledger, Fraction(1, 10))
    reserve(ledger, Fraction(1, 10), period="2025-01", charged="overlapping")
    ledger.check()
    return ledger.entries()


def test_a_check_adds_up_every_account(ledger: Ledger) -> None:
    """A sum that was changed and sealed again is damage, for the dataset and for its periods."""
    with_three(ledger)
    (account,) = ledger.accounts()
    (part,) = account.parts
    for changed in (
        replace(account, finite=Fraction(1, 10)),
        replace(account, endless=1),
        replace(account, budget=Fraction(10)),
        replace(part, finite=Fraction(0)),
        replace(part, endless=1),
        replace(part, charged="period", finite=Fraction(0)),
        replace(part, period="2025-02"),
        replace(account, dataset="another"),
    ):
        whole = ledger.path.read_bytes()
        with forging(ledger) as database:
            rows.write(database, changed)
        with pytest.raises(LedgerError, match="damaged"):
            ledger.check()
        ledger.path.write_bytes(whole)
    ledger.check()


@pytest.mark.parametrize(
    "change",
    [
        {"price": Fraction(1, 5)},
        {"price": None},
        {"settings": '{"max_length": 3}'},
        {"mechanism": "laplace"},
        {"at": "2020-01-01T00:00:00+00:00"},
        {"token": "0" * 32},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_chain_holds_what_was_asked_and_paid(ledger: Ledger, change: dict[str, Any]) -> None:
    """A row that was changed and sealed again, with sums to match, does not fit its chain."""
    entry = with_three(ledger)[0]
    changed = replace(entry, **change)
    (account,) = ledger.accounts()
    with forging(ledger) as database:
        rows.write(database, changed)
        rows.write(
            database,
            account.charge(account.amounts(entry.price), -1).charge(account.amounts(changed.price)),
        )
    with pytest.raises(LedgerError, match="damaged"):
        ledger.check()


def test_a_file_of_the_same_size_is_not_the_release(ledger: Ledger, tmp_path: Path) -> None:
    """What settles an entry is the hash of its file."""
    entry = reserve(ledger, Fraction(1))
    finish(ledger, entry, tmp_path / "out.csv")
    (tmp_path / "out.csv").write_bytes(b"RELEASED")
    ledger.settle()
    assert [e.state for e in ledger.entries()] == ["reserved"]
    (tmp_path / "out.csv").write_bytes(b"released")
    ledger.settle()
    (tmp_path / "out.csv").unlink()
    assert [e.state for e in ledger.entries()] == ["released"]


TINY = Fraction(1, 10**40)
"""Far less than a float can tell from nothing beside 1."""


def test_budgets_are_compared_exactly(ledger: Ledger) -> None:
    """A release that is over the budget by less than a float can hold is refused."""
    reserve(ledger, Fraction(1, 3))
    for period, charged in ((None, "dataset"), ("2025", "period"), ("2025", "overlapping")):
        with pytest.raises(BudgetError):
            reserve(ledger, Fraction(2, 3) + TINY, period=period, charged=charged)
    reserve(ledger, Fraction(2, 3) - TINY, period="2025", charged="overlapping")
    with pytest.raises(BudgetError):
        reserve(ledger, 2 * TINY, period="2025-01")
    assert ledger.account("visits").left == TINY
    reserve(ledger, TINY)
    assert ledger.account("visits").left == 0


def test_every_change_reaches_the_disk(ledger: Ledger) -> None:
    """What SQLite was told: a power cut takes back nothing that was reported as done."""
    for opened in (storage.reading, storage.writing):
        with opened(ledger.path) as database:
            found = [
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("synchronous", "journal_mode", "fullfsync")
            ]
        assert found == [3, "delete", 1]


def in_child(body: str, path: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a few lines in a process of their own, with the ledger in `ledger`."""
    head = (
        "from fractions import Fraction\nfrom pathlib import Path\nimport sys\n"
        "from sacofa.ledger import Ledger\nledger = Ledger(Path(sys.argv[1]))\n"
        "ask = dict(mechanism='m', settings='{}', price=Fraction(1, 10), certificate='{}')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", head + body, str(path)],
        capture_output=True, text=True, check=False, env={**os.environ}, **options,
    )  # fmt: skip


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine can look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_ledger_can_be_read_and_refuses_to_spend(open_folder: Path) -> None:
    """Whoever may not write may not release, but may look."""
    ledger = Ledger.create(open_folder / "a.ledger")
    ledger.set_budget("visits", Fraction(1))
    ledger.path.chmod(0o444)
    open_folder.chmod(0o555)
    done = in_child(
        "import os\nif os.geteuid() == 0: os.setuid(65534)\n"
        "print(ledger.open(ledger.path).account('visits').left)\nledger.reserve('visits', **ask)",
        ledger.path,
    )
    open_folder.chmod(0o755)
    assert done.stdout == "1\n"
    assert "LedgerError" in done.stderr
    assert "cannot be written to" in done.stderr


def test_a_full_disk_refuses_to_spend_and_loses_nothing(ledger: Ledger) -> None:
    """A file that may not grow stands for a disk that is full."""
    for _ in range(5):
        reserve(ledger, Fraction(1, 100), settings="x" * 1000)
    size = ledger.path.stat().st_size
    done = in_child(
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "ask['settings'] = 'y' * 100_000\nledger.reserve('visits', **ask)",
        ledger.path,
    )
    assert "LedgerError" in done.stderr
    assert "disk" in done.stderr
    assert len(Ledger.open(ledger.path).entries()) == 5
    reserve(ledger, Fraction(1, 100))


def test_sixteen_processes_at_once_never_overspend(ledger: Ledger) -> None:
    """Of 96 requests for a hundredth just those are taken that fit."""
    ledger.set_budget("visits", Fraction(50, 100))
    body = (
        "from sacofa.errors import BudgetError\nask['price'] = Fraction(1, 100)\n"
        "sys.stdin.readline()\ntaken = 0\n"
        "for _ in range(6):\n"
        "    try: ledger.reserve('visits', **ask); taken += 1\n"
        "    except BudgetError as refused: assert refused.left == 0\n"
        "print(taken)"
    )
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append(in_child(body, ledger.path, input="\n")))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.stderr for result in results] == [""] * 16
    assert sum(int(result.stdout) for result in results) == 50
    assert len(ledger.entries()) == 50
    assert ledger.account("visits").left == 0


def test_sixteen_processes_make_one_ledger(tmp_path: Path) -> None:
    """Whoever comes first makes it, and nobody harms it."""
    threads = [
        threading.Thread(
            target=lambda n=n: in_child(
                f"ledger.create(ledger.path).set_budget('d{n}', Fraction(1))", tmp_path / "a.ledger"
            )
        )
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Ledger.open(tmp_path / "a.ledger").accounts()) == 16
