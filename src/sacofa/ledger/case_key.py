"""The key that hashes case ids, in a file beside the ledger that its owner alone may read.

With it, whoever has the ledger could try out ids; without it, hashes tell nothing about them. While
a release of a period runs, it holds a lock on this file: releases of periods take turns, so that no
case is taken by two at once. A process that dies lets go of it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..base.files import write_secret
from ..base.temporary import lock_file
from ..errors import OutputError, Statement
from .storage import refusal

KEY_BYTES = 32
HASH_BYTES = 16
"""Two cases of one ledger share a hash less often than once in 2^60 ledgers of a million."""


def key_path(ledger: Path) -> Path:
    """Where the key of a ledger lies."""
    # By whatever name or link the ledger is reached, it is one file.
    return Path(f"{os.path.realpath(ledger)}.key")


@dataclass(frozen=True)
class CaseKey:
    """Hashes case ids, so that only the ledger recognizes them."""

    secret: bytes = field(repr=False)
    """The key."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key."""
        return self._hash("fingerprint", "").hex()

    def series(self, dataset: str) -> str:
        """A public name of all releases of periods of a dataset in this ledger: no case in two."""
        return self._hash("series", dataset).hex()

    def case(self, dataset: str, case_id: str) -> bytes:
        """The keyed hash of a case that its id alone identifies."""
        return self._hash("case", dataset, case_id)

    def case_of_person(self, dataset: str, case_id: str, person: str | None) -> bytes:
        """The keyed hash of a case of a person: of others, the same id means another case."""
        whose = () if person is None else (person,)
        return self._hash("case of a person", dataset, case_id, *whose)

    def id_of_persons(self, dataset: str, case_id: str) -> bytes:
        """The keyed hash of a case id of a log with persons, for any person."""
        return self._hash("id of persons", dataset, case_id)

    def _hash(self, *parts: str) -> bytes:
        # Each part with its length: no two lists of parts run into one text.
        texts = [part.encode("utf-8", "surrogatepass") for part in parts]
        text = b"".join(b"%d:%b" % (len(part), part) for part in texts)
        return hmac.digest(self.secret, text, hashlib.sha256)[:HASH_BYTES]


def make_key(ledger: Path) -> None:
    """Make the key of a ledger, whole and durable, unless there is one."""
    path = key_path(ledger)
    if path.exists():
        return
    try:
        write_secret(path, f"{secrets.token_hex(KEY_BYTES)}\n".encode())
    except OutputError as error:
        # Of several that make one at once, one wins.
        if not path.exists():
            reason = getattr(error.__cause__, "strerror", None) or error.what
            raise refusal(path, Statement("ledger.key.unmakable", reason=reason)) from None


@contextmanager
def holding_key(ledger: Path) -> Iterator[CaseKey]:
    """Read the key of a ledger, and keep other releases of periods waiting meanwhile."""
    path = key_path(ledger)
    try:
        place = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise refusal(path, Statement("ledger.key.missing")) from None
    except OSError as error:
        raise refusal(path, Statement("file.unreadable", why=error.strerror)) from None
    with os.fdopen(place, "rb") as file:
        now = os.fstat(place)
        if not stat.S_ISREG(now.st_mode):
            raise refusal(path, Statement("ledger.key.not_regular"))
        if os.name == "posix" and stat.S_IMODE(now.st_mode) & 0o077:
            raise refusal(path, Statement("key.open_to_others", path=str(path)))
        lock_file(place, wait=True)
        text = file.read(4 * KEY_BYTES)
        try:
            secret = bytes.fromhex(text.decode("ascii").strip())
        except ValueError:
            secret = b""
        if len(secret) != KEY_BYTES:
            raise refusal(path, Statement("ledger.key.damaged"))
        yield CaseKey(secret)
