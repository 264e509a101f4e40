"""Folders for what must not stay: whatever ends a process, the next one removes what it left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sacofa.base import temporary
from sacofa.base.temporary import LOCK, PREFIX, make_locked, remove, remove_abandoned


class Killed(BaseException):
    """Nothing of the process runs after this."""


def test_a_removal_that_breaks_off_is_taken_up_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever file it does: the lock is there until all else is gone."""
    for last in range(4):
        folder, lock = make_locked(tmp_path, PREFIX)
        for name in "abcd":
            (folder / name).write_text("secret")
        left = [last]

        def delete(path: Path, left: list[int] = left) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            path.unlink()

        with monkeypatch.context() as patch:
            patch.setattr(temporary, "_delete", delete)
            with pytest.raises(Killed):
                remove(folder, lock)
        assert (folder / LOCK).exists()
        assert len(list(folder.iterdir())) == 5 - last
        remove_abandoned(tmp_path, PREFIX)
        assert not list(tmp_path.iterdir())


def test_a_folder_without_a_lock_yet_is_removed_if_it_is_empty(tmp_path: Path) -> None:
    """Its owner was killed before it could lock it, or makes another one."""
    (tmp_path / f"{PREFIX}early").mkdir()
    remove_abandoned(tmp_path, PREFIX)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_held_stays(tmp_path: Path) -> None:
    """Whoever works in it goes on."""
    folder, lock = make_locked(tmp_path, PREFIX)
    (folder / "part").write_text("secret")
    remove_abandoned(tmp_path, PREFIX)
    assert (folder / "part").exists()
    os.close(lock)
    remove_abandoned(tmp_path, PREFIX)
    assert not list(tmp_path.iterdir())
