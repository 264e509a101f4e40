"""Releases that are paid from a ledger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from sacofa.errors import (
    BudgetError,
    LedgerError,
    PromiseError,
    ReadError,
    SacofaError,
    SettingError,
    TooLargeError,
)
from sacofa.events import Log, ReadOptions, open_log
from sacofa.kernel.session import Session
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.paper import Laplace, Sacofa
from sacofa.mechanisms.protocol import Output, Progress, Promise
from sacofa.release import publish
from sacofa.release.publish import Listener, Request
from tests.written import write_variants

TENTH = Certified(epsilon=Fraction(1, 10), max_length=3)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A small log."""
    path = tmp_path / "log.xes"
    write_variants(VariantCounts.of({("a", "b"): 40, ("a",): 20}), path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a budget of 1."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(1))
    return made


class Exploding(Laplace):
    """A mechanism that fails when it has drawn its noise."""

    def run(self, *arguments: Any) -> Output:
        """Draw, then fail."""
        super().run(*arguments)
        raise TooLargeError(2, 10, 1, "ask for less")


class Dearer(Laplace):
    """A mechanism that promises more every time it is asked."""

    asked = 0

    def promise(self, unit: Unit) -> Promise:
        """A tenth at first, then two tenths, and so on."""
        Dearer.asked += 1
        return self._now().promise(unit)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Charge all that was promised last."""
        return self._now().run(session)

    def _now(self) -> Laplace:
        return Laplace(level_epsilon=Fraction(Dearer.asked, 10), max_length=1, prune=1)


class Never:
    """Reads a log that must not be read."""

    def count(self, *arguments: Any) -> VariantCounts:
        """Fail."""
        raise AssertionError("the log was read")


@pytest.fixture
def never(log: Path) -> Log:
    """A log of which no case may be read."""
    return replace(open_log(log), reader=cast(Any, Never()))


def test_no_release_costs_more_than_was_paid(log: Path, ledger: Ledger, tmp_path: Path) -> None:
    """Where a mechanism promises another price later on, nothing gets out."""
    out = tmp_path / "out.csv"
    mechanism = Dearer(level_epsilon="1/10", max_length=1, prune=1)
    with pytest.raises(PromiseError, match="before the log was read"):
        publish(log, mechanism, out, ledger=ledger, dataset="visits")
    assert not out.exists()
    (entry,) = ledger.entries()
    assert entry.state == "failed" and entry.spent


def test_ten_releases_of_a_tenth_fit_and_the_eleventh_is_refused_unread(
    ledger: Ledger, log: Path, never: Log, tmp_path: Path
) -> None:
    """Refused before a case is read, and nothing is written."""
    for i in range(10):
        publish(log, TENTH, tmp_path / f"{i}.csv", ledger=ledger, dataset="visits")
    with pytest.raises(BudgetError, match="ε = 0 left of 1: nothing was read or released"):
        publish(never, TENTH, tmp_path / "10.csv", ledger=ledger, dataset="visits")
    assert not (tmp_path / "10.csv").exists()
    assert [e.state for e in ledger.entries()] == ["released"] * 10


def test_an_entry_holds_what_was_released(ledger: Ledger, log: Path, tmp_path: Path) -> None:
    """The certificate of the row is the one that lies beside the file."""
    release = publish(log, TENTH, tmp_path / "out.csv", ledger=ledger, dataset="visits")
    (entry,) = ledger.entries()
    assert entry.certificate == (tmp_path / "out.csv.certificate.json").read_text()
    assert entry.sha256 == release.certificate.sha256
    assert entry.file == str(tmp_path / "out.csv")
    assert entry.price == release.certificate.epsilon == Fraction(1, 10)
    assert json.loads(entry.settings)["max_length"] == 3


def test_a_repeated_request_costs_again_and_says_so(
    ledger: Ledger, log: Path, tmp_path: Path
) -> None:
    """The second says that it repeats the first; another request does not."""
    said: list[str] = []
    for name, mechanism in (("a", TENTH), ("b", TENTH), ("c", Certified(epsilon=Fraction(1, 5)))):
        target = tmp_path / f"{name}.csv"
        Request(
            log=log, mechanism=mechanism, output=target, ledger=ledger, dataset="visits"
        ).publish(Listener(ledger=said.append))
    assert list(map(str, said)) == [
        'ε = 0.1 spent on dataset "visits", 0.9 of 1 left',
        'ε = 0.1 spent on dataset "visits", 0.8 of 1 left; '
        "this repeats release 1 with fresh noise, so it spends the budget again",
        'ε = 0.2 spent on dataset "visits", 0.6 of 1 left',
    ]


def test_no_finite_price_is_refused_where_there_is_a_budget(
    ledger: Ledger, never: Log, tmp_path: Path
) -> None:
    """Rules read off the log make ε infinite: no budget pays for that."""
    mechanism = Sacofa(level_epsilon=Fraction(1), max_length=2, prune_harmless=1, prune_harmful=1)
    with pytest.raises(BudgetError, match="has no finite ε"):
        publish(never, mechanism, tmp_path / "out.csv", ledger=ledger, dataset="visits")


def test_a_log_that_cannot_be_read_costs_nothing(ledger: Ledger, log: Path, tmp_path: Path) -> None:
    """Nothing was drawn; the row stays, and names the kind of error only."""
    (tmp_path / "bad.xes").write_text(log.read_text().replace("</log>", "<trace secret='x'>"))
    said: list[str] = []
    with pytest.raises(ReadError):
        Request(
            log=tmp_path / "bad.xes",
            mechanism=TENTH,
            output=tmp_path / "o.csv",
            ledger=ledger,
            dataset="visits",
        ).publish(Listener(ledger=said.append))
    assert [(e.state, e.reason, e.file) for e in ledger.entries()] == [
        ("returned", "ReadError", None)
    ]
    assert ledger.account("visits").left == 1
    assert said[-1].code == "notice.given_back"


@pytest.mark.parametrize(
    "options",
    [
        {"order": "bogus"}, {"person": "nobody", "max_cases": 2}, {"person": "patient"},
        {"max_cases": 0}, {"engine": "fast"}, {"activity": "none"}, {"timestamp": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_what_can_be_refused_is_refused_before_it_is_paid(
    ledger: Ledger, log: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    """A typing mistake leaves no row in the ledger."""
    with pytest.raises(SacofaError):
        publish(
            log, TENTH, tmp_path / "o.csv", options=ReadOptions(**options),
            ledger=ledger, dataset="visits",
        )  # fmt: skip
    with pytest.raises(ReadError):
        publish(tmp_path / "none.xes", TENTH, tmp_path / "o.csv", ledger=ledger, dataset="visits")
    assert ledger.entries() == []


def test_a_failure_after_noise_was_drawn_stays_spent(
    ledger: Ledger, log: Path, tmp_path: Path
) -> None:
    """A level that grows past its limit has seen noise."""
    mechanism = Exploding(level_epsilon=Fraction(1, 10), max_length=3, prune=1)
    with pytest.raises(TooLargeError):
        publish(log, mechanism, tmp_path / "out.csv", ledger=ledger, dataset="visits")
    assert [(e.state, e.reason) for e in ledger.entries()] == [("failed", "TooLargeError")]
    assert ledger.account("visits").left == Fraction(7, 10)


def test_an_interrupt_while_writing_stays_spent(ledger: Ledger, log: Path, tmp_path: Path) -> None:
    """Whoever interrupts may have seen what they did not like."""

    def interrupt(name: str, done: float) -> None:
        if name == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Request(
            log=log, mechanism=TENTH, output=tmp_path / "out.csv", ledger=ledger, dataset="visits"
        ).publish(Listener(stage=interrupt))
    assert [e.state for e in ledger.entries()] == ["failed"]
    assert not (tmp_path / "out.csv").exists()


def test_a_target_that_cannot_be_written_costs_nothing(
    ledger: Ledger, never: Log, tmp_path: Path
) -> None:
    """It is refused before anything is paid."""
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(Exception, match="exists already"):
        publish(never, TENTH, tmp_path / "out.csv", ledger=ledger, dataset="visits")
    assert ledger.entries() == []


def test_ledger_and_dataset_come_together(ledger: Ledger, never: Log, tmp_path: Path) -> None:
    """One without the other is a mistake, not a release without a ledger."""
    for given in ({"ledger": ledger}, {"dataset": "visits"}):
        with pytest.raises(SettingError, match="together"):
            publish(never, TENTH, tmp_path / "out.csv", **given)  # type: ignore[arg-type]


def test_a_damaged_ledger_releases_nothing(ledger: Ledger, never: Log, tmp_path: Path) -> None:
    """Whether the damage was there when it was opened, or came later."""
    ledger.path.write_bytes(ledger.path.read_bytes()[:5000] + b"\0" * 20000)
    with pytest.raises(LedgerError):
        Ledger.open(ledger.path)
    with pytest.raises(LedgerError):
        publish(never, TENTH, tmp_path / "out.csv", ledger=ledger, dataset="visits")
    assert not (tmp_path / "out.csv").exists()


FULL = """
import resource, signal, sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from sacofa.mechanisms.certified import Certified
from sacofa.ledger import Ledger
from sacofa.kernel.session import Session
from sacofa.release.publish import Listener, Request
from sacofa.kernel.unit import Unit
folder = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
def stage(name, done):
    if name == sys.argv[2]: fill()
if sys.argv[2] == "paying": fill()
Request(log=folder / "log.xes", mechanism=Certified(epsilon=Fraction(1, 10), max_length=3),
        output=folder / "out.csv", ledger=Ledger(folder / "a.ledger"), dataset="visits",
        ).publish(Listener(stage=stage))
"""


@pytest.mark.parametrize(
    ("when", "states"), [("paying", []), ("reading", ["reserved"]), ("writing", ["reserved"])]
)
def test_a_disk_that_is_full_releases_nothing(
    ledger: Ledger, log: Path, tmp_path: Path, when: str, states: list[str]
) -> None:
    """Files may not grow from some moment on, the ledger neither: what was paid stays paid."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), when],
        capture_output=True, text=True, check=False, env={**os.environ},
    )  # fmt: skip
    assert done.returncode != 0
    assert "LedgerError" in done.stderr or "OutputError" in done.stderr
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "out.csv.certificate.json").exists()
    assert [e.state for e in Ledger.open(ledger.path).entries()] == states
