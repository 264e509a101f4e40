"""The verdict on a release for those who are accountable for it, and what they should check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..kernel.statements import Statement
from ..release.anonymize import Release
from ..release.certificate import Certificate
from ..synthesis.verdict import Sureness
from .promise import STRENGTHS, say_number, say_promise, strength_level, subject_of

LEVELS = {Sureness.RELIABLE: 0, Sureness.ROUGH: 2, Sureness.UNRELIABLE: 4}
"""The colour of each word: that of a strength, 0 for the best and 4 for the worst."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing to check before a release is passed on."""

    what: str
    why: str


def sureness_level(certificate: Certificate) -> int | None:
    """The colour of the verdict. None: the mechanism does not judge its releases."""
    return None if certificate.verdict is None else LEVELS[certificate.verdict.sureness]


def say_verdict(release: Release) -> str:
    """What is protected, how strongly, and what is not: one sentence."""
    certificate = release.certificate
    unit, epsilon = certificate.unit, certificate.epsilon
    if not certificate.publishable or epsilon is None:
        return say_promise(certificate)
    level = strength_level(epsilon)
    return str(
        Statement(
            "report.verdict",
            who=Statement("report.every_case")
            if unit.person is None
            else Statement("report.every_person", max_cases=unit.max_cases),
            strength=Statement(f"strength.{STRENGTHS[level]}"),
            epsilon=say_number(epsilon),
            learnt=Statement(f"learnt.{STRENGTHS[level]}", subject=subject_of(certificate)),
            times=Statement("report.artificial" if release.times is None else "report.noisy"),
        )
    )


def list_checks(release: Release) -> tuple[Check, ...]:
    """List what somebody should check before passing a release on."""
    return tuple(
        Check(what=str(Statement(f"check.{name}", **values)), why=str(_why(name, values)))
        for name, values in _checks(release)
    )


def _why(name: str, values: dict[str, object]) -> Statement:
    return Statement(f"check_reason.{name}", **values)


def _checks(release: Release) -> Iterator[tuple[str, dict[str, object]]]:
    """The name of each check, and the values in its wording."""
    certificate = release.certificate
    unit, verdict = certificate.unit, certificate.verdict
    yield "activities", {}
    if release.columns:
        yield "attributes", {"names": tuple(column.key for column in release.columns)}
    if unit.person is None:
        yield "one_case", {}
    else:
        yield "person", {"person": unit.person, "max_cases": unit.max_cases}
    yield "other_releases", {}
    if certificate.sha256 is not None:
        yield "file", {"sha256": certificate.sha256}
    if verdict is not None and verdict.sureness is not Sureness.RELIABLE:
        yield "accuracy", {"verdict": str(verdict)}
    if certificate.missing_activities:
        yield "missing", {"names": tuple(certificate.missing_activities)}
