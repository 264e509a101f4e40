"""Kill releases with SIGKILL: at lines that deal with ledger and files, and at any moment.

    python -m tests.hardening.killed steps EVERY | moments COUNT | periods EVERY  [MISTAKE]

Runs in a process of its own, which forks a child for every release, so that hundreds take seconds.
The child is traced line by line and kills itself at the line that is its turn; no code of the
package knows of it. What was seen before the end goes through a pipe to the parent, which checks
what is left.
"""

from __future__ import annotations

import fcntl
import gc
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import termios
import time
from ast import literal_eval
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import sacofa
import sacofa.release.publish  # the function of that name hides the module
from sacofa.events import open_log
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.mechanisms.paper import Laplace
from sacofa.mechanisms.protocol import Output
from sacofa.release import Certificate, certificate_path, reservation
from sacofa.release.publish import Listener, Request
from sacofa.release.read import verify
from tests.written import write_variants

publishing = sys.modules["sacofa.release.publish"]
SOURCE = str(Path(sacofa.__file__).parent)
WATCHED = tuple(
    f"{SOURCE}/{part}" for part in ("ledger/", "release/", "base/files.py", "base/temporary.py")
)
PRICE = Fraction(1, 10)
# A process that is killed leaves the same behind in memory as on a disk, which is much slower.
PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Told(Laplace):
    """The real mechanism, which tells a pipe before it looks at anything."""

    pipe: int

    def run(self, *arguments: Any) -> Output:
        """Tell, then look."""
        os.write(self.pipe, b"N")
        return super().run(*arguments)


class ToldReader:
    """The real reader, which tells a pipe before it reads a case."""

    def __init__(self, reader: Any, pipe: int) -> None:
        self._reader, self._pipe = reader, pipe

    def count(self, *arguments: Any) -> VariantCounts:
        """Tell, then read."""
        os.write(self._pipe, b"O")
        counted: VariantCounts = self._reader.count(*arguments)
        return counted


def release(folder: Path, output: Path, pipe: int, period: str | None = None) -> None:
    """Make one release; tell the pipe when the price is paid, cases are read, and noise drawn."""
    log = open_log(folder / "log.xes", period=period)
    log = replace(log, reader=ToldReader(log.reader, pipe))  # type: ignore[arg-type]
    mechanism = Told(level_epsilon=PRICE / 2, max_length=2, prune=1)
    object.__setattr__(mechanism, "pipe", pipe)
    Request(
        log=log,
        mechanism=mechanism,
        output=output,
        ledger=Ledger(folder / "a.ledger"),
        dataset="visits",
        seed=1,
    ).publish(Listener(ledger=lambda _: tell_paid(pipe)))


def tell_paid(pipe: int) -> None:
    """Tell that the price is paid."""
    os.write(pipe, b"P")


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Do some work in a child that writes to a pipe; give its process and the other end."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        status = 1
        try:
            work(writes)
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    return child, reads


def ended(child: int, reads: int) -> tuple[int, bytes]:
    """Wait for a child; give its status and what it had told."""
    _, status = os.waitpid(child, 0)
    with os.fdopen(reads, "rb") as pipe:
        return status, pipe.read()


def at_each_line(act: Callable[[int], None]) -> None:
    """Do something before each line of this process that deals with ledger and files.

    A line counts once for each way that leads there: the rounds of a loop are one.
    """
    met: set[tuple[int, int]] = set()
    ways: dict[tuple[object, ...], int] = {}
    watched: dict[Any, bool] = {}

    def is_watched(code: Any) -> bool:
        if code not in watched:
            watched[code] = code.co_filename.startswith(WATCHED)
        return watched[code]

    def way_to(frame: Any) -> tuple[object, ...]:
        if frame is None or not is_watched(frame.f_code):
            return ()
        return (frame.f_code, frame.f_lineno, way_to(frame.f_back))

    def trace(frame: Any, event: str, _: Any) -> Any:
        if not is_watched(frame.f_code):
            return None
        # Where a function was called from is the same for all its lines.
        way = ways.setdefault((frame.f_code, way_to(frame.f_back)), len(ways))

        def trace_lines(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                before = len(met)
                met.add((way, frame.f_lineno))
                if len(met) > before:
                    act(len(met))
            return trace_lines

        return trace_lines

    sys.settrace(trace)


def kill_at_line(turn: int) -> None:
    """Kill this process at a line, counted over all lines that deal with ledger and files."""

    def act(number: int) -> None:
        if number == turn:
            os.kill(os.getpid(), signal.SIGKILL)

    at_each_line(act)


def lines_and_changes(folder: Path) -> tuple[int, list[int]]:
    """How many lines a release has, and those that find something else than the line before.

    What a kill leaves are the files, and what was told. Where these are the same at two lines, two
    kills are one.
    """
    found: list[int] = []

    def work(pipe: int) -> None:
        reads, writes = os.pipe()
        states: list[object] = [None]
        lines = 0

        def act(number: int) -> None:
            nonlocal lines
            told = fcntl.ioctl(reads, termios.FIONREAD, bytes(4))
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            state = told, [(path, path.read_bytes()) for path in files]
            if state != states[-1]:
                states[:] = [state]
                found.append(number)
            lines = number

        at_each_line(act)
        release(folder, folder / "out.xes", writes)
        sys.settrace(None)
        os.write(pipe, repr((lines, found)).encode())

    status, told = ended(*forked(work))
    assert status == 0
    lines, changes = literal_eval(told.decode())
    return lines, changes


def prepare(folder: Path) -> Ledger:
    """Make a small log, and a ledger with a large budget."""
    write_variants(VariantCounts.of({("a", "b"): 40, ("a",): 20}), folder / "log.xes")
    ledger = Ledger.create(folder / "a.ledger")
    ledger.set_budget("visits", Fraction(1000))
    return ledger


def check(ledger: Ledger, outputs: list[Path], told: bytes) -> dict[str, int]:
    """Check that nothing is out without a row, and no row is lost; count what became of them."""
    ledger = Ledger.open(ledger.path)
    entries = ledger.entries()
    by_file = {entry.file: entry for entry in entries if entry.file is not None}
    for output in outputs:
        if output.exists():
            assert by_file[str(output)].state == "released", "a file without a row"
            assert verify(output).holds, "a file that is not the one certified"
        elif str(output) in by_file:
            assert by_file[str(output)].state == "reserved", "a row that claims a file"
    assert len(entries) >= told.count(b"P"), "a row is lost"
    assert len(entries) >= told.count(b"N"), "noise without a row"
    assert len(entries) >= told.count(b"O"), "a case was read without a row"
    assert all(entry.spent for entry in entries), "a price was given back"
    assert ledger.account("visits").spent == PRICE * len(entries)
    states = [entry.state for entry in entries]
    return {state: states.count(state) for state in states}


def kill_at_steps(every: int) -> None:
    """Kill a release at each line that finds a change, at some others, and let one get through."""
    seen: dict[str, int] = {}
    pattern = Path(tempfile.mkdtemp(dir=PLACE))
    prepare(pattern)
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        lines, changes = lines_and_changes(shutil.copytree(pattern, Path(name) / "here"))
    for turn in sorted({*changes, *range(1, lines, every), lines + 1}):
        with tempfile.TemporaryDirectory(dir=PLACE) as name:
            folder = shutil.copytree(pattern, Path(name) / "here")
            ledger, output = Ledger(folder / "a.ledger"), folder / "out.xes"

            def work(pipe: int, turn: int = turn, folder: Path = folder) -> None:
                kill_at_line(turn)
                release(folder, folder / "out.xes", pipe)

            status, told = ended(*forked(work))
            assert status == (0 if turn > lines else signal.SIGKILL), f"{turn}: status {status}"
            states = check(ledger, [output], told)
            for state in states or {"nothing": 1}:
                seen[state] = seen.get(state, 0) + 1
            # A ledger that was left in the middle of a change takes the next release.
            ledger.reserve(
                "visits", mechanism="m", settings="{}", price=PRICE, certificate="{}"
            )  # fmt: skip
            assert len(ledger.entries()) == sum(states.values()) + 1
            if status == 0:
                assert output.exists()
                assert certificate_path(output).exists()
                assert told == b"PON"
    shutil.rmtree(pattern)
    sys.stdout.write(f"{lines} lines, {len(changes)} changes: {seen}\n")


def kill_at_steps_of_periods(every: int) -> None:
    """Kill a release of a period at its first line, the next, and so on, until one gets through.

    Whatever noise was drawn about, its cases are known: no other period takes them any more. The
    period itself can try again, and pays again, unless its file is out.
    """
    seen: dict[str, int] = {}
    pattern = Path(tempfile.mkdtemp(dir=PLACE))
    prepare(pattern)
    for turn in itertools.count(1, every):
        with tempfile.TemporaryDirectory(dir=PLACE) as name:
            folder = shutil.copytree(pattern, Path(name) / "here")
            ledger, output = Ledger(folder / "a.ledger"), folder / "out.xes"

            def work(pipe: int, turn: int = turn, folder: Path = folder) -> None:
                kill_at_line(turn)
                release(folder, folder / "out.xes", pipe, "2000-01")

            status, told = ended(*forked(work))
            assert status in (0, signal.SIGKILL), f"line {turn}: status {status}"
            entries = ledger.entries()
            ledger.check()
            parts = ledger.account("visits").parts
            assert sum(part.finite for part in parts) == PRICE * len(entries), "a price is lost"
            assert len(entries) >= told.count(b"P"), "a row is lost"
            claims = list(ledger.claims().values())
            assert len(claims) == len(entries)
            known = sum(claim.number or 0 for claim in claims)
            if b"N" in told:
                assert known == 60, "noise about cases that nobody knows of"
            out = output.exists()
            assert not out or entries[0].state == "released", "a file without a row"
            # This settles what died after its file had its name, as the next release does.
            assert len(ledger.taken("visits", "2000")) == known
            assert len(ledger.taken("visits", "2000-01")) == (known if out else 0)
            what = "out" if out else "known" if known else "paid" if entries else "nothing"
            seen[what] = seen.get(what, 0) + 1
            if turn % (10 * every) == 1 or status == 0:
                again, told = ended(
                    *forked(lambda pipe, f=folder: release(f, f / "2.xes", pipe, "2000-01"))
                )
                assert again == 0 and told == b"PON", "the next release does not get through"
                numbers = [claim.number for claim in ledger.claims().values()]
                assert numbers[-1] == (0 if out else 60)
            if status == 0:
                assert out
                break
    shutil.rmtree(pattern)
    assert set(seen) == {"nothing", "paid", "known", "out"}, seen
    sys.stdout.write(f"killed at {turn // every} lines: {seen}\n")


def kill_at_moments(count: int) -> None:
    """Kill releases into one ledger after delays that a seed decides."""
    chance = random.Random(5)
    told, outputs = b"", []
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = Path(name)
        ledger = prepare(folder)
        start = time.monotonic()
        status, part = ended(*forked(lambda pipe: release(folder, folder / "first.xes", pipe)))
        assert status == 0
        usual = time.monotonic() - start
        told, outputs = part, [folder / "first.xes"]
        for number in range(count):
            output = folder / f"out{number}.xes"

            def work(pipe: int, output: Path = output) -> None:
                release(folder, output, pipe)

            child, reads = forked(work)
            time.sleep(chance.uniform(0, 1.2 * usual))
            os.kill(child, signal.SIGKILL)
            _, part = ended(child, reads)
            told += part
            outputs.append(output)
            if number % 20 == 0:
                check(ledger, outputs, told)
        seen = check(ledger, outputs, told)
    sys.stdout.write(f"killed at {count} moments: {seen}\n")


@contextmanager
def reserve_late(
    ledger: Ledger, dataset: str, certificate: Certificate, tell: Any
) -> Iterator[reservation.BudgetReservation]:
    """Pay when all is done: a mistake that the check must find."""
    yield reservation.BudgetReservation()
    with reservation.reserve_budget(ledger, dataset, certificate, tell):
        pass


def sabotage(mistake: str) -> None:
    """Put a mistake into the package, to show that the check finds it."""
    if mistake == "never-link":
        reservation.BudgetReservation.link = lambda *_: None  # type: ignore[method-assign]
    elif mistake == "pay-late":
        publishing.reserve_budget = reserve_late  # type: ignore[attr-defined]
    elif mistake == "give-back":
        Ledger.complete = lambda self, entry: self._change(entry, state="returned")  # type: ignore[method-assign]
    elif mistake == "claim-late":
        reservation.BudgetReservation.claim = lambda *_: None  # type: ignore[method-assign]
    elif mistake == "forget":
        Ledger.taken = lambda *_: set()  # type: ignore[method-assign]
    else:
        raise ValueError(mistake)


def load_all() -> None:
    """Make one release here: what it loads and works out once is there before the first fork."""
    with tempfile.TemporaryDirectory(dir=PLACE) as name, open(os.devnull, "wb") as nobody:
        prepare(Path(name))
        release(Path(name), Path(name) / "out.xes", nobody.fileno())
    # What is here stays as it is: a child that never counts it takes no copy of it.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    load_all()
    for mistake in sys.argv[3:]:
        sabotage(mistake)
    ways = {"steps": kill_at_steps, "moments": kill_at_moments, "periods": kill_at_steps_of_periods}
    ways[sys.argv[1]](int(sys.argv[2]))
