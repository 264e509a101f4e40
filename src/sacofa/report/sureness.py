"""The margins of a release, as its certificate states them."""

from __future__ import annotations

from ..release.anonymize import Release
from ..synthesis.margins import Margins


def margins_of(release: Release) -> Margins:
    """The margins of all figures; none where the certificate does not promise or state any."""
    certificate = release.certificate
    if certificate.epsilon is None or certificate.margins is None:
        return Margins()
    return certificate.margins


def variant_margin(
    margins: Margins, names: tuple[str, ...], finished: bool, count: int
) -> int | None:
    """The margin of the cases of a variant; None where it is not known."""
    return None if margins.variants is None else margins.variants.of((names, finished), count)
