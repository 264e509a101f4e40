"""A signed statement in a DSSE envelope, as the tools of in-toto and sigstore read it.

The statement (in-toto, version 1) names its subjects by SHA-256 and states something about them.
The signature covers the exact bytes of the statement and its type, so nothing needs to be parsed
before the signature was checked.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ..base.files import check_target, read_small, write_text
from ..errors import ReadError, Statement
from .certificate import loads
from .keys import PrivateKey, PublicKey, named

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
LARGEST = 1 << 25
"""Upper bound on the bytes: a certificate is at most half of that, and base64 adds a third."""
DAMAGED = Statement("signature.damaged")
WRONG = (ValueError, KeyError, TypeError, AttributeError, binascii.Error, RecursionError)
"""What reading JSON of another form raises."""


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """Something that is stated about some files."""

    subjects: tuple[tuple[str, str], ...]
    """The name and the SHA-256 of each."""
    kind: str
    """What kind of statement it is, as a URI with a version."""
    content: Mapping[str, object]
    """What is stated."""


def signature_path(path: str | Path) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{path}.signature.json")


def write_signature(
    path: str | Path, statement: SignedStatement, key: PrivateKey, *, force: bool
) -> Path:
    """Sign a statement, with the time of the signature, in a file next to the one it is about."""
    target = signature_path(path)
    check_target(target, force)
    signed_at = datetime.now(UTC).isoformat(timespec="seconds")
    dated = replace(statement, content={"signed_at": signed_at, **statement.content})
    write_text(target, seal(dated, key), force)
    return target


def read_signature(
    path: Path, trusted: Sequence[PublicKey], kind: str
) -> tuple[SignedStatement, PublicKey]:
    """Open the signature of one kind and version of statement; any other is refused."""
    statement, signer = unseal(path, trusted)
    name, _, version = statement.kind.rpartition(":")
    expected, _, known = kind.rpartition(":")
    if name != expected:
        raise ReadError(path, Statement("signature.other_kind", kind=statement.kind))
    if version != known:
        other = Statement("signature.other_version", version=version, known=known)
        raise ReadError(path, other)
    return statement, signer


def authenticated_bytes(payload_type: str, payload: bytes) -> bytes:
    """What is signed: type and payload with their lengths, so that no two run into each other."""
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
    """Open an envelope that was signed with one of some keys; any other is refused.

    Returns:
        What was signed, and the trusted key that it was signed with.
    """
    text = read_small(path, LARGEST, Statement("signature.missing"))
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
    signer = next(fitting, None)
    if signer is None:
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
    """Say why no trusted key confirms a signature."""
    if any(key.id in ids for key in trusted):
        return Statement("signature.changed")
    if not ids:
        return Statement("signature.none", trusted=named(trusted))
    others = [f"{id[:16]}…" for id in sorted(ids)]
    return Statement("signature.other_key", ids=others, trusted=named(trusted))
