"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError
from ..kernel.attributes import Attribute, Kind
from ..kernel.variants import VariantCounts
from ..mechanisms.certified import Certified
from .anonymize import Release
from .certificate import Certificate
from .formats import format_of, read_log
from .verify import verify


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    certificate = verification.certificate
    log = read_log(path, _attributes(certificate))
    log = replace(log, variants=replace(log.variants, unit=certificate.unit))
    if not format_of(path).holds_events:
        log = replace(log, core=_core(log.variants, certificate))
    return Release(log=log, certificate=certificate)


def _attributes(certificate: Certificate) -> dict[str, Kind]:
    """The attributes that a certificate names, with their types."""
    listed = certificate.settings.get("attributes", ())
    if not isinstance(listed, list | tuple):
        return {}
    return {
        str(entry["name"]): cast(Kind, entry["type"])
        for entry in listed
        if isinstance(entry, Mapping)
    }


def _core(variants: VariantCounts, certificate: Certificate) -> NDArray[np.bool_] | None:
    """Mark the orderly core for a file that does not hold it: it follows from what was released."""
    if certificate.mechanism != Certified.name or certificate.epsilon is None:
        return None
    return _as_released(certificate, certificate.epsilon).mark_core(variants)


def _as_released(certificate: Certificate, epsilon: Fraction) -> Certified:
    """The mechanism, with ε divided as the certificate says: what the flow got marks the core."""
    said = certificate.settings
    shares = {name: str(said[name]) for name in ("time_share", "attribute_share") if name in said}
    timed = shares.get("time_share") != "0"
    if not timed:
        del shares["time_share"]
    names = [Attribute(name=name) for name in _attributes(certificate)]
    return Certified(epsilon=epsilon, time=timed, attributes=tuple(names), **shares)  # type: ignore[arg-type]
