"""Files appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sacofa.base.files import write_whole
from sacofa.errors import OutputError


def test_what_was_written_appears_under_its_name_alone(tmp_path: Path) -> None:
    """Nothing else is left in the folder, and anyone allowed by default may read the file."""
    target = tmp_path / "out.xes.gz"
    with write_whole(target) as part:
        assert part.name == target.name and not target.exists()
        part.write_text("all of it")
    assert [p.name for p in tmp_path.iterdir()] == ["out.xes.gz"]
    assert target.read_text() == "all of it"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert target.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_or_interrupt_nothing_is_left(
    tmp_path: Path, error: type[BaseException]
) -> None:
    """Neither a part nor a folder, and the file that was there is untouched."""
    target = tmp_path / "out.csv"
    target.write_text("before")
    with pytest.raises(error), write_whole(target, force=True) as part:
        part.write_text("half")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    assert target.read_text() == "before"


def test_a_file_that_exists_needs_force(tmp_path: Path) -> None:
    """Refused before any work, also when it turned up meanwhile; overwritten by force."""
    target = tmp_path / "out.csv"
    with pytest.raises(OutputError, match="force=True"), write_whole(target) as part:
        part.write_text("mine")
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    with pytest.raises(OutputError, match="force=True"), write_whole(target):
        pytest.fail("asked to work for nothing")
    with write_whole(target, force=True) as part:
        part.write_text("mine")
    assert target.read_text() == "mine"


def test_targets_that_cannot_be_are_named(tmp_path: Path) -> None:
    """A folder, a missing folder, a device: one clear line each."""
    with pytest.raises(OutputError, match="is a folder"), write_whole(tmp_path, force=True):
        pass
    with (
        pytest.raises(OutputError, match="cannot be written: No such"),
        write_whole(tmp_path / "missing" / "out.csv"),
    ):
        pass
    with pytest.raises(OutputError, match="regular"), write_whole(os.devnull, force=True):
        pass


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it points to is replaced."""
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    with write_whole(link, force=True) as part:
        part.write_text("new")
    assert link.is_symlink() and real.read_text() == "new"
