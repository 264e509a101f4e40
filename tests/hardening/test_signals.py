"""Signals: nothing secret stays on the disk, and the ledger knows what became of a release."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

import sacofa
from sacofa.base.temporary import PREFIX, secret_folder
from sacofa.errors import OutputError
from sacofa.events.generate import write_sample
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from tests.written import write_variants

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# Partitions are made of a small log, too, so that there is something to leave behind.
PROGRAM = (
    "import sys\nfrom sacofa.events.duckdb import partitions\npartitions.PARTITION_ROWS = 2_000\n"
    "partitions.MAX_PARTITIONS = 16\nfrom sacofa.cli import main\nmain(sys.argv[1:])\n"
)


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the program with a place of its own for temporary files."""
    (folder / "tmp").mkdir(exist_ok=True)
    source = str(Path(sacofa.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_secrets(process: subprocess.Popen[str], folder: Path) -> None:
    """Wait until parts of the log lie on the disk."""
    for _ in range(3_000):
        if list((folder / "tmp").glob(f"{PREFIX}*/*/*/*.parquet")):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("no partition was ever made")


@pytest.fixture
def release(tmp_path: Path) -> list[object]:
    """What releases a log that is divided into partitions, paid from a ledger."""
    write_sample(tmp_path / "log.parquet", cases=15_000)
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.set_budget("visits", Fraction(10))
    return [
        # A mechanism that has little to do once the log is read.
        "anonymize", "log.parquet", "-o", "out.csv", "--epsilon", "0.1",
        "--mechanism", "laplace", "--max-length", "3", "--prune", "1000",
        "--ledger", "a.ledger", "--dataset", "visits",
    ]  # fmt: skip


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_release_in_good_order(
    tmp_path: Path, release: list[object], number: signal.Signals
) -> None:
    """The partitions go, the price is given back, and one line says that nothing was written."""
    process = start(tmp_path, *release)
    wait_for_secrets(process, tmp_path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (130, 128 + number)
    assert said.endswith("sacofa: interrupted: nothing was written\n"), said
    assert "internal error" not in said and "Traceback" not in said
    assert list((tmp_path / "tmp").iterdir()) == []
    assert {p.name for p in tmp_path.iterdir()} == {"log.parquet", "a.ledger", "tmp"}
    (entry,) = Ledger.open(tmp_path / "a.ledger").entries()
    # Code in C that a signal finds at work has a name of its own for it.
    assert entry.state == "returned" and entry.reason in ("Interrupted", "KeyboardInterrupt")


def test_what_a_kill_left_goes_with_the_next_start(tmp_path: Path, release: list[object]) -> None:
    """But not what belongs to a process that lives."""
    process = start(tmp_path, *release)
    wait_for_secrets(process, tmp_path)
    process.kill()
    process.communicate()
    left = set((tmp_path / "tmp").iterdir())
    assert left
    other = start(tmp_path, *release)
    for _ in range(3_000):
        if not left & set((tmp_path / "tmp").iterdir()) or other.poll() is not None:
            break
        time.sleep(0.01)
    wait_for_secrets(other, tmp_path)
    # It lives, and makes no step until another one has come and gone.
    other.send_signal(signal.SIGSTOP)
    assert other.poll() is None
    living = set((tmp_path / "tmp").iterdir())
    assert living and not left & living
    third = start(tmp_path, "inspect", "log.parquet")
    third.communicate(timeout=120)
    assert third.returncode == 0
    assert living == set((tmp_path / "tmp").iterdir())
    other.send_signal(signal.SIGCONT)
    other.communicate(timeout=120)
    assert other.returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("delay", [0.1, 0.3])
def test_a_signal_during_start_up_is_one_line(
    tmp_path: Path, number: signal.Signals, delay: float
) -> None:
    """No traceback while libraries are loaded."""
    write_variants(VariantCounts.of({("a",): 5}), tmp_path / "log.csv")
    slow = (
        "import sys, time\nfrom sacofa.cli import main\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('sacofa.'): time.sleep(0.05)\n"
        "sys.meta_path.insert(0, Slow())\nprint('.', flush=True)\nmain(sys.argv[1:])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", slow, "inspect", "log.csv"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])},
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert said == "sacofa: interrupted: nothing was written\n"
    assert process.returncode == 128 + number


def test_an_interrupt_after_the_release_does_not_say_that_nothing_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is there, and the line names it."""
    from sacofa.cli import anonymize, main

    write_variants(VariantCounts.of({("a",): 50}), tmp_path / "log.csv")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(anonymize, "show_certificate", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main(["anonymize", str(tmp_path / "log.csv"), "-o", str(tmp_path / "out.csv"),
              "--epsilon", "1"])  # fmt: skip
    assert stopped.value.code == 130
    assert f"the release was written before: {tmp_path / 'out.csv'}" in capsys.readouterr().err


def test_a_place_for_temporary_files_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a log do not go elsewhere in silence."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with pytest.raises(OutputError, match="TMPDIR"), secret_folder():
        pass


def test_an_interrupt_while_cleaning_up_cleans_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second Ctrl-C does not leave half of a log."""
    import shutil

    from sacofa.base import temporary

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    real, calls = shutil.rmtree, iter([True, False])

    def rmtree(*arguments: object, **more: object) -> None:
        if next(calls, False):
            raise KeyboardInterrupt
        real(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(temporary.shutil, "rmtree", rmtree)
    with pytest.raises(KeyboardInterrupt), secret_folder() as folder:
        (folder / "secret").write_text("x")
    assert list(tmp_path.iterdir()) == []
