"""The verdict on a release for those who have to answer for it, and what they should check."""

from __future__ import annotations

from dataclasses import dataclass

from ..release.anonymize import Release
from ..release.certificate import Certificate
from ..synthesis.verdict import Sureness
from .promise import STRENGTHS, say_number, say_promise, strength_level, subject_of

LEARNT = (
    "hardly anything can be learnt from it about any one {subject}",
    "little can be learnt from it about any one {subject}",
    "something can be learnt from it about a single {subject}, but no certainty",
    "much can be learnt from it about a single {subject}",
    "it hardly limits what can be learnt about a single {subject}",
)
"""What each strength means, in the order of `STRENGTHS`."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing to check before a release is passed on."""

    what: str
    why: str


LEVELS = {Sureness.RELIABLE: 0, Sureness.ROUGH: 2, Sureness.UNRELIABLE: 4}
"""The colour of each word: that of a strength, 0 for the best and 4 for the worst."""


@dataclass(frozen=True, kw_only=True)
class SayableVerdict:
    """The word of a verdict with its colour, and the rest of its sentence."""

    word: str
    level: int
    why: str


def say_sureness(certificate: Certificate) -> SayableVerdict | None:
    """What the release is good for; None where a mechanism does not judge its releases."""
    verdict = certificate.verdict
    if verdict is None:
        return None
    return SayableVerdict(
        word=verdict.sureness.value,
        level=LEVELS[verdict.sureness],
        why=str(verdict.explanation),
    )


def say_verdict(release: Release) -> str:
    """What is protected, how strongly, and what is not: one sentence."""
    certificate = release.certificate
    epsilon = certificate.epsilon
    if not certificate.publishable or epsilon is None:
        return say_promise(certificate)
    level = strength_level(epsilon)
    return (
        f"{_who(certificate)} is protected, with a strength that counts as {STRENGTHS[level]} "
        f"(ε = {say_number(epsilon)}): {LEARNT[level].format(subject=subject_of(certificate))}; "
        f"the names of the activities are not protected, and {_times(release)}."
    )


def list_checks(release: Release) -> tuple[Check, ...]:
    """What somebody should check who passes this release on."""
    certificate = release.certificate
    found = [
        Check(
            what="Do the names of activities give anybody away?",
            why="They are shown as they are. They are listed below.",
        )
    ]
    if release.columns:
        names = ", ".join(column.key for column in release.columns)
        found.append(
            Check(
                what="Do the values of attributes identify anybody?",
                why=f"They are published as they are. The attributes are {names}.",
            )
        )
    if certificate.unit.person is None:
        found.append(
            Check(
                what="Does each person have one case only?",
                why="A case is protected, not a person: who has three is protected three times "
                "less. If people have several, ask for a release that protects persons.",
            )
        )
    else:
        found.append(
            Check(
                what=f"Does the column {certificate.unit.person} say whose case it is?",
                why=f"Up to {certificate.unit.max_cases} cases of each person count; others were "
                "left out.",
            )
        )
    found.append(
        Check(
            what="What else was released about the same people?",
            why="The ε of all releases add up. A ledger keeps the sum.",
        )
    )
    if certificate.sha256 is not None:
        found.append(
            Check(
                what="Is the file at hand the one that this report is about?",
                why=f"Its SHA-256 is {certificate.sha256}.",
            )
        )
    verdict = certificate.verdict
    if verdict is not None and verdict.sureness is not Sureness.RELIABLE:
        found.append(
            Check(
                what="Are the figures accurate enough for their purpose?",
                why=f"The release is {verdict}",
            )
        )
    if certificate.missing_activities:
        names = ", ".join(certificate.missing_activities)
        found.append(
            Check(
                what="Does it matter that some activities are missing?",
                why=f"No released case has these public activities: {names}.",
            )
        )
    return tuple(found)


def _who(certificate: Certificate) -> str:
    unit = certificate.unit
    if unit.person is None:
        return "Every case"
    cases = "case" if unit.max_cases == 1 else "cases"
    return f"Every person with up to {unit.max_cases} {cases}"


def _times(release: Release) -> str:
    if release.times is None:
        return "times are artificial"
    return "times are only as exact as their noise"
