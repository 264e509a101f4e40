"""A released file and its certificate: a pair that fits, or nothing, whatever happens."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import OutputError, ReadError
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.paper import Laplace
from sacofa.release import anonymize, verify, write_release
from sacofa.release import write as pairs

from .child import run_module
from .paired import made, state


@pytest.mark.parametrize("how", [(), ("force",)], ids=["new", "force"])
def test_a_kill_at_any_line_leaves_a_pair_that_fits_or_can_be_mended(how: tuple[str, ...]) -> None:
    """With --force, never a new certificate beside an old file, nor the other way round."""
    done = run_module("paired", "kills", *how)
    assert done.returncode == 0, done.stderr


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
    assert str(refused.value).startswith(f"{tmp_path / 'out.xes'}: .xes cannot hold")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [(), ("force",)], ids=["new", "force"])
def test_of_many_writers_of_one_name_one_wins(how: tuple[str, ...]) -> None:
    """Without force the others are refused; with it the last one stays, as a pair."""
    done = run_module("paired", "writers", *how)
    assert done.returncode == 0, done.stderr
