"""Sign a release: who vouches for a file and its certificate, in a file beside them.

A signature says who claims, never that the claim is true. It covers the exact bytes of both files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ..base.files import check_target, write_whole
from ..errors import ReadError
from .envelope import Statement, seal, unseal
from .keys import PrivateKey, PublicKey
from .pair import certificate_path
from .verify import Verification, verify

KIND = "urn:sacofa:release"
VERSION = 1
"""The version of what is said about a release; another one is refused."""


def signature_path(path: str | Path) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{path}.signature.json")


def sign(
    path: str | Path,
    key: PrivateKey,
    *,
    certificate: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Sign a release, and give the path of its signature; what does not hold is not signed."""
    target = signature_path(path)
    check_target(target, force)
    beside = certificate_path(path) if certificate is None else Path(certificate)
    checked = verify(path, certificate)
    if not checked.holds:
        raise ReadError(path, f"cannot be signed: {checked.findings[0]}")
    if not checked.certificate.publishable:
        raise ReadError(path, "cannot be signed: its noise was drawn from a seed")
    statement = Statement(
        subjects=((Path(path).name, _hash(path)), (beside.name, _hash(beside))),
        kind=f"{KIND}:{VERSION}",
        content={
            "signed_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "bytes": Path(path).stat().st_size,
            "certificate": json.loads(beside.read_text(encoding="utf-8")),
        },
    )
    with write_whole(target, force) as part:
        part.write_text(seal(statement, key), encoding="utf-8")
    return target


def verify_signed(
    path: str | Path,
    trusted: Sequence[PublicKey],
    *,
    certificate: str | Path | None = None,
    signature: str | Path | None = None,
) -> Verification:
    """Check a release and its signature; each kind of thing that is wrong has a line of its own."""
    beside = certificate_path(path) if certificate is None else Path(certificate)
    place = signature_path(path) if signature is None else Path(signature)
    opened = unseal(place, trusted)
    statement = opened.statement
    kind, _, version = statement.kind.rpartition(":")
    if kind != KIND:
        raise ReadError(place, f"signs something else than a release ({statement.kind})")
    if version != str(VERSION):
        raise ReadError(
            place,
            f"signed by another version of sacofa (statement {version}, known is {VERSION}): "
            "check it with that version",
        )
    digests = {sha256 for _, sha256 in statement.subjects}
    try:
        same_file, same_certificate = _hash(path) in digests, _hash(beside) in digests
    except OSError as error:
        raise ReadError(error.filename, f"cannot be read: {error.strerror}") from None
    findings = []
    size, signed = Path(path).stat().st_size, statement.content.get("bytes")
    name = statement.subjects[0][0] if statement.subjects else ""
    if not same_file and not same_certificate:
        findings.append(f'the signature is of another release ("{name}")')
    elif not same_file and isinstance(signed, int) and size < signed:
        findings.append(f"the file was cut: {size:,} of the {signed:,} bytes that were signed")
    elif not same_file:
        findings.append("the file was changed after it was signed")
    elif not same_certificate:
        findings.append("the certificate was changed after it was signed")
    if not same_certificate:
        # What it says does not matter, and it may be anything.
        text = json.dumps(statement.content.get("certificate"))
        return Verification.of_text(text, place, tuple(findings), signer=opened.signer.name)
    checked = verify(path, certificate)
    more = checked.findings if same_file else ()
    return Verification(
        certificate=checked.certificate, findings=(*findings, *more), signer=opened.signer.name
    )


def _hash(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
