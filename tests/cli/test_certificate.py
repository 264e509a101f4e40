"""`sacofa certificate`: what a person sees and gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

PEOPLE = [
    "--name", "Visits", "--curator", "Hospital", "--purpose", "Research", "--region", "Berlin",
    "--description", "Visits", "--published", "2026-10-31", "--author", "Me",
]  # fmt: skip


@pytest.fixture
def released(run: Run, hospital: Path, tmp_path: Path) -> Path:
    """A release of the running example."""
    path = tmp_path / "out.csv"
    assert run("anonymize", hospital, "-o", path, "--epsilon", "1").status == 0
    return path


def test_a_certificate_goes_to_people_and_registries(
    run: Run, released: Path, tmp_path: Path
) -> None:
    """Shown as it is; as a record, as Markdown and as a page in German."""
    assert "ε = 1 for the whole release" in run("certificate", released).out
    ran = run(
        "certificate", released, "--registry", tmp_path / "record.yaml", "--markdown",
        tmp_path / "a.md", "--html", tmp_path / "a.html", "--language", "de", *PEOPLE,
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert "tier: 3" in (tmp_path / "record.yaml").read_text()
    assert "Schutzeinheit" in (tmp_path / "a.md").read_text()
    assert '<html lang="de">' in (tmp_path / "a.html").read_text()
    again = run("certificate", released, "--html", tmp_path / "a.html")
    assert again.status == 2 and "exists already" in again.err


def test_what_only_people_know_is_asked_for(run: Run, released: Path, tmp_path: Path) -> None:
    """Where nobody can be asked, the options are named."""
    ran = run("certificate", released, "--registry", tmp_path / "record.yaml", *PEOPLE[:4])
    assert ran.status == 2 and "--purpose, --region" in ran.err
    assert not (tmp_path / "record.yaml").exists()


def test_refusals_are_one_line(run: Run, released: Path, tmp_path: Path) -> None:
    """Language, name, damaged release, audit."""
    (tmp_path / "audit.json").write_text("[]")
    for arguments in (
        ["--language", "fr"],
        ["--registry", tmp_path / "Record.yaml", *PEOPLE],
        ["--html", released],
        ["--html", tmp_path / "a.html", "--audit", tmp_path / "audit.json"],
        ["--html", tmp_path / "a.html", "--audit", tmp_path / "none.json"],
    ):
        ran = run("certificate", released, *arguments)
        assert ran.status in (1, 2) and ran.err.count("\n") == 1
    released.write_text("other")
    assert run("certificate", released).status == 1
