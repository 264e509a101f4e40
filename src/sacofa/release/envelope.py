"""A signed statement in a DSSE envelope, as the tools of in-toto and sigstore read it.

The statement (in-toto, version 1) names what it speaks of by SHA-256 and says something about it.
What is signed are the exact bytes of the statement and its type, so nothing needs to be parsed
before the signature was checked.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ReadError
from .keys import PrivateKey, PublicKey, named
from .single_keys import loads

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
LARGEST = 1 << 25
"""No signature is larger: a certificate is at most half of that, and base64 adds a third."""
DAMAGED = "not a signature, or damaged: sign again"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that is said about some files."""

    subjects: tuple[tuple[str, str], ...]
    """The name and the SHA-256 of each."""
    kind: str
    """What kind of thing is said, as a URI with a version."""
    content: dict[str, Any]
    """What is said."""

    def to_bytes(self) -> bytes:
        """Write as JSON."""
        return json.dumps(
            {
                "_type": STATEMENT_TYPE,
                "subject": [
                    {"name": name, "digest": {"sha256": sha256}} for name, sha256 in self.subjects
                ],
                "predicateType": self.kind,
                "predicate": self.content,
            },
            ensure_ascii=False,
        ).encode()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A statement whose signature was checked."""

    statement: Statement
    """What was signed."""
    signer: PublicKey
    """The trusted key that it was signed with."""


def authenticated_bytes(payload_type: str, payload: bytes) -> bytes:
    """What is signed: type and payload with their lengths, so that no two run into each other."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(statement: Statement, key: PrivateKey) -> str:
    """Put a statement into a signed envelope."""
    payload = statement.to_bytes()
    signature = key.sign(authenticated_bytes(PAYLOAD_TYPE, payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key.public.id, "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(envelope, indent=2) + "\n"


def unseal(path: Path, trusted: Sequence[PublicKey]) -> Opened:
    """Open an envelope that was signed with one of some keys; any other is refused."""
    try:
        envelope = loads(_read(path))
        payload = base64.b64decode(envelope["payload"], validate=True)
        kind = str(envelope["payloadType"])
        signatures = [
            (str(entry.get("keyid", "")), base64.b64decode(entry["sig"], validate=True))
            for entry in envelope["signatures"]
        ]
    except ReadError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, RecursionError):
        raise ReadError(path, DAMAGED) from None
    message = authenticated_bytes(kind, payload)
    # The id is a hint; whether a key fits, the signature tells.
    signer = next(
        (key for key in trusted for _, found in signatures if key.confirms(found, message)), None
    )
    if signer is None:
        ids = {id for id, _ in signatures}
        if any(key.id in ids for key in trusted):
            raise ReadError(path, "the signature does not fit what was signed: it was changed")
        others = ", ".join(f"{id[:16]}…" for id in sorted(ids)) or "nobody"
        raise ReadError(path, f"signed with another key ({others}), not by {named(trusted)}")
    return Opened(statement=_statement(path, kind, payload), signer=signer)


def _statement(path: Path, kind: str, payload: bytes) -> Statement:
    """Read a statement that is known to be signed."""
    try:
        content = loads(payload)
        if kind != PAYLOAD_TYPE or content["_type"] != STATEMENT_TYPE:
            raise ReadError(path, f"signed, but no statement of a kind known here ({kind})")
        return Statement(
            subjects=tuple(
                (str(entry.get("name", "")), str(entry["digest"]["sha256"]))
                for entry in content["subject"]
            ),
            kind=str(content["predicateType"]),
            content=dict(content["predicate"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ReadError(path, DAMAGED) from None


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise ReadError(path, "there is no signature: sign it with sacofa sign")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise ReadError(path, "is too large for a signature")
    return content.decode("utf-8")
