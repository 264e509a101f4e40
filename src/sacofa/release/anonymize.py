"""The only door out: a secret log goes in, a release comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from ..errors import SettingError
from ..mechanisms.protocol import Mechanism, Progress
from ..privacy.bits import Bits, SeededBits, SystemBits
from ..privacy.noise import Noise
from ..variants import Scattered, VariantCounts
from .certificate import Certificate, certify


@dataclass(frozen=True, kw_only=True)
class Release:
    """What may be published: private variants with their certificate."""

    variants: VariantCounts
    """Every released variant with its noisy count."""
    certificate: Certificate
    """What the release promises."""


def anonymize(
    variants: VariantCounts | Scattered,
    mechanism: Mechanism,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Release the variants of a log through a mechanism.

    Declared `activities` are public, and events of any other are dropped; without them, those of
    the log are taken and the certificate lists that as an assumption. A `seed` makes a run
    repeatable, for tests and teaching: its release must not be published. Variants that lie in
    parts on a cluster are looked at there, by mechanisms that can (`works_in_parts`).
    """
    if not isinstance(variants, VariantCounts) and not works_in_parts(mechanism):
        raise SettingError("mechanism", mechanism.name, "certified, where variants lie in parts")
    bits: Bits = SystemBits() if seed is None else SeededBits(seed)
    certificate = certify_request(mechanism, activities=activities, seed=seed)
    # One public order, whatever the order in which the log named them.
    secret = variants.over(sorted(variants.activities if activities is None else activities))
    outcome = mechanism.run(cast(VariantCounts, secret), Noise(bits), progress)
    return Release(
        variants=outcome.variants, certificate=replace(certificate, notes=tuple(outcome.notes))
    )


def works_in_parts(mechanism: Mechanism) -> bool:
    """Whether a mechanism can look at variants that lie in parts on a cluster."""
    return bool(getattr(mechanism, "works_in_parts", False))


def certify_request(
    mechanism: Mechanism, *, activities: Sequence[str] | None = None, seed: int | None = None
) -> Certificate:
    """Make the certificate of a release that is still to come; no log is needed for it."""
    return certify(mechanism, (_say_activities(activities),), reproducible=seed is not None)


def _say_activities(activities: Sequence[str] | None) -> str:
    if activities is None:
        return "The names of the activities are public; they were taken from the log."
    if not activities or len(set(activities)) != len(activities):
        raise SettingError("activities", f"{len(activities)} names", "one or more different names")
    return f"The names of the activities are public: {len(activities)} were declared."
