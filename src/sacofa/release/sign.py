"""Sign a release: who vouches for a file and its certificate, in a file next to them.

A signature states who claims, never that the claim is true. It covers the exact bytes of both
files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..base.files import check_target, hash_file
from ..errors import ReadError, Statement
from .certificate import Certificate
from .envelope import SignedStatement, read_signature, signature_path, write_signature
from .keys import PrivateKey, PublicKey
from .verify import Verification, verify
from .write import certificate_path

KIND = "urn:sacofa:release:1"
"""What is signed, with a version; another one is refused."""


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
    statement = SignedStatement(
        subjects=((Path(path).name, hash_file(path)), (beside.name, hash_file(beside))),
        kind=KIND,
        content={
            "bytes": Path(path).stat().st_size,
            "certificate": json.loads(beside.read_text(encoding="utf-8")),
        },
    )
    return write_signature(path, statement, key, force=force)


def verify_signed(
    path: str | Path,
    trusted: Sequence[PublicKey],
    *,
    certificate: str | Path | None = None,
    signature: str | Path | None = None,
) -> Verification:
    """Check a release and its signature; each kind of mistake has a finding of its own."""
    beside = certificate_path(path) if certificate is None else Path(certificate)
    place = signature_path(path) if signature is None else Path(signature)
    opened = read_signature(place, trusted, KIND)
    statement, signer = opened.statement, opened.signer.name
    digests = {sha256 for _, sha256 in statement.subjects}
    same_file, same_certificate = hash_file(path) in digests, hash_file(beside) in digests
    if not same_certificate:
        finding = Statement("finding.certificate_changed")
        if not same_file:
            name = statement.subjects[0][0] if statement.subjects else ""
            finding = Statement("finding.other_release", name=name)
        # What the certificate in the folder states does not matter, and it may be anything.
        text = json.dumps(statement.content.get("certificate"))
        return Verification(
            certificate=Certificate.from_json(text, place), findings=(finding,), signer=signer
        )
    checked = verify(path, certificate)
    changed = () if same_file else (_file_changed(path, statement.content.get("bytes")),)
    return Verification(
        certificate=checked.certificate, findings=changed or checked.findings, signer=signer
    )


def _file_changed(path: str | Path, signed: object) -> Statement:
    size = Path(path).stat().st_size
    if isinstance(signed, int) and size < signed:
        return Statement("finding.file_cut", size=size, signed=signed)
    return Statement("finding.file_changed")
