"""A release is read back with its certificate, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.errors import ReadError
from sacofa.release import certificate_path, write_log
from sacofa.report import read_comparison, read_release

from .releases import hospital


@pytest.mark.parametrize("suffix", ["xes", "xes.gz", "csv", "parquet", "json"])
def test_what_was_written_is_read(tmp_path: Path, suffix: str) -> None:
    """Variants and certificate are the same in every format."""
    release = hospital()
    path = tmp_path / f"out.{suffix}"
    certificate = write_log(release, path)
    back = read_release(path)
    assert back.certificate.to_json() == certificate.to_json()
    names = back.variants.activities
    assert back.variants.over(sorted(names)) == release.variants.over(sorted(names))


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A file that was changed after it was certified, or has no certificate."""
    path = tmp_path / "out.csv"
    write_log(hospital(), path)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(ReadError, match="is not the file"):
        read_release(path)
    certificate_path(path).unlink()
    with pytest.raises(ReadError, match="no certificate beside it"):
        read_release(path)
    with pytest.raises(ReadError, match="no such file"):
        read_release(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "runs of `sacofa compare`"),
        ("a,b\n1,2\n", "runs of `sacofa compare`"),
        ("mechanism,similarity\nx,high\n", "no number"),
        (b"mechanism,similarity\n\xff,1\n", "cannot be read"),
    ],
)
def test_a_wrong_comparison_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    """Not what `compare` writes, or damaged."""
    file = tmp_path / "runs.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ReadError, match=message):
        read_comparison(tmp_path)


def test_a_folder_must_hold_one_comparison(tmp_path: Path) -> None:
    """None, or several, cannot be read."""
    with pytest.raises(ReadError, match="holds 0 CSV files"):
        read_comparison(tmp_path)
    with pytest.raises(ReadError, match="cannot be read"):
        read_comparison(tmp_path / "none")
