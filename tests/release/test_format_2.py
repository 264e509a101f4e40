"""Certificates of format 2, which held sentences, can still be read, verified and combined.

The files in `format_2` are a release that an earlier version wrote and signed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sacofa.release import Release, read_public_key, read_release, verify, verify_signed
from sacofa.release.certificate import Certificate
from sacofa.release.combine import combine
from sacofa.release.disclosure import disclose
from sacofa.report.build import make_report

FILES = Path(__file__).parent / "format_2"
RELEASED = FILES / "visits.csv"
CERTIFICATE = FILES / "visits.csv.certificate.json"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The release, where a test may change it."""
    for path in FILES.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path / RELEASED.name


def test_its_sentences_are_their_own_wording() -> None:
    """In every language; what was typed already is read as before."""
    content = json.loads(CERTIFICATE.read_text(encoding="utf-8"))
    certificate = Certificate.from_json(CERTIFICATE.read_text(encoding="utf-8"))
    assert list(map(str, certificate.assumptions)) == content["assumptions"]
    assert list(map(str, certificate.not_promised)) == content["not_promised"]
    assert list(map(str, certificate.notes)) == content["notes"]
    assert [str(access.what) for access in certificate.spent] == [
        access["what"] for access in content["spent"]
    ]
    assert certificate.verdict is not None
    assert certificate.verdict.sureness.value == content["judgement"]["sureness"]
    assert certificate.epsilon == 4 and certificate.unit.max_cases == 2


def test_it_is_verified_with_its_file_and_signature() -> None:
    """By the present version."""
    assert verify(RELEASED).findings == ()
    assert verify_signed(RELEASED, [read_public_key(FILES / "office.pub")]).findings == ()


@pytest.mark.parametrize("field", ["epsilon", "sha256", "delta", "surprise"])
def test_a_changed_fact_in_it_is_found(copied: Path, field: str) -> None:
    """As in those of the present format."""
    path = copied.with_name(CERTIFICATE.name)
    content = json.loads(path.read_text(encoding="utf-8"))
    content[field] = "0" * 64 if field == "sha256" else 5
    path.write_text(json.dumps(content), encoding="utf-8")
    assert verify(copied).findings


def test_a_verdict_that_is_only_a_sentence_becomes_a_note() -> None:
    """The oldest certificates had no more."""
    content = json.loads(CERTIFICATE.read_text(encoding="utf-8"))
    del content["judgement"]
    certificate = Certificate.from_json(json.dumps(content))
    assert certificate.verdict is None
    assert str(certificate.notes[-1]) == f"Verdict: {content['verdict']}"


def test_it_can_be_shown_combined_and_disclosed() -> None:
    """Whatever takes a certificate takes this one."""
    release = read_release(RELEASED)
    assert release.certificate.mechanism in make_report(release, title="visits")
    assert disclose(release.certificate)
    both = combine([release, release_without_hash(release)])
    assert both.certificate.epsilon == 8


def release_without_hash(release: Release) -> Release:
    """The same release as if it were another one."""
    return replace(release, certificate=replace(release.certificate, sha256="0" * 64))
