"""Kill and crowd those who write a release: what is left is a pair that fits, or can be mended.

    python -m tests.hardening.paired kills|writers [force]

Runs in a process of its own, which forks a child for every write: to fork a process that holds all
tests takes several times as long.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import sacofa
from sacofa.errors import OutputError
from sacofa.mechanisms.paper import Laplace
from sacofa.release import Release, anonymize, certificate_path, verify, write_release

SOURCE = str(Path(sacofa.__file__).parent)
WATCHED = tuple(
    f"{SOURCE}/{part}" for part in ("release/write.py", "base/files.py", "base/temporary.py")
)


def made(seed: int) -> Release:
    """A small release."""
    log = {("a", "b"): 40, ("a",): 20}
    return anonymize(log, Laplace(level_epsilon=Fraction(1), max_length=2, prune=1), seed=seed)


def forked(work: Callable[[], None]) -> int:
    """Do some work in a process of its own; give its status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def killed_at(turn: int) -> None:
    """Kill this process at a line of the modules that give names."""
    count = itertools.count(1)

    def trace(frame: Any, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(WATCHED):
            return None
        if event == "line" and next(count) == turn:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def state(path: Path) -> str:
    """What is seen under a name before anybody mends anything."""
    certificate = certificate_path(path)
    if not path.exists():
        return "nothing" if not certificate.exists() else "an orphan"
    if not certificate.exists():
        return "no certificate"
    return "fits" if verify(path, certificate).holds else "does not fit"


def kill_at_lines(place: Path, force: bool) -> None:
    """Kill a write at its first line, the next, and so on, until one gets through."""
    first, second = made(1), made(2)
    seen: dict[str, int] = {}
    for turn in itertools.count(1):
        folder = place / str(turn)
        folder.mkdir()
        path = folder / "out.json"
        if force:
            write_release(first, path)

        def work(turn: int = turn, path: Path = path) -> None:
            killed_at(turn)
            write_release(second, path, force=force)

        status = forked(work)
        assert status in (0, signal.SIGKILL)
        found = state(path)
        seen[found] = seen.get(found, 0) + 1
        assert found in ("nothing", "no certificate", "fits"), turn
        if found != "nothing":
            assert verify(path).holds, turn
            assert state(path) == "fits"
        # The next run goes through and leaves nothing of the one that was killed.
        write_release(second, path, force=force or found != "nothing")
        assert {p.name for p in folder.iterdir()} == {"out.json", "out.json.certificate.json"}, turn
        if status == 0:
            break
    assert seen.keys() >= {"no certificate", "fits"}, "the dangerous moments were never met"


def write_at_once(place: Path, force: bool) -> None:
    """Let eight write under one name at a time."""
    for round in range(6):
        path = place / f"{round}.json"
        children = []
        for seed in range(8):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    write_release(made(seed), path, force=force)
                    status = 0
                except OutputError as refused:
                    status = 3 if "exists already" in str(refused) else 1
                finally:
                    os._exit(status)
            children.append(child)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert ends.count(0) == (8 if force else 1), ends
        assert set(ends) <= {0, 3}
        assert state(path) == "fits"
    assert len(list(place.iterdir())) == 12


if __name__ == "__main__":
    # In memory: a kill leaves the same there as on a disk, which is much slower.
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    ) as folder:
        work = {"kills": kill_at_lines, "writers": write_at_once}[sys.argv[1]]
        work(Path(folder), "force" in sys.argv[2:])
