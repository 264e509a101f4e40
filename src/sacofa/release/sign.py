"""Sign a release, or a ledger: who vouches for it, in a file next to it.

A signature states who claims, never that the claim is true. That of a release covers the exact
bytes of the file and its certificate. That of a ledger covers what was spent up to now, which
cannot be changed or forgotten later without notice: the end of the chain, and with it every release
that was asked for and paid, in order; the budgets; what had become of each release that had ended;
and of releases of periods, what pays for each and which cases it took. Later releases may be added:
the signed ones must still be there, as they were.

The file is a DSSE envelope, as the tools of in-toto and sigstore read it. The statement in it
(in-toto, version 1) names its subjects by SHA-256. The signature covers the exact bytes of the
statement and its type, so nothing needs to be parsed before the signature was checked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from ..base.files import check_target, hash_file, read_small, write_text
from ..errors import ReadError, Statement
from ..ledger import Budget, Entry, Ledger
from ..ledger.storage import refusal
from .certificate import Certificate, loads
from .keys import PrivateKey, PublicKey, named
from .read import Verification, verify
from .write import certificate_path

KIND = "urn:sacofa:release:1"
"""Version of the signed statement about a release; other versions are refused."""
LEDGER_KIND = "urn:sacofa:ledger:2"
"""Version of the signed statement about a ledger; version 1 did not cover releases of periods."""
DIGESTS = ("budgets_sha256", "ended_sha256", "claims_sha256")
NO_CHAIN = hashlib.sha256(b"").hexdigest()
"""Stands for the chain of a ledger without releases."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
MAX_SIGNATURE_BYTES = 1 << 25
"""Upper bound on the bytes: a certificate is at most half of that, and base64 adds a third."""
DAMAGED = Statement("signature.damaged")
WRONG = (ValueError, LookupError, TypeError, AttributeError, binascii.Error, RecursionError)
"""Exceptions raised when JSON has another structure."""


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """Something that is stated about some files."""

    subjects: tuple[tuple[str, str], ...]
    """The name and the SHA-256 of each."""
    kind: str
    """The type of the statement: a URI with a version."""
    content: Mapping[str, object]
    """The content of the statement."""


@dataclass(frozen=True, kw_only=True)
class SignedLedger:
    """The facts that a signature of a ledger confirms."""

    signer: str
    """Whose signature it is."""
    signed_at: str
    """Time of signing, by the clock of the signer."""
    releases: int
    """Number of releases that are unchanged since they were signed."""
    since: int
    """Number of releases that were added since."""


def sign(
    path: str | Path,
    key: PrivateKey,
    *,
    certificate: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Sign a release, and return the path of the signature; a file that does not fit is refused."""
    check_target(signature_path(path), force)
    beside = certificate_path(path) if certificate is None else Path(certificate)
    checked = verify(path, certificate)
    if not checked.holds:
        raise ReadError(path, Statement("sign.refused", finding=checked.findings[0]))
    if not checked.certificate.publishable:
        raise ReadError(path, Statement("sign.seeded"))
    subjects = ((Path(path).name, hash_file(path)), (beside.name, hash_file(beside)))
    stated = json.loads(beside.read_text(encoding="utf-8"))
    content = {"bytes": Path(path).stat().st_size, "certificate": stated}
    return _write(path, subjects, KIND, content, key, force=force)


def verify_signed(
    path: str | Path,
    trusted: Sequence[PublicKey],
    *,
    certificate: str | Path | None = None,
    signature: str | Path | None = None,
) -> Verification:
    """Verify a release and its signature; each kind of failure has its own finding."""
    beside = certificate_path(path) if certificate is None else Path(certificate)
    place, statement, signer = _read(path, signature, trusted, KIND)
    digests = {sha256 for _, sha256 in statement.subjects}
    same_file, same_certificate = hash_file(path) in digests, hash_file(beside) in digests
    if not same_certificate:
        finding = Statement("finding.certificate_changed")
        if not same_file:
            name = statement.subjects[0][0] if statement.subjects else ""
            finding = Statement("finding.other_release", name=name)
        # The certificate in the folder may claim anything, so it is ignored.
        text = json.dumps(statement.content.get("certificate"))
        return Verification(
            certificate=Certificate.from_json(text, place), findings=(finding,), signer=signer
        )
    checked = verify(path, certificate)
    findings = checked.findings
    if not same_file:
        size, signed = Path(path).stat().st_size, statement.content.get("bytes")
        findings = (Statement("finding.file_changed"),)
        if isinstance(signed, int) and size < signed:
            findings = (Statement("finding.file_cut", size=size, signed=signed),)
    return Verification(certificate=checked.certificate, findings=findings, signer=signer)


def sign_ledger(ledger: Ledger, key: PrivateKey, *, force: bool = True) -> Path:
    """Sign a ledger as it stands, and return the path of the signature; damage is not signed."""
    ledger.check()
    entries, budgets = ledger.entries(), ledger.budgets()
    ended = [entry.id for entry in entries if entry.state != "reserved"]
    counted = {"releases": len(entries), "budgets": len(budgets), "ended": ended}
    content = counted | _digests(ledger, entries, budgets, ended)
    subject = (ledger.path.name, entries[-1].chain if entries else NO_CHAIN)
    return _write(ledger.path, (subject,), LEDGER_KIND, content, key, force=force)


def verify_ledger(
    ledger: Ledger, trusted: Sequence[PublicKey], signature: str | Path | None = None
) -> SignedLedger:
    """Verify that the signed content is still in a ledger; otherwise, report what is missing."""
    place, statement, signer = _read(ledger.path, signature, trusted, LEDGER_KIND)
    content = statement.content
    try:
        chain = statement.subjects[0][1]
        releases, budgets, *ended = (
            operator.index(cast(int, number))
            for number in (
                content["releases"],
                content["budgets"],
                *cast(list[int], content["ended"]),
            )
        )
        signed_at = str(content["signed_at"])
        stated = {name: str(content[name]) for name in DIGESTS}
    except WRONG:
        raise ReadError(place, DAMAGED) from None
    ledger.check()
    entries, limits = ledger.entries(), ledger.budgets()
    if len(entries) < releases or len(limits) < budgets:
        now = {"now": len(entries), "budgets_now": len(limits)}
        older = Statement("signed_ledger.older", releases=releases, budgets=budgets, **now)
        raise refusal(ledger.path, older)
    if (entries[releases - 1].chain if releases else NO_CHAIN) != chain:
        raise refusal(ledger.path, Statement("signed_ledger.others"))
    if stated != _digests(ledger, entries[:releases], limits[:budgets], ended):
        raise refusal(ledger.path, Statement("signed_ledger.changed"))
    since = len(entries) - releases
    return SignedLedger(signer=signer, signed_at=signed_at, releases=releases, since=since)


def _digests(
    ledger: Ledger, entries: Sequence[Entry], budgets: Sequence[Budget], ended: Sequence[int]
) -> dict[str, str]:
    """Hashes of what a signature covers next to the chain of the first releases.

    What became of a release that had ended never changes again, and what it took is known by then.
    How many cases there were is secret, and could be tried out in a plain hash. So the mark of the
    key goes in: whoever has that has the ledger itself.
    """
    mark, found = ledger.key_mark(), [entry for entry in entries if entry.id in ended]
    limits = [
        [
            None if b.epsilon is None else str(b.epsilon),
            *([str(b.delta), str(b.rho)] if b.delta else ()),
        ]
        for b in budgets
    ]
    claims = [claim for claim in ledger.claims().values() if claim.entry <= len(entries)]
    return {
        "budgets_sha256": _hash(
            [b.id, b.dataset, b.at, *limit] for b, limit in zip(budgets, limits, strict=True)
        ),
        "ended_sha256": _hash(
            [e.id, e.state, e.file, e.size, e.sha256, e.certificate] for e in found
        ),
        "claims_sha256": _hash(
            [c.entry, c.period, c.charged, *[mark, c.number, c.digest] * (c.entry in ended)]
            for c in claims
        ),
    }


def _hash(rows: Iterable[list[object]]) -> str:
    return hashlib.sha256(json.dumps(list(rows)).encode()).hexdigest()


def signature_path(path: str | Path) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{path}.signature.json")


def _write(
    path: str | Path,
    subjects: tuple[tuple[str, str], ...],
    kind: str,
    content: Mapping[str, object],
    key: PrivateKey,
    *,
    force: bool,
) -> Path:
    """Sign a statement, with the time of the signature, in a file next to the one it is about."""
    target = signature_path(path)
    check_target(target, force)
    dated = {"signed_at": datetime.now(UTC).isoformat(timespec="seconds"), **content}
    statement = SignedStatement(subjects=subjects, kind=kind, content=dated)
    write_text(target, seal(statement, key), force)
    return target


def _read(
    path: str | Path, signature: str | Path | None, trusted: Sequence[PublicKey], kind: str
) -> tuple[Path, SignedStatement, str]:
    """Open the signature of one kind and version of statement; any other is refused.

    Returns:
        Where it lies, what was signed, and whose key signed it.
    """
    place = signature_path(path) if signature is None else Path(signature)
    statement, signer = unseal(place, trusted)
    name, _, version = statement.kind.rpartition(":")
    expected, _, known = kind.rpartition(":")
    if name != expected:
        raise ReadError(place, Statement("signature.other_kind", kind=statement.kind))
    if version != known:
        raise ReadError(place, Statement("signature.other_version", version=version, known=known))
    return place, statement, signer.name


def authenticated_bytes(payload_type: str, payload: bytes) -> bytes:
    """Return the signed bytes: type and payload with their lengths, so that no two collide."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(statement: SignedStatement, key: PrivateKey) -> str:
    """Put a statement into a signed envelope."""
    content = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": n, "digest": {"sha256": sha256}} for n, sha256 in statement.subjects],
        "predicateType": statement.kind,
        "predicate": statement.content,
    }
    payload = json.dumps(content, ensure_ascii=False).encode()
    signature = key.sign(authenticated_bytes(PAYLOAD_TYPE, payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key.public.id, "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(envelope, indent=2) + "\n"


def unseal(path: Path, trusted: Sequence[PublicKey]) -> tuple[SignedStatement, PublicKey]:
    """Verify an envelope that one of some keys signed, and return its content.

    Returns:
        What was signed, and the trusted key that it was signed with.
    """
    text = read_small(path, MAX_SIGNATURE_BYTES, Statement("signature.missing"))
    try:
        envelope = loads(text.decode("utf-8"))
        payload = base64.b64decode(envelope["payload"], validate=True)
        kind = str(envelope["payloadType"])
        signatures = [
            (str(entry.get("keyid", "")), base64.b64decode(entry["sig"], validate=True))
            for entry in envelope["signatures"]
        ]
    except WRONG:
        raise ReadError(path, DAMAGED) from None
    message = authenticated_bytes(kind, payload)
    # The id is a hint; whether a key fits, the signature decides.
    fitting = (key for key in trusted for _, found in signatures if key.confirms(found, message))
    if (signer := next(fitting, None)) is None:
        raise ReadError(path, _unconfirmed({id for id, _ in signatures}, trusted))
    return _statement(path, kind, payload), signer


def _statement(path: Path, kind: str, payload: bytes) -> SignedStatement:
    """Read a statement that is known to be signed."""
    try:
        content = loads(payload)
        if kind != PAYLOAD_TYPE or content["_type"] != STATEMENT_TYPE:
            raise ReadError(path, Statement("signature.unknown", kind=kind))
        subjects = [
            (str(e.get("name", "")), str(e["digest"]["sha256"])) for e in content["subject"]
        ]
        return SignedStatement(
            subjects=tuple(subjects),
            kind=str(content["predicateType"]),
            content=dict(content["predicate"]),
        )
    except WRONG:
        raise ReadError(path, DAMAGED) from None


def _unconfirmed(ids: set[str], trusted: Sequence[PublicKey]) -> Statement:
    """Return the reason why no trusted key confirms a signature."""
    if any(key.id in ids for key in trusted):
        return Statement("signature.changed")
    if not ids:
        return Statement("signature.none", trusted=named(trusted))
    others = [f"{id[:16]}…" for id in sorted(ids)]
    return Statement("signature.other_key", ids=others, trusted=named(trusted))
