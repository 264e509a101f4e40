"""The app's own folder: closed to others, and gone at the end, at the latest at the next start."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the app needs the extra web: pip install 'sacofa[web]'")

from sacofa.errors import OutputError
from sacofa.web.serve import PREFIX, own_folder


def test_it_is_closed_to_others_and_gone_at_the_end(tmp_path: Path) -> None:
    """Whatever is in it, and however it ends."""
    with own_folder(tmp_path / "cache") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "secret").write_text("x")
    assert not folder.exists()
    with pytest.raises(KeyboardInterrupt), own_folder(tmp_path / "cache") as folder:
        raise KeyboardInterrupt
    assert not folder.exists()


def test_what_a_killed_app_left_is_deleted_by_the_next(tmp_path: Path) -> None:
    """But not what a running one holds, and nothing that is not the app's."""
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    (left / "lock").touch()
    (left / "secret").write_text("x")
    other = tmp_path / "other"
    other.mkdir()
    (other / "lock").touch()
    with own_folder(tmp_path) as first:
        assert not left.exists()
        with own_folder(tmp_path) as second:
            assert first.exists()
            assert first != second
    assert other.exists()


def test_its_name_holds_wherever_a_job_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job has another working directory than the app, which may have been given a short name."""
    monkeypatch.chdir(tmp_path)
    with own_folder(Path("cache")) as folder:
        assert folder.is_absolute()
        assert folder.parent == tmp_path / "cache"


def test_a_place_that_cannot_be_used_is_a_plain_message(tmp_path: Path) -> None:
    """A file where a folder should be."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match="cannot be used as a folder"),
        own_folder(tmp_path / "file"),
    ):
        pass
