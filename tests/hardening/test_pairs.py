"""A released file and its certificate: a pair that fits, or nothing, whatever happens."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sacofa
from sacofa.errors import OutputError, ReadError
from sacofa.mechanisms.paper import Laplace
from sacofa.release import Release, anonymize, certificate_path, verify, write_release
from sacofa.release import pair as pairs
from sacofa.variants import VariantCounts

SOURCE = str(Path(sacofa.__file__).parent)
WATCHED = tuple(f"{SOURCE}/{part}" for part in ("release/pair.py", "files.py", "temporary.py"))


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


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory: a kill leaves the same there as on a disk, which is much slower."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


@pytest.mark.parametrize("force", [False, True])
def test_a_kill_at_any_line_leaves_a_pair_that_fits_or_can_be_mended(
    quick_folder: Path, force: bool
) -> None:
    """With --force, never a new certificate beside an old file, nor the other way round."""
    first, second = made(1), made(2)
    seen: dict[str, int] = {}
    for turn in itertools.count(1):
        folder = quick_folder / str(turn)
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


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", [1, 2])
def test_an_error_between_the_two_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool, error: BaseException, step: int
) -> None:
    """No orphan that blocks the next run."""
    path = tmp_path / "out.json"
    if force:
        write_release(made(1), path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    real, count = pairs.give_name, itertools.count(1)

    def give_name(*arguments: Any) -> None:
        if next(count) == step:
            raise error
        real(*arguments)

    monkeypatch.setattr(pairs, "give_name", give_name)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        write_release(made(2), path, force=force)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    monkeypatch.undo()
    write_release(made(2), path, force=force)
    assert verify(path).holds


@pytest.mark.parametrize("force", [False, True])
def test_of_many_writers_of_one_name_one_wins(quick_folder: Path, force: bool) -> None:
    """Without force the others are refused; with it the last one stays, as a pair."""
    for round in range(6):
        path = quick_folder / f"{round}.json"
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
    assert len(list(quick_folder.iterdir())) == 12


def test_what_another_release_left_is_mended_too(tmp_path: Path) -> None:
    """Writing beside it gives a file its certificate back, and does not delete it."""
    write_release(made(1), tmp_path / "a.json")
    kept = tmp_path / f"{pairs.PREFIX}dead"
    kept.mkdir()
    (kept / "lock").touch()
    os.rename(tmp_path / "a.json.certificate.json", kept / "a.json.certificate.json")
    write_release(made(2), tmp_path / "b.json")
    assert not kept.exists()
    assert state(tmp_path / "a.json") == "fits"


def test_a_certificate_of_another_file_is_not_put_beside_one(tmp_path: Path) -> None:
    """Only the hash decides."""
    write_release(made(1), tmp_path / "a.json")
    kept = tmp_path / f"{pairs.PREFIX}dead"
    kept.mkdir()
    (kept / "lock").touch()
    os.rename(tmp_path / "a.json.certificate.json", kept / "a.json.certificate.json")
    write_release(made(2), tmp_path / "b.json")
    os.unlink(tmp_path / "a.json.certificate.json")
    (tmp_path / "a.json").write_text("another")
    with pytest.raises(ReadError, match="no such certificate"):
        verify(tmp_path / "a.json")


def test_messages_name_the_file_of_the_user(tmp_path: Path) -> None:
    """Not the one that is written before it."""
    odd = anonymize(
        VariantCounts.of({("a\x01",): 5}),
        Laplace(level_epsilon=Fraction(1), max_length=1, prune=1),
        seed=1,
    )
    with pytest.raises(OutputError) as refused:
        write_release(odd, tmp_path / "out.xes")
    assert str(refused.value).startswith(f"{tmp_path / 'out.xes'}: XES cannot hold")
    assert list(tmp_path.iterdir()) == []
