"""How far noise moves what a report shows: from the certificate and released values alone.

Free of charge: a certificate says how far figures may be off, and what each answer cost, and so how
much noise it got.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, sqrt

from ..mechanisms.protocol import Within
from ..privacy.accounting import Spend
from ..release.anonymize import Release

SURE = log(20)
"""Laplace noise stays within so many of its scales in 95 of 100 runs."""
NORMAL = 1.96
"""The same for a sum of many, in standard deviations; that of Laplace noise is √2 scales."""


def find_within(release: Release) -> Within:
    """How far each kind of figure may be off: what the certificate says, or its prices do."""
    certificate = release.certificate
    if certificate.epsilon is None or not release.variants.cases:
        return Within()
    if certificate.within is not None:
        return certificate.within
    return _by_level(release)


def share_within(release: Release, what: str) -> float | None:
    """How far the share of cases in a cell of one query may be off; None where it was not asked."""
    certificate, cases = release.certificate, release.variants.cases
    prices = [
        float(spend.epsilon / certificate.unit.max_cases)
        for spend in certificate.spent
        if isinstance(spend, Spend) and spend.what == what
    ]
    return min(SURE / prices[-1] / cases, 1.0) if prices and cases else None


def _by_level(release: Release) -> Within:
    """The paper's mechanisms count each prefix of a level once, with one price for each level."""
    price = release.certificate.settings.get("level_epsilon")
    if price is None:
        return Within()
    scale = release.certificate.unit.max_cases / float(Fraction(str(price)))
    number = len(release.variants)
    return Within(
        variant=ceil(SURE * scale),
        cases=ceil(max(SURE, NORMAL * sqrt(2 * number)) * scale),
    )
