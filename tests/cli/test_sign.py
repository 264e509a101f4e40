"""`sacofa key`, `sign`, `verify` and `ledger sign`: what a person sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def released(run: Run, hospital: Path, tmp_path: Path) -> Path:
    """A release of the running example."""
    path = tmp_path / "out.csv"
    assert run("anonymize", hospital, "-o", path, "--epsilon", "1").status == 0
    return path


def test_sign_and_verify(run: Run, released: Path, tmp_path: Path) -> None:
    """A key is made, a release signed, and whoever trusts the key is told so."""
    assert run("key", "new", tmp_path / "office").status == 0
    assert run("key", "new", tmp_path / "other").status == 0
    assert run("key", "new", tmp_path / "office").status == 2
    assert run("key", "new", tmp_path / "a.key").status == 2
    signed = run("sign", released, "--key", tmp_path / "office.key")
    assert signed.status == 0 and "signed with office" in signed.out
    assert run("sign", released, "--key", tmp_path / "office.key").status == 2
    ran = run("verify", released, "--key", tmp_path / "office.pub")
    assert ran.status == 0 and "signed by office" in ran.out
    ran = run("verify", released, "--trusted", tmp_path, "--json")
    assert ran.status == 0 and json.loads(ran.out)["signer"] == "office"
    ran = run("verify", released, "--key", tmp_path / "other.pub")
    assert (ran.status, ran.err.count("\n")) == (1, 1) and "another key" in ran.err
    assert "not checked" in run("verify", released).out
    released.write_bytes(released.read_bytes()[:-9])
    ran = run("verify", released, "--key", tmp_path / "office.pub")
    assert ran.status == 1 and "was cut" in ran.out


def test_a_passphrase_of_a_program(
    run: Run, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands in the environment; where it does not and nobody can be asked, that is said."""
    monkeypatch.setenv("SACOFA_PASSPHRASE", "a b c")
    assert run("key", "new", tmp_path / "office", "--passphrase").status == 0
    assert run("sign", released, "--key", tmp_path / "office.key").status == 0
    monkeypatch.delenv("SACOFA_PASSPHRASE")
    ran = run("sign", released, "--key", tmp_path / "office.key", "--force")
    assert ran.status == 2 and "SACOFA_PASSPHRASE" in ran.err


def test_sign_a_ledger(run: Run, tmp_path: Path) -> None:
    """Its rows fit, and are as they were signed."""
    ledger = tmp_path / "a.ledger"
    assert run("ledger", "budget", ledger, "visits", "1").status == 0
    assert run("key", "new", tmp_path / "office").status == 0
    assert run("ledger", "sign", ledger, "--key", tmp_path / "office.key").status == 0
    ran = run("ledger", "verify", ledger, "--key", tmp_path / "office.pub")
    assert ran.status == 0 and "signed by office" in ran.out
    assert len(run("key", "show", tmp_path / "office.pub").out.split()[-1]) == 64
