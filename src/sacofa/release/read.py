"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError
from ..logs import count_variants, open_log
from ..mechanisms.certified import Certified, mark_core
from ..variants import VariantCounts
from .anonymize import Release
from .certificate import Certificate
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
    variants = replace(count_variants(log), unit=certificate.unit)
    return Release(variants=variants, certificate=certificate, core=_core(variants, certificate))


def _core(variants: VariantCounts, certificate: Certificate) -> NDArray[np.bool_] | None:
    """Mark the orderly core: it follows from what was released, and is worked out again."""
    if certificate.mechanism != Certified.name or certificate.epsilon is None:
        return None
    return mark_core(variants, Certified(epsilon=certificate.epsilon))
