"""Write a release: the log and, beside it, its certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from ..files import write_whole
from ..logs.write import write_variants
from .anonymize import Release
from .certificate import Certificate


def certificate_path(path: str | Path) -> Path:
    """Where the certificate of a released file lies."""
    return Path(f"{path}.certificate.json")


def write_release(
    release: Release,
    path: str | Path,
    *,
    force: bool = False,
    before: Callable[[Certificate], None] | None = None,
) -> Certificate:
    """Write a release as a log, in the format of its suffix, and its certificate beside it.

    Both appear whole or not at all; the certificate first, so that no released log is ever seen
    without one. It carries the hash of the log. `before` is told the certificate before either
    has its name.
    """
    with write_whole(path, force) as log_part:
        write_variants(release.variants, log_part, times=release.times)
        with log_part.open("rb") as written:
            sha256 = hashlib.file_digest(written, "sha256").hexdigest()
        certificate = release.certificate.of_file(sha256)
        if before is not None:
            before(certificate)
        with write_whole(certificate_path(path), force) as certificate_part:
            certificate_part.write_text(certificate.to_json(), encoding="utf-8")
    return certificate
