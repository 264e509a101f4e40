"""Check a released file against its certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .._version import __version__
from ..base.files import hash_file, read_small
from ..errors import ReadError, Statement
from .certificate import DAMAGED, FORMAT, Certificate, JsonObject, facts, loads, upgrade
from .write import LARGEST, certificate_path, mend


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of comparing a file with its certificate."""

    certificate: Certificate
    """What the file was compared with."""
    findings: tuple[Statement, ...]
    """Everything that is not as it should be."""
    signer: str | None = None
    """Whose signature was checked; None: none was."""

    @property
    def holds(self) -> bool:
        """Whether the file is the one certified, and the certificate is in itself right."""
        return not self.findings


def verify(path: str | Path, certificate: str | Path | None = None) -> Verification:
    """Tell whether a file is the one that a certificate was written for, and whether that adds up.

    Without `certificate` the one beside the file is taken; where a release was killed just before
    that had its name, it gets it now. This shows mistakes and mix-ups. Whoever changes both a file
    and its certificate is found out by a signature only (`verify_signed`).
    """
    if certificate is None and not certificate_path(path).exists():
        mend(path)
    beside = certificate_path(path) if certificate is None else Path(certificate)
    if not Path(path).exists():
        raise ReadError(path, Statement("file.missing"))
    try:
        text = read_small(beside, LARGEST, Statement("certificate.missing")).decode("utf-8")
    except UnicodeDecodeError:
        raise ReadError(beside, DAMAGED) from None
    read, findings = Certificate.from_json(text, beside), []
    if not _fits(loads(text), read):
        findings.append(Statement("finding.fields_do_not_fit"))
    if read.sha256 is None:
        findings.append(Statement("finding.no_file"))
    elif hash_file(path) != read.sha256:
        findings.append(Statement("finding.other_file"))
    return Verification(certificate=read, findings=tuple(findings))


def _fits(content: JsonObject, read: Certificate) -> bool:
    """Whether the fields of a certificate fit; other versions have texts of their own."""
    stated, expected = upgrade(content), json.loads(read.to_json())
    if content["format"] == FORMAT and read.version == __version__:
        return bool(stated == expected)
    return bool(facts(stated) == facts(expected))
