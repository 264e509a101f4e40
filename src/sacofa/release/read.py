"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import ReadError
from ..logs import count_variants, open_log
from .anonymize import Release
from .verify import verify


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    # Events were written in the order of their case: times are only read where that is asked.
    counted = Path(path).name.lower().endswith(".json")
    log = open_log(path) if counted else open_log(path, order="file")
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    certificate = verification.certificate
    return Release(
        variants=replace(count_variants(log), unit=certificate.unit), certificate=certificate
    )
