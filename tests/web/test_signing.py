"""Signatures in the web app: made with its key, for every format, and confirmed elsewhere."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="needs the extra sign")

from sacofa.ledger import Ledger
from sacofa.ledger.policy import policy_path
from sacofa.release import certificate_path, make_key, read_private_key, read_public_key
from sacofa.release.sign import signature_path, verify_signed

from .clients import example, person, serving


def test_a_release_is_signed_for_whoever_trusts_the_key(tmp_path: Path, forked: Path) -> None:
    """File, certificate and signature fit; a seeded release is not signed."""
    private, public = make_key(tmp_path / "office")
    trusted = read_public_key(public)
    with serving(tmp_path / "app", forked, signer=read_private_key(private)) as app:
        anna = person(*app)
        assert anna.ask("GET", "/api/signer").json() == {"name": "office", "id": trusted.id}
        ended = {}
        for name, more in (("good", {}), ("seeded", {"seed": 1})):
            # A log is deleted once it was released.
            log = anna.upload(example(tmp_path))
            started = anna.start(log["id"], max_length=6, **more)
            ended[name] = anna.wait(f"/api/jobs/{started['id']}")
        for file in ("log.csv", "log.parquet"):
            path = tmp_path / file
            job = f"/api/jobs/{ended['good']['id']}"
            for place, address in (
                (path, f"{job}/files/{file}"),
                (certificate_path(path), f"{job}/files/{file}.certificate.json"),
                (signature_path(path), f"{job}/signatures/{file}"),
            ):
                answer = anna.ask("GET", address)
                assert answer.status_code == 200, answer.text
                place.write_bytes(answer.content)
            checked = verify_signed(path, [trusted])
            assert checked.holds and checked.signer == "office"
        refused = anna.ask("GET", f"/api/jobs/{ended['seeded']['id']}/signatures/log.csv")
        assert refused.status_code == 409 and "seed" in refused.text
        assert str(tmp_path) not in refused.text
        assert anna.ask("GET", f"{job}/signatures/report.html").status_code == 404


def test_without_a_key_nothing_is_signed(tmp_path: Path) -> None:
    """The app says so."""
    with serving(tmp_path / "app") as app:
        anna = person(*app)
        assert anna.ask("GET", "/api/signer").json() == {"name": None, "id": None}


def test_the_app_obeys_the_policy_of_its_ledger(tmp_path: Path, forked: Path) -> None:
    """What is too dear is refused, and nothing is paid."""
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.set_budget("visits", Fraction(5))
    policy_path(ledger.path).write_text('largest_release = "1/2"\n')
    with serving(tmp_path / "app", forked, ledger=ledger.path) as app:
        anna = person(*app)
        log = anna.upload(example(tmp_path))
        started = anna.start(log["id"], max_length=6, dataset="visits")
        job = anna.wait(f"/api/jobs/{started['id']}")
        assert job["state"] != "done" and "the policy forbids it" in job["problem"]
    assert ledger.entries() == []
