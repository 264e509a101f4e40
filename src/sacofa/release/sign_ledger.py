"""Sign a ledger: what was spent up to now cannot be changed or forgotten later without notice.

What is signed is the end of the chain, and with it every release that was asked for and paid, in
order; the budgets; what had become of each release that had ended; and of releases of periods, what
pays for each and which cases it took. Later releases may be added: the signed ones must still be
there, as they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..base.files import check_target, write_whole
from ..errors import LedgerError, ReadError
from ..ledger import Budget, Entry, Ledger
from .envelope import Statement, seal, unseal
from .keys import PrivateKey, PublicKey
from .sign import signature_path

KIND = "urn:sacofa:ledger"
VERSION = 2
"""The version of what is said about a ledger; version 1 said nothing of releases of periods."""
NO_CHAIN = hashlib.sha256(b"").hexdigest()
"""Stands for the chain of a ledger without releases."""


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
    """Sign a ledger as it stands, and give the path of the signature; damage is not signed."""
    target = signature_path(ledger.path)
    check_target(target, force)
    ledger.check()
    entries, budgets = ledger.entries(), ledger.budgets()
    ended = [entry.id for entry in entries if entry.state != "reserved"]
    statement = Statement(
        subjects=((ledger.path.name, entries[-1].chain if entries else NO_CHAIN),),
        kind=f"{KIND}:{VERSION}",
        content={
            "signed_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "releases": len(entries),
            "budgets": len(budgets),
            "budgets_sha256": _budgets(budgets),
            "ended": ended,
            "ended_sha256": _ended(entries, ended),
            "claims_sha256": _claims(ledger, len(entries), ended),
        },
    )
    with write_whole(target, force) as part:
        part.write_text(seal(statement, key), encoding="utf-8")
    return target


def verify_ledger(
    ledger: Ledger, trusted: Sequence[PublicKey], signature: str | Path | None = None
) -> SignedLedger:
    """Tell whether what was signed still stands in a ledger; if not, say what does not."""
    place = signature_path(ledger.path) if signature is None else Path(signature)
    opened = unseal(place, trusted)
    kind, _, version = opened.statement.kind.rpartition(":")
    if kind != KIND:
        raise ReadError(place, f"signs something else than a ledger ({opened.statement.kind})")
    if version != str(VERSION):
        raise ReadError(
            place,
            f"signed by another version of sacofa (statement {version}, known is {VERSION}): sign "
            "again",
        )
    content = opened.statement.content
    try:
        chain = opened.statement.subjects[0][1]
        releases, budgets = int(content["releases"]), int(content["budgets"])
        ended = [int(id) for id in content["ended"]]
        stated = tuple(str(content[f"{what}_sha256"]) for what in ("budgets", "ended", "claims"))
        signed_at = str(content["signed_at"])
    except (KeyError, TypeError, ValueError, IndexError):
        raise ReadError(place, "not a signature, or damaged: sign again") from None
    ledger.check()
    entries, limits = ledger.entries(), ledger.budgets()
    if len(entries) < releases or len(limits) < budgets:
        raise LedgerError(
            f"{ledger.path}: {releases} releases and {budgets} budgets were signed, and it holds "
            f"{len(entries)} and {len(limits)}: this is an older copy"
        )
    now = entries[releases - 1].chain if releases else NO_CHAIN
    if now != chain:
        raise LedgerError(f"{ledger.path}: releases that were signed are others now")
    found = (
        _budgets(limits[:budgets]),
        _ended(entries, ended),
        _claims(ledger, releases, ended),
    )
    if stated != found:
        raise LedgerError(
            f"{ledger.path}: budgets, what became of releases, or which cases they took was "
            "changed after it was signed"
        )
    return SignedLedger(
        signer=opened.signer.name,
        signed_at=signed_at,
        releases=releases,
        since=len(entries) - releases,
    )


def _budgets(budgets: Sequence[Budget]) -> str:
    rows = [[b.id, b.dataset, b.at, None if b.epsilon is None else str(b.epsilon)] for b in budgets]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _ended(entries: Sequence[Entry], ended: Sequence[int]) -> str:
    """A hash of what became of some releases: that never changes again."""
    known = {entry.id: entry for entry in entries}
    found = [known[id] for id in ended if id in known]
    rows = [[e.id, e.state, e.file, e.size, e.sha256, e.certificate] for e in found]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _claims(ledger: Ledger, releases: int, ended: Sequence[int]) -> str:
    """A hash of what pays for the first releases of periods, and of the cases that each took.

    How many cases there were is secret, and could be tried out in a plain hash. So the mark of the
    key goes in: whoever has that has the ledger itself. What a release took is known when it ended.
    """
    mark = ledger.key_mark()
    rows = [
        [c.entry, c.period, c.charged, *((mark, c.number, c.digest) if c.entry in ended else ())]
        for c in ledger.claims().values()
        if c.entry <= releases
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
