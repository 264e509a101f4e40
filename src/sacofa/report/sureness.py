"""How far noise moves what a report shows: from the certificate and released values alone.

Free of charge: a certificate says what each answer cost, and so how much noise it got.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, sqrt

from ..privacy.accounting import Spend
from ..queries.flow import CaseCount, StepVotes
from ..release.anonymize import Release

SURE = log(20)
"""Laplace noise stays within so many of its scales in 95 of 100 runs."""
NORMAL = 1.96
"""The same for a sum of many, in standard deviations; that of Laplace noise is √2 scales."""
FINAL = "(final)"
"""The end of the name of the vote that released counts are made of."""
FITTED = 2.0
"""Counts of variants are fitted to several answers at once; against the cases nearest to them they
are off by up to 1.6 times the noise of the last vote (hospital, Receipt; 95 of 100)."""
STEPS_EACH = 3
"""So many steps lead to an activity, roughly: its events have the noise of all of them."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """In 95 of 100 runs a value of each kind is no further off; None: not known."""

    cases: int | None = None
    variant: int | None = None
    step: int | None = None
    activity: int | None = None


def find_within(release: Release) -> Within:
    """Work out how far each kind of value may be off."""
    certificate, variants = release.certificate, release.variants
    if certificate.epsilon is None or not variants.cases:
        return Within()
    prices: dict[str, list[float]] = {}
    for spend in certificate.spent:
        if isinstance(spend, Spend):
            # A person with several cases needs as many times the noise.
            price = float(spend.epsilon / certificate.unit.max_cases)
            prices.setdefault(spend.what, []).append(price)
    final = next((price[-1] for what, price in prices.items() if what.endswith(FINAL)), None)
    if final is None or StepVotes.what not in prices:
        return _by_level(release)
    sizes = prices.get(CaseCount.what, [])
    # A case spreads one vote over its steps: so much noise of votes is so many steps.
    step = SURE / prices[StepVotes.what][-1] * (variants.events / variants.cases + 1)
    return Within(
        cases=ceil(_combined(sizes)) if sizes else None,
        variant=ceil(FITTED * SURE / final),
        step=ceil(step),
        activity=ceil(step * sqrt(STEPS_EACH)),
    )


def share_within(release: Release, what: str) -> float | None:
    """How far the share of cases in a cell of one query may be off; None where it was not asked."""
    certificate, cases = release.certificate, release.variants.cases
    prices = [
        float(spend.epsilon / certificate.unit.max_cases)
        for spend in certificate.spent
        if isinstance(spend, Spend) and spend.what == what
    ]
    return SURE / prices[-1] / cases if prices and cases else None


def _combined(prices: list[float]) -> float:
    """Answers to the same question, weighed by how exact they are."""
    return SURE / sqrt(sum(price**2 for price in prices))


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
