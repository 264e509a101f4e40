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
from sacofa.kernel.unit import ONE_CASE
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import Release, certificate_path, read_release, write_release
from sacofa.release.anonymize import certify_request
from sacofa.report import read_comparison
from sacofa.synthesis.released import NO_VALUE, ReleasedColumn
from tests.report.releases import hospital


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
    """Where a file does not hold it, however ε was divided: it goes by what the flow was given."""
    variants = examples.hospital()
    usual = Certified(epsilon="1/10")
    mechanism = replace(usual, **share, attributes=attributes)
    core = mechanism.mark_core(variants)
    none = np.full(variants.events, NO_VALUE, dtype=np.int32)
    ward = ReleasedColumn(name="ward", of_case=False, kind="boolean", texts=(), codes=none)
    log = ReleasedLog(variants=variants, core=core, columns=(ward,) if attributes else ())
    release = Release(log=log, certificate=certify_request(mechanism, ONE_CASE))
    write_release(release, tmp_path / "out.json")
    back = read_release(tmp_path / "out.json")
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
    with pytest.raises(ReadError, match="there is no such file"):
        read_comparison(tmp_path)
