"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from pathlib import Path

from ..errors import ReadError
from ..logs import count_variants, read_log
from ..release import Release, verify


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    log = read_log(path)
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    return Release(variants=count_variants(log), certificate=verification.certificate)
