"""Checking a file against its certificate."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import ReadError
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import Certified
from sacofa.release import anonymize, certificate_path, write_release
from sacofa.release.read import verify


@pytest.fixture(params=["csv", "xes", "xes.gz", "parquet", "json"])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A released file of each format."""
    path = tmp_path / f"out.{request.param}"
    secret = VariantCounts.of({("a", "b"): 40, ("a",): 20})
    write_release(anonymize(secret, Certified(epsilon=Fraction(1, 3), max_length=3)), path)
    return path


def test_a_release_is_the_file_certified(released: Path) -> None:
    """As it was written, it holds."""
    checked = verify(released)
    assert checked.holds
    assert checked.certificate.epsilon == Fraction(1, 3)


def test_any_other_file_is_not(released: Path) -> None:
    """One bit is enough."""
    content = bytearray(released.read_bytes())
    content[len(content) // 2] ^= 1
    released.write_bytes(content)
    assert [finding.code for finding in verify(released).findings] == ["finding.other_file"]


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a certificate says."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(epsilon=0.1),
        lambda c: c.update(delta=1e-9),
        lambda c: c.update(publishable="no"),
        lambda c: c.update(extra=1),
        lambda c: c["spent"][0].update(epsilon=0),
    ],
)
def test_numbers_that_do_not_fit_each_other_are_found(
    tmp_path: Path, change: Callable[[Any], object]
) -> None:
    """What people read must be what is added up."""
    path = tmp_path / "out.csv"
    release = anonymize(VariantCounts.of({("a",): 9}), Certified(epsilon=Fraction(1), max_length=3))
    write_release(release, path)
    edit(certificate_path(path), change)
    (finding,) = verify(path).findings
    assert finding.code == "finding.fields_do_not_fit"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda c: c.update(epsilon_exact="1/2"), "do not add up"),
        (lambda c: c["spent"].pop(), "do not add up"),
        (lambda c: c["spent"][0].update(epsilon_exact="-1"), "damaged"),
        (lambda c: c["spent"][0].update(epsilon_exact="1e999999999"), "damaged"),
        (lambda c: c.update(format="other"), "not a certificate"),
    ],
)
def test_sums_that_do_not_add_up_are_refused(
    tmp_path: Path, change: Callable[[Any], object], what: str
) -> None:
    """A certificate that is wrong in itself is no certificate."""
    path = tmp_path / "out.csv"
    release = anonymize(VariantCounts.of({("a",): 9}), Certified(epsilon=Fraction(1), max_length=3))
    write_release(release, path)
    edit(certificate_path(path), change)
    with pytest.raises(ReadError, match=what):
        verify(path)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    """Neither file nor certificate is made up; where both are missing, the file is looked for."""
    with pytest.raises(ReadError, match=r"out\.csv: there is no such file"):
        verify(tmp_path / "out.csv")
    (tmp_path / "out.csv").touch()
    with pytest.raises(ReadError, match="there is no such certificate"):
        verify(tmp_path / "out.csv")


def test_a_certificate_that_says_two_things_is_none(released: Path) -> None:
    """Some programs take the first of two keys, some the last: another ε would be seen."""
    beside = certificate_path(released)
    text = beside.read_text()
    for key in ('"epsilon": 0.01', '"publishable": true'):
        beside.write_text(text.replace("{", "{" + key + ",", 1))
        with pytest.raises(ReadError, match="not a certificate, or damaged"):
            verify(released)
    beside.write_text(text)
    assert verify(released).holds
