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
from pathlib import Path
from typing import cast

from ..errors import ReadError, Statement
from ..ledger import Budget, Entry, Ledger
from ..ledger.storage import refusal
from .envelope import DAMAGED, SignedStatement, read_signature, signature_path, write_signature
from .keys import PrivateKey, PublicKey

KIND = "urn:sacofa:ledger:2"
"""What is signed, with a version; version 1 did not cover releases of periods."""
DIGESTS = ("budgets_sha256", "ended_sha256", "claims_sha256")
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
    """Sign a ledger as it stands, and return the path of the signature; damage is not signed."""
    ledger.check()
    entries, budgets = ledger.entries(), ledger.budgets()
    ended = [entry.id for entry in entries if entry.state != "reserved"]
    counted = {"releases": len(entries), "budgets": len(budgets), "ended": ended}
    statement = SignedStatement(
        subjects=((ledger.path.name, entries[-1].chain if entries else NO_CHAIN),),
        kind=KIND,
        content=counted | _digests(ledger, entries, budgets, ended),
    )
    return write_signature(ledger.path, statement, key, force=force)


def verify_ledger(
    ledger: Ledger, trusted: Sequence[PublicKey], signature: str | Path | None = None
) -> SignedLedger:
    """Tell whether what was signed still stands in a ledger; if not, say what does not."""
    place = signature_path(ledger.path) if signature is None else Path(signature)
    opened = read_signature(place, trusted, KIND)
    content = opened.statement.content
    try:
        chain = opened.statement.subjects[0][1]
        releases, budgets = _number(content["releases"]), _number(content["budgets"])
        ended = [int(id) for id in cast(list[int], content["ended"])]
        stated = {name: str(content[name]) for name in DIGESTS}
        signed_at = str(content["signed_at"])
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
    return SignedLedger(
        signer=opened.signer.name,
        signed_at=signed_at,
        releases=releases,
        since=len(entries) - releases,
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _digests(
    ledger: Ledger, entries: Sequence[Entry], budgets: Sequence[Budget], ended: Sequence[int]
) -> dict[str, str]:
    """Hashes of what a signature covers next to the chain of releases."""
    return {
        "budgets_sha256": _budgets(budgets),
        "ended_sha256": _ended(entries, ended),
        "claims_sha256": _claims(ledger, len(entries), ended),
    }


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
