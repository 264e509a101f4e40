"""Read releases back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import cast

from ..base.batches import join_variants
from ..errors import ReadError, SettingError, Statement
from ..kernel.attributes import Attribute, Kind
from ..kernel.variants import VariantCounts
from ..mechanisms.certified import Certified
from ..mechanisms.protocol import Mechanism
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
    attributes = _attributes(certificate)
    log = read_log(path, attributes)
    log = replace(log, variants=replace(log.variants, unit=certificate.unit))
    epsilon, of_core = certificate.epsilon, certificate.mechanism == Certified.name
    if not format_of(path).holds_events and of_core and epsilon is not None:
        # A file without events does not mark the orderly core: it follows from what was released.
        mechanism = _as_released(certificate.settings, epsilon, tuple(attributes))
        log = replace(log, core=mechanism.mark_core(log.variants))
    return Release(log=log, certificate=certificate)


def _attributes(certificate: Certificate) -> dict[str, Kind]:
    """The attributes that a certificate names, with their types."""
    listed = certificate.settings.get("attributes", ())
    entries = listed if isinstance(listed, list | tuple) else ()
    return {str(e["name"]): cast(Kind, e["type"]) for e in entries if isinstance(e, Mapping)}


def _as_released(
    said: Mapping[str, object], epsilon: Fraction, attributes: tuple[str, ...]
) -> Certified:
    """The mechanism, with ε divided as the certificate says: what the flow got marks the core."""
    shares = {name: str(said[name]) for name in ("time_share", "attribute_share") if name in said}
    timed = shares.get("time_share") != "0"
    if not timed:
        del shares["time_share"]
    names = tuple(Attribute(name=name) for name in attributes)
    return Certified(epsilon=epsilon, time=timed, attributes=names, **shares)  # type: ignore[arg-type]


def start_from(mechanism: Mechanism, earlier: Sequence[str | Path]) -> Mechanism:
    """The same mechanism, with candidates from earlier releases; they must be publishable."""
    if not earlier:
        return mechanism
    if not (mechanism.capabilities.earlier and is_dataclass(mechanism)):
        raise SettingError(
            "earlier", len(earlier), Statement("must.be.left_out_for", mechanism=mechanism.name)
        )
    return replace(mechanism, earlier=read_earlier(earlier))


def read_earlier(paths: Sequence[str | Path]) -> VariantCounts:
    """The variants of earlier releases, together."""
    found = []
    for path in paths:
        release = read_release(path)
        if not release.certificate.publishable or release.certificate.epsilon is None:
            raise ReadError(path, Statement("earlier.not_public"))
        found.append(release.variants)
    return join_variants(found)
