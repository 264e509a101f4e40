"""A release is read back with its certificate, or refused in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacofa import examples
from sacofa.base.domains import YesNo
from sacofa.errors import ReadError
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.released import NO_VALUE, ReleasedColumn
from sacofa.kernel.unit import ONE_CASE
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import Certified
from sacofa.release import Release, certificate_path, read_release, write_release
from sacofa.release.anonymize import certify_request
from sacofa.report import read_comparison
from tests.report.releases import hospital, of


@pytest.mark.parametrize("suffix", ["xes", "xes.gz", "csv", "parquet", "json"])
def test_what_was_written_is_read(tmp_path: Path, suffix: str) -> None:
    """Variants and certificate are the same in every format."""
    release = hospital()
    path = tmp_path / f"out.{suffix}"
    certificate = write_release(release, path)
    back = read_release(path)
    assert back.certificate.to_json() == certificate.to_json()
    names = back.variants.activities
    assert back.variants.project_onto(sorted(names)) == release.variants.project_onto(sorted(names))


def timed() -> Release:
    """A release with times of its own."""
    variants = VariantCounts.of({("a", "b"): 3, ("b",): 2}, truncated={("a", "b"): 1})
    times = np.array([50, 90, 7, 8, 50, 60, 1, 2, 2_000_000_000, 30], dtype=np.int64)
    return replace(of(variants), times=times)


@pytest.mark.parametrize("suffix", ["xes", "xes.gz", "csv", "parquet"])
def test_times_are_read(tmp_path: Path, suffix: str) -> None:
    """Each case has its times again; cases of one variant go by their times."""
    release = timed()
    write_release(release, tmp_path / f"out.{suffix}")
    back = read_release(tmp_path / f"out.{suffix}")
    assert back.variants == release.variants
    assert back.times is not None
    assert back.times.tolist() == [7, 8, 50, 60, 50, 90, 1, 2, 30, 2_000_000_000]
    # What is read is written as it is.
    write_release(back, tmp_path / f"again.{suffix}")
    twice = read_release(tmp_path / f"again.{suffix}")
    assert twice.times is not None
    assert twice.times.tolist() == back.times.tolist()


@pytest.mark.parametrize("suffix", ["xes", "csv", "parquet"])
def test_starts_are_read(tmp_path: Path, suffix: str) -> None:
    """When work began comes back with each event, also where it overlaps the event before."""
    release = timed()
    assert release.times is not None
    starts = release.times - np.array([5, 60, 0, 3, 1, 2, 1, 0, 9, 30])
    release = replace(release, starts=starts)
    write_release(release, tmp_path / f"out.{suffix}")
    back = read_release(tmp_path / f"out.{suffix}")
    assert back.variants == release.variants
    assert back.times is not None
    assert back.times.tolist() == [7, 8, 50, 60, 50, 90, 1, 2, 30, 2_000_000_000]
    assert back.starts is not None
    assert (back.times - back.starts).tolist() == [0, 3, 1, 2, 5, 60, 1, 0, 30, 9]
    frame = back.to_pandas()
    assert (frame["time:timestamp"] - frame["start_timestamp"]).dt.total_seconds().tolist() == [
        0, 3, 1, 2, 5, 60, 30, 9, 1, 0,
    ]  # fmt: skip
    assert back.by_case is not None and back.by_case.starts is not None


@pytest.mark.parametrize("suffix", ["xes", "csv", "parquet", "json"])
def test_made_up_times_are_no_times(tmp_path: Path, suffix: str) -> None:
    """A file that says so, or has none, gives none."""
    write_release(hospital(), tmp_path / f"out.{suffix}")
    assert read_release(tmp_path / f"out.{suffix}").times is None


@pytest.mark.parametrize("share", [{"time": False}, {"time_share": "1/9"}, {}], ids=str)
@pytest.mark.parametrize("attributes", [(), (Attribute(name="ward", domain=YesNo()),)], ids=len)
def test_the_core_is_the_one_that_was_released(
    tmp_path: Path, share: dict[str, Any], attributes: tuple[Attribute, ...]
) -> None:
    """However ε was divided: the core goes by what was spent on the flow."""
    variants = examples.hospital()
    usual = Certified(epsilon="1/10")
    mechanism = replace(usual, **share, attributes=attributes)
    core = mechanism.mark_core(variants)
    none = np.full(variants.events, NO_VALUE, dtype=np.int32)
    ward = ReleasedColumn(name="ward", of_case=False, kind="boolean", texts=(), codes=none)
    release = Release(
        variants=variants,
        certificate=certify_request(mechanism, ONE_CASE),
        core=core,
        columns=(ward,) if attributes else (),
    )
    write_release(release, tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv")
    assert back.variants == variants and back.core is not None
    assert back.core.tolist() == core.tolist()
    same = core.tolist() == usual.mark_core(variants).tolist()
    assert same == (not share and not attributes)


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A file that was changed after it was certified, or has no certificate."""
    path = tmp_path / "out.csv"
    write_release(hospital(), path)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(ReadError, match="is not the one certified"):
        read_release(path)
    certificate_path(path).unlink()
    with pytest.raises(ReadError, match="no such certificate"):
        read_release(path)
    with pytest.raises(ReadError, match="no such file"):
        read_release(tmp_path / "none.csv")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\n", b"log,digest\n"])
def test_a_wrong_comparison_is_refused(tmp_path: Path, content: bytes) -> None:
    """Not what `compare` writes, or damaged."""
    (tmp_path / "runs.csv").write_bytes(content)
    with pytest.raises(ReadError, match="runs of `sacofa compare`"):
        read_comparison(tmp_path)


def test_a_folder_without_a_comparison_is_refused(tmp_path: Path) -> None:
    """There is nothing to read."""
    with pytest.raises(ReadError, match="cannot be read: No such file"):
        read_comparison(tmp_path)
