"""Signatures: who vouches for a release or a ledger, and every way in which that can be wrong."""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sacofa import Laplace, Ledger, open_log, publish
from sacofa.errors import LedgerError, MissingExtraError, ReadError, SettingError
from sacofa.examples import running_example
from sacofa.ledger import rows, storage
from sacofa.ledger.records import Part
from sacofa.release import certificate_path
from sacofa.release.keys import (
    PrivateKey,
    PublicKey,
    make_key,
    read_private_key,
    read_public_key,
    read_trusted_keys,
)
from sacofa.release.publish import Request
from sacofa.release.sign import (
    KIND,
    SignedStatement,
    authenticated_bytes,
    seal,
    sign,
    sign_ledger,
    signature_path,
    unseal,
    verify_ledger,
    verify_signed,
)

MECHANISM = Laplace(level_epsilon="1/2", max_length=2, prune=1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateKey, PublicKey, PublicKey]:
    """A key of the office with its public half, and the public key of a stranger."""
    folder = tmp_path_factory.mktemp("keys")
    private, public = make_key(folder / "office")
    _, stranger = make_key(folder / "stranger")
    return read_private_key(private), read_public_key(public), read_public_key(stranger)


@pytest.fixture
def released(tmp_path: Path, keys: tuple[PrivateKey, PublicKey, PublicKey]) -> Path:
    """A release that the office signed."""
    path = tmp_path / "out.csv"
    publish(running_example(), MECHANISM, path)
    sign(path, keys[0])
    return path


def refusal(path: Path, *trusted: PublicKey) -> str:
    """What is wrong with a release, in one line."""
    try:
        checked = verify_signed(path, trusted)
    except ReadError as error:
        return str(error.what)
    assert len(checked.findings) == 1 and not checked.holds
    return str(checked.findings[0])


def test_a_signed_release_is_confirmed(released: Path, keys: tuple) -> None:
    """By the signer's key, alone or among others."""
    _, office, stranger = keys
    assert verify_signed(released, [office]).holds
    checked = verify_signed(released, [stranger, office])
    assert checked.holds and checked.signer == "office"


def test_what_is_wrong_is_told_apart(released: Path, keys: tuple, tmp_path: Path) -> None:
    """Wrong key, changed file, cut file, changed certificate, other release: each its own line."""
    _, office, stranger = keys
    told = {refusal(released, stranger)}
    assert "signed with another key" in told.copy().pop()
    content, certificate = released.read_bytes(), certificate_path(released).read_bytes()
    changes = {
        "the file was changed": (content.replace(b"a", b"b", 1), certificate),
        "the file was cut": (content[:-5], certificate),
        "the certificate was changed": (content, certificate.replace(b'"delta": 0', b'"delta": 1')),
        "of another release": (content + b"x", certificate + b" "),
    }
    for line, (file, beside) in changes.items():
        released.write_bytes(file)
        certificate_path(released).write_bytes(beside)
        found = refusal(released, office)
        assert line in found
        told.add(found)
    assert len(told) == 1 + len(changes)


def test_a_signature_that_was_changed_is_told_apart(released: Path, keys: tuple) -> None:
    """What it says, its bytes, its end, its absence, its version."""
    key, office, _ = keys
    place = signature_path(released)
    envelope = json.loads(place.read_text())
    payload = json.loads(base64.b64decode(envelope["payload"]))
    payload["predicate"]["bytes"] = 1
    changed = {**envelope, "payload": base64.b64encode(json.dumps(payload).encode()).decode()}
    place.write_text(json.dumps(changed))
    assert "does not fit what was signed" in refusal(released, office)
    place.write_text(json.dumps(envelope)[:-40])
    assert "damaged" in refusal(released, office)
    place.write_text(json.dumps(envelope).replace("{", '{"payload": "e30=",', 1))
    assert "damaged" in refusal(released, office)
    place.write_text(json.dumps({**envelope, "signatures": []}))
    assert "is not signed" in refusal(released, office)
    for kind, line in (
        (KIND.replace(":1", ":99"), "another version"),
        ("urn:other:1", "something else"),
    ):
        other = SignedStatement(subjects=(("a", "0"),), kind=kind, content={})
        place.write_text(seal(other, key))
        assert line in refusal(released, office)
    place.unlink()
    assert "there is no signature" in refusal(released, office)


def test_any_changed_letter_is_found_out(released: Path, keys: tuple) -> None:
    """No byte of file, certificate or signature can be another."""
    _, office, _ = keys
    for path in (released, certificate_path(released), signature_path(released)):
        content = path.read_bytes()
        for place in range(0, len(content), max(len(content) // 40, 1)):
            other = b"A" if content[place : place + 1] != b"A" else b"B"
            path.write_bytes(content[:place] + other + content[place + 1 :])
            try:
                holds = verify_signed(released, [office]).holds
            except ReadError:
                holds = False
            if path == signature_path(released):
                # The id of a key is a hint that nobody needs.
                envelope = path.read_text(errors="replace")
                assert not holds or json.loads(envelope)["signatures"][0].get("keyid") != office.id
            else:
                assert not holds, (path.name, place)
        path.write_bytes(content)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_another_program_confirms_the_signature(tmp_path: Path, released: Path) -> None:
    """OpenSSL checks the bytes that DSSE says are signed, with the key as it lies on the disk."""
    private, public = make_key(tmp_path / "mine")
    sign(released, read_private_key(private), force=True)
    envelope = json.loads(signature_path(released).read_text())
    kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    message = b" ".join(
        [b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload]
    )
    assert message == authenticated_bytes(envelope["payloadType"], payload)
    (tmp_path / "message").write_bytes(message)
    (tmp_path / "sig").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
    command += ["-in", str(tmp_path / "message"), "-sigfile", str(tmp_path / "sig")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (tmp_path / "message").write_bytes(message + b" ")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert [len(s["digest"]["sha256"]) for s in statement["subject"]] == [64, 64]


def test_a_private_key_is_for_its_owner(tmp_path: Path, keys: tuple) -> None:
    """It is made so, and one that others may read is not used."""
    private, public = make_key(tmp_path / "mine")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    private.chmod(0o640)
    with pytest.raises(ReadError, match="chmod 600"):
        read_private_key(private)
    private.chmod(0o600)
    with pytest.raises(ReadError, match="is a public key"):
        read_private_key(public)
    with pytest.raises(ReadError, match="is a private key"):
        read_public_key(private)
    assert "key=" not in repr(read_private_key(private))


def test_a_passphrase_is_asked_for_and_must_be_right(tmp_path: Path) -> None:
    """Without it the file is of no use."""
    private, _ = make_key(tmp_path / "mine", passphrase="long and secret")
    assert b"ENCRYPTED" in private.read_bytes()
    with pytest.raises(ReadError, match="has a passphrase"):
        read_private_key(private)
    with pytest.raises(ReadError, match="passphrase is wrong"):
        read_private_key(private, lambda: "guess")
    assert read_private_key(private, lambda: "long and secret").public.name == "mine"
    with pytest.raises(SettingError, match="passphrase"):
        make_key(tmp_path / "other", passphrase="")


def test_strange_files_are_no_keys(tmp_path: Path) -> None:
    """Of any kind, in one line."""
    for content in (b"", b"x" * 100_000, b"-----BEGIN PRIVATE KEY-----\nAAAA\n", b"\0\xff"):
        path = tmp_path / "k"
        path.write_bytes(content)
        path.chmod(0o600)
        for read in (read_private_key, read_public_key):
            with pytest.raises(ReadError):
                read(path)
    (tmp_path / "none").mkdir()
    with pytest.raises(ReadError, match="no public key"):
        read_trusted_keys(tmp_path / "none")


def test_what_does_not_hold_is_not_signed(tmp_path: Path, keys: tuple) -> None:
    """Neither a changed file nor a seeded one."""
    path = tmp_path / "seeded.csv"
    Request(log=running_example(), mechanism=MECHANISM, output=path, seed=1).publish()
    with pytest.raises(ReadError, match="seed"):
        sign(path, keys[0])
    path.write_text("other")
    with pytest.raises(ReadError, match="cannot be signed"):
        sign(path, keys[0])
    assert not signature_path(path).exists()


def test_without_the_library_the_message_is_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line."""
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtraError, match=r"sacofa\[sign\]"):
        make_key(tmp_path / "mine")


def test_a_signed_ledger_may_grow_and_not_change(tmp_path: Path, keys: tuple) -> None:
    """Later releases are counted; an older copy and other rows are told apart."""
    key, office, stranger = keys
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.set_budget("visits", Fraction(9))
    copy = tmp_path / "older.ledger"
    shutil.copy(ledger.path, copy)
    publish(running_example(), MECHANISM, tmp_path / "1.csv", ledger=ledger, dataset="visits")
    place = sign_ledger(ledger, key)
    publish(running_example(), MECHANISM, tmp_path / "2.csv", ledger=ledger, dataset="visits")
    signed = verify_ledger(ledger, [office])
    assert (signed.releases, signed.since, signed.signer) == (1, 1, "office")
    with pytest.raises(ReadError, match="another key"):
        verify_ledger(ledger, [stranger])
    with pytest.raises(LedgerError, match="older copy"):
        verify_ledger(Ledger.open(copy), [office], place)
    forged = Ledger.open(copy)
    publish(running_example(), MECHANISM, tmp_path / "3.csv", ledger=forged, dataset="visits")
    with pytest.raises(LedgerError, match="are others now"):
        verify_ledger(forged, [office], place)
    with pytest.raises(ReadError, match="signs something else"):
        verify_signed(tmp_path / "1.csv", [office], signature=place)


Forge = Callable[[sqlite3.Connection, Ledger], None]


def pay_from_the_period(database: sqlite3.Connection, ledger: Ledger) -> None:
    """What persons paid for two periods becomes what the dearer one costs."""
    (account,) = ledger.accounts()
    for claim in ledger.claims().values():
        rows.write(database, replace(claim, charged="period"))
        rows.write(database, Part(dataset="visits", period=claim.period, finite=Fraction(1)))
    rows.write(database, replace(account, finite=Fraction(0)))


def forget_the_cases(database: sqlite3.Connection, ledger: Ledger) -> None:
    """Cases that are out look new."""
    (kept,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'claimed_stay'")
    database.execute("DROP TRIGGER claimed_stay")
    database.execute("DELETE FROM claimed")
    database.execute(kept[0])
    for claim in ledger.claims().values():
        rows.write(database, replace(claim, number=0, digest=rows.digest([])))


def take_another_period(database: sqlite3.Connection, ledger: Ledger) -> None:
    """A release is of a period that it was not of."""
    rows.write(database, replace(ledger.claims()[1], period="2025-03"))


@pytest.mark.parametrize("forge", [pay_from_the_period, forget_the_cases, take_another_period])
def test_what_periods_cost_and_took_is_signed(tmp_path: Path, keys: tuple, forge: Forge) -> None:
    """Whoever changes it in a way that adds up is found out; later periods are no change."""
    key, office, _ = keys
    log = tmp_path / "log.csv"
    days = "".join(f"{i},p{i},a,2025-0{i}-05\n" for i in (1, 2, 3))
    log.write_text(f"case,person,activity,time\n{days}")
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.set_budget("visits", Fraction(3))

    def release(period: str) -> None:
        opened = open_log(log, person="person", max_cases=1, period=period, protect="person")
        publish(opened, MECHANISM, tmp_path / f"{period}.csv", ledger=ledger, dataset="visits")

    for period in ("2025-01", "2025-02"):
        release(period)
    sign_ledger(ledger, key)
    release("2025-03")
    assert verify_ledger(ledger, [office]).since == 1
    spent = ledger.account("visits").spent
    with storage.writing(ledger.path) as database:
        forge(database, ledger)
    # It is no damage that can be seen without the signature.
    ledger.check()
    assert (ledger.account("visits").spent != spent) == (forge is pay_from_the_period)
    with pytest.raises(LedgerError, match="which cases they took was changed"):
        verify_ledger(ledger, [office])


def test_the_signature_of_a_ledger_tells_nobody_how_many_cases_there_are(
    tmp_path: Path, keys: tuple
) -> None:
    """Two ledgers of the same releases, each of a period without cases, are signed differently."""
    log = tmp_path / "log.csv"
    log.write_text("case,activity,time\n1,a,2025-01-05\n")
    signed = set()
    for name in ("one", "other"):
        ledger = Ledger.create(tmp_path / f"{name}.ledger")
        ledger.set_budget("visits", Fraction(3))
        opened = open_log(log, period="2024")
        publish(opened, MECHANISM, tmp_path / f"{name}.csv", ledger=ledger, dataset="visits")
        assert [claim.number for claim in ledger.claims().values()] == [0]
        statement, _ = unseal(sign_ledger(ledger, keys[0]), [keys[1]])
        signed.add(statement.content["claims_sha256"])
    assert len(signed) == 2


def test_a_statement_says_the_same_after_it_was_sealed(tmp_path: Path, keys: tuple) -> None:
    """Names in any letters, and no subjects at all."""
    key, office, _ = keys
    for statement in (
        SignedStatement(subjects=(), kind="k:1", content={}),
        SignedStatement(subjects=(("Größe ☃", "ab"),), kind="k:2", content={"a": [1, None, "ε"]}),
    ):
        path = tmp_path / "s.json"
        path.write_text(seal(statement, key))
        assert unseal(path, [office])[0] == statement
