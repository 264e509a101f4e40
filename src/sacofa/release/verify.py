"""Check a released file against its certificate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._version import __version__
from ..errors import ReadError
from .certificate import DAMAGED, Certificate
from .format_2 import FORMAT, facts, upgrade
from .pair import LARGEST, certificate_path, mend
from .single_keys import loads


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What comparing a file with its certificate showed."""

    certificate: Certificate
    """What the file was compared with."""
    findings: tuple[str, ...]
    """Everything that is not as it should be, in plain words."""
    signer: str | None = None
    """Whose signature was checked; None: none was."""

    @classmethod
    def of_text(cls, text: str, path: Path, findings: tuple[str, ...], signer: str) -> Verification:
        """What was found out about a file, by a certificate that was signed with it."""
        certificate = Certificate.from_json(text, path)
        return cls(certificate=certificate, findings=findings, signer=signer)

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
        raise ReadError(path, "there is no such file")
    text = _read(beside)
    read = Certificate.from_json(text, beside)
    findings = []
    if not _fits(loads(text), read):
        findings.append("the certificate was changed: its numbers or fields do not fit each other")
    if read.sha256 is None:
        findings.append("the certificate names no file")
    elif _hash(path) != read.sha256:
        findings.append("the file is not the one certified: its SHA-256 is another")
    return Verification(certificate=read, findings=tuple(findings))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        what = "there is no such certificate: each release has one beside it"
        raise ReadError(path, what) from None
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise ReadError(path, "is too large for a certificate")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ReadError(path, DAMAGED) from None


def _fits(content: Mapping[str, Any], read: Certificate) -> bool:
    """Whether the fields of a certificate fit each other.

    Texts are compared as well if this version of sacofa wrote them: other versions have their own.
    """
    stated, expected = upgrade(content), json.loads(read.to_json())
    if content["format"] == FORMAT and read.version == __version__:
        return bool(stated == expected)
    return bool(facts(stated) == facts(expected))


def _hash(path: str | Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise ReadError(path, "there is no such file") from None
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
