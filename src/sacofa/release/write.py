"""Write a release: the log and, beside it, its certificate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..base.files import explained, hash_file, sync
from .anonymize import Release
from .certificate import Certificate
from .formats import store_log
from .pair import write_pair

Before = Callable[[Certificate, int], None]
"""Told the certificate and the bytes of the file, when both are written and have no name yet."""


def write_release(
    release: Release, path: str | Path, *, force: bool = False, before: Before | None = None
) -> Certificate:
    """Write a release as a log, in the format of its suffix, and its certificate beside it.

    Both appear whole or not at all, and at no moment is there a certificate beside a file that it
    does not fit. It carries the hash of the log.
    """
    with write_pair(path, force) as (log_part, certificate_part):
        with explained(path, log_part):
            store_log(release.log, log_part)
            sync(log_part)
        certificate = release.certificate.of_file(hash_file(log_part))
        certificate_part.write_text(certificate.to_json(), encoding="utf-8")
        sync(certificate_part)
        if before is not None:
            before(certificate, log_part.stat().st_size)
    return certificate
