"""Sign a release, or a ledger: who vouches for it, in a file next to it.

A signature states who claims, never that the claim is true. That of a release covers the exact
bytes of the file and its certificate. That of a ledger covers what was spent up to now, which
cannot be changed or forgotten later without notice: the end of the chain, and with it every release
that was asked for and paid, in order; the budgets; what had become of each release that had ended;
and of releases of periods, what pays for each and which cases it took. Later releases may be added:
the signed ones must still be there, as they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ..base.files import check_target, hash_file
from ..errors import ReadError, Statement
from ..ledger import Budget, Entry, Ledger
from ..ledger.storage import refusal
from .certificate import Certificate
from .envelope import DAMAGED, SignedStatement, read_signature, signature_path, write_signature
from .keys import PrivateKey, PublicKey
from .verify import Verification, verify
from .write import certificate_path

KIND = "urn:sacofa:release:1"
"""What is signed of a release, with a version; another one is refused."""
LEDGER_KIND = "urn:sacofa:ledger:2"
"""What is signed of a ledger; version 1 did not cover releases of periods."""
DIGESTS = ("budgets_sha256", "ended_sha256", "claims_sha256")
NO_CHAIN = hashlib.sha256(b"").hexdigest()
"""Stands for the chain of a ledger without releases."""


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
    statement, key = read_signature(place, trusted, KIND)
    signer = key.name
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
    findings = checked.findings
    if not same_file:
        size, signed = Path(path).stat().st_size, statement.content.get("bytes")
        findings = (Statement("finding.file_changed"),)
        if isinstance(signed, int) and size < signed:
            findings = (Statement("finding.file_cut", size=size, signed=signed),)
    return Verification(certificate=checked.certificate, findings=findings, signer=signer)


@dataclass(frozen=True, kw_only=True)
class SignedLedger:
    """What a signature of a ledger confirms."""

    signer: str
    """Whose signature it is."""
    signed_at: str
    """When it was signed, by the clock of whoever signed."""
    releases: int
    """So many releases are as they were signed."""
    since: int
    """So many were added since."""


def sign_ledger(ledger: Ledger, key: PrivateKey, *, force: bool = True) -> Path:
    """Sign a ledger as it stands, and return the path of the signature; damage is not signed."""
    ledger.check()
    entries, budgets = ledger.entries(), ledger.budgets()
    ended = [entry.id for entry in entries if entry.state != "reserved"]
    counted = {"releases": len(entries), "budgets": len(budgets), "ended": ended}
    statement = SignedStatement(
        subjects=((ledger.path.name, entries[-1].chain if entries else NO_CHAIN),),
        kind=LEDGER_KIND,
        content=counted | _digests(ledger, entries, budgets, ended),
    )
    return write_signature(ledger.path, statement, key, force=force)


def verify_ledger(
    ledger: Ledger, trusted: Sequence[PublicKey], signature: str | Path | None = None
) -> SignedLedger:
    """Tell whether what was signed still stands in a ledger; if not, say what does not."""
    place = signature_path(ledger.path) if signature is None else Path(signature)
    statement, signer = read_signature(place, trusted, LEDGER_KIND)
    content = statement.content
    try:
        chain = statement.subjects[0][1]
        releases, budgets = _number(content["releases"]), _number(content["budgets"])
        ended = [int(id) for id in cast(list[int], content["ended"])]
        signed_at = str(content["signed_at"])
        stated = {name: str(content[name]) for name in DIGESTS}
    except (KeyError, TypeError, ValueError, IndexError):
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
    return SignedLedger(signer=signer.name, signed_at=signed_at, releases=releases, since=since)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _digests(
    ledger: Ledger, entries: Sequence[Entry], budgets: Sequence[Budget], ended: Sequence[int]
) -> dict[str, str]:
    """Hashes of what a signature covers next to the chain of the first releases.

    What became of a release that had ended never changes again, and what it took is known by then.
    How many cases there were is secret, and could be tried out in a plain hash. So the mark of the
    key goes in: whoever has that has the ledger itself.
    """
    mark, found = ledger.key_mark(), [entry for entry in entries if entry.id in ended]
    limits = [(b, None if b.epsilon is None else str(b.epsilon)) for b in budgets]
    claims = [claim for claim in ledger.claims().values() if claim.entry <= len(entries)]
    return {
        "budgets_sha256": _hash([b.id, b.dataset, b.at, epsilon] for b, epsilon in limits),
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
