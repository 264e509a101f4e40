"""Check a released file against its certificate, and read both back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import cast

from .._version import __version__
from ..base.batches import join_variants
from ..base.files import hash_file, read_small
from ..errors import ReadError, SettingError, Statement
from ..kernel.attributes import Attribute, Kind
from ..kernel.variants import VariantCounts
from ..mechanisms.certified import Certified
from ..mechanisms.protocol import Mechanism
from .anonymize import Release
from .certificate import (
    DAMAGED,
    FORMAT_2,
    Certificate,
    JsonObject,
    entries_of,
    facts,
    loads,
    upgrade,
)
from .formats import format_of, read_log
from .write import MAX_CERTIFICATE_BYTES, certificate_path, mend


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of comparing a file with its certificate."""

    certificate: Certificate
    """The certificate that the file was compared with."""
    findings: tuple[Statement, ...]
    """Every discrepancy that was found."""
    signer: str | None = None
    """The key id of the verified signature; None if none was verified."""

    @property
    def holds(self) -> bool:
        """Whether the file is the certified one and its certificate is consistent."""
        return not self.findings


def verify(path: str | Path, certificate: str | Path | None = None) -> Verification:
    """Verify that a file is the one that its certificate describes, and that it is consistent.

    Without `certificate`, the one next to the file is used, and restored first if an interrupted
    run did not name it. This detects mistakes and mix-ups. Only a signature detects that both a
    file and its certificate were changed (`verify_signed`).
    """
    if certificate is None and not certificate_path(path).exists():
        mend(path)
    beside = certificate_path(path) if certificate is None else Path(certificate)
    if not Path(path).exists():
        raise ReadError(path, Statement("file.missing"))
    try:
        text = read_small(beside, MAX_CERTIFICATE_BYTES, Statement("certificate.missing")).decode(
            "utf-8"
        )
    except UnicodeDecodeError:
        raise ReadError(beside, DAMAGED) from None
    read, findings = Certificate.from_json(text, beside), []
    # Other versions have texts of their own.
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
    same_words = content["format"] != FORMAT_2 and read.version == __version__
    return bool(stated == expected if same_words else facts(stated) == facts(expected))


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    certificate = verification.certificate
    settings, epsilon = certificate.settings, certificate.epsilon
    kinds = {str(e["name"]): cast(Kind, e["type"]) for e in entries_of(settings, "attributes")}
    log = read_log(path, kinds)
    log = replace(log, variants=replace(log.variants, unit=certificate.unit))
    of_core = certificate.mechanism == Certified.name
    if not format_of(path).holds_events and of_core and epsilon is not None:
        # A file without events does not mark the orderly core. It follows from the released log and
        # the ε of the flow, which the certificate states.
        names = ("time_share", "attribute_share")
        shares: dict[str, object] = {
            name: str(settings[name]) for name in names if name in settings
        }
        timed = shares.get("time_share") != "0"
        if not timed:
            del shares["time_share"]
        attributes = tuple(Attribute(name=name) for name in kinds)
        shares["delta"] = certificate.delta
        mechanism = Certified(epsilon=epsilon, time=timed, attributes=attributes, **shares)  # type: ignore[arg-type]
        log = replace(log, core=mechanism.mark_core(log.variants))
    return Release(log=log, certificate=certificate)


def start_from(mechanism: Mechanism, earlier: Sequence[str | Path]) -> Mechanism:
    """The same mechanism, with candidates from earlier releases; they must be publishable."""
    if not earlier:
        return mechanism
    if not (mechanism.capabilities.earlier and is_dataclass(mechanism)):
        raise SettingError(
            "earlier", len(earlier), Statement("must.be.left_out_for", mechanism=mechanism.name)
        )
    return replace(mechanism, earlier=read_earlier(earlier))


def read_earlier(paths: Sequence[str | Path]) -> VariantCounts:
    """The variants of earlier releases, together."""
    found = []
    for path in paths:
        release = read_release(path)
        if not release.certificate.publishable or release.certificate.epsilon is None:
            raise ReadError(path, Statement("earlier.not_public"))
        found.append(release.variants)
    return join_variants(found)
