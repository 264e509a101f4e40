"""A certificate in words for laypeople: what it promises, and what they should check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from ..kernel.accounting import Access, Leak, Spend
from ..kernel.statements import Statement
from ..messages.units import noun
from ..release.anonymize import Release
from ..release.certificate import Certificate
from ..synthesis.margins import Margins
from ..synthesis.verdict import Sureness

LEVELS = {Sureness.RELIABLE: 0, Sureness.ROUGH: 2, Sureness.UNRELIABLE: 4}
"""The colour of each verdict: that of a strength, 0 for the best and 4 for the worst."""
BEFORE = (0.01, 0.1, 0.5, 0.9)
"""Beliefs for which the explanation computes what can become of them."""
STRENGTHS = ("very_strong", "strong", "moderate", "weak", "minimal")
"""Names of the strengths of protection: the one list for report and web app."""
LIMITS = ("0.1", "1", "3", "8")
"""The largest ε of each strength except the last."""
MAX_EXACT_LENGTH = 5
"""Longer fractions are rounded in the list of queries; certificates have them exact."""
MAX_SINGLE_QUERIES = 3
"""More queries in a row with the same ε share a line."""


@dataclass(frozen=True, kw_only=True)
class Belief:
    """How sure somebody can be of a guess, before and after seeing a release."""

    before: float
    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What an ε means."""

    epsilon: str
    """The ε as people read it."""
    factor: str
    """How much the odds of a guess can change."""
    course_factor: str
    """How much they can change between two courses of the same case."""
    strength: str
    """A word for it."""
    level: int
    """The same as a number: 0 for the strongest, 4 for next to nothing."""
    beliefs: tuple[Belief, ...]


class Paid(NamedTuple):
    """One line of the account: a query, or several in a row, and what they spend."""

    what: str
    price: str
    times: int
    total: str
    leak: str | None = None
    """The consequence, if nothing was spent."""


def say_number(value: Fraction) -> str:
    """An ε as people read it: a decimal number, or a fraction if none is exact."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value else f"{value.numerator:,}/{value.denominator:,}"


def say_price(value: Fraction) -> str:
    """The ε of one query: rounded if it is a fraction of large numbers."""
    exact = say_number(value)
    return exact if "/" not in exact or len(exact) <= MAX_EXACT_LENGTH else f"≈ {float(value):.3g}"


def say_factor(epsilon: Fraction) -> str:
    """e to the power of ε, as people read it."""
    if epsilon < 7:
        return f"{math.exp(epsilon):.3g}"
    if epsilon < 16:
        return f"{float(f'{math.exp(epsilon):.3g}'):,.0f}"
    return str(Statement("report.power", power=str(int(epsilon / Fraction(math.log(10))))))


def explain_epsilon(epsilon: Fraction) -> Explanation:
    """Explain an ε: how much a guess about one case can gain or lose."""
    level = sum(epsilon > Fraction(limit) for limit in LIMITS)

    def after(before: float, change: float) -> float:
        """What becomes of a belief when its odds change by a factor of e^change."""
        odds = math.log(before / (1 - before)) + change
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    return Explanation(
        epsilon=say_number(epsilon),
        factor=say_factor(epsilon),
        course_factor=say_factor(2 * epsilon),
        strength=str(Statement(f"strength.{STRENGTHS[level]}")),
        level=level,
        beliefs=tuple(
            Belief(before=p, least=after(p, -float(epsilon)), most=after(p, float(epsilon)))
            for p in BEFORE
        ),
    )


def subject_of(certificate: Certificate) -> str:
    """Who is protected, in one word."""
    return str(noun(certificate.unit))


def say_promise(certificate: Certificate) -> str:
    """The promise in one sentence."""
    subject, epsilon = subject_of(certificate), certificate.epsilon
    if not certificate.publishable:
        return str(Statement("report.seeded"))
    if epsilon is None:
        return str(Statement("report.no_promise", subject=subject))
    factors = {"factor": say_factor(epsilon), "course": say_factor(2 * epsilon)}
    return str(Statement("report.promise", subject=subject, **factors))


def say_reasons(certificate: Certificate) -> tuple[str, ...]:
    """Why there is no promise, if there is none."""
    leaks = (access for access in certificate.spent if isinstance(access, Leak))
    return tuple(str(Statement("report.leak", what=leak.what, why=leak.why)) for leak in leaks)


def say_spent(accesses: tuple[Access, ...]) -> Iterator[Paid]:
    """How ε adds up; many queries in a row with the same ε share a line."""
    for price, group in groupby(accesses, key=lambda access: getattr(access, "amount", None)):
        run = list(group)
        times = len(run) if price and len(run) > MAX_SINGLE_QUERIES else 1
        for access in run[:1] if times > 1 else run:
            if isinstance(access, Spend):
                what = str(access.what) if times == 1 else f"{access.what} … {run[-1].what}"
                yield Paid(what, say_price(access.amount), times, say_price(access.amount * times))
            else:
                nothing, unbounded = Statement("report.nothing"), Statement("report.unbounded")
                yield Paid(str(access.what), str(nothing), 1, str(unbounded), str(access.why))


def margins_of(release: Release) -> Margins:
    """The margins of all figures; none where the certificate does not promise or state any."""
    certificate = release.certificate
    if certificate.epsilon is None or certificate.margins is None:
        return Margins()
    return certificate.margins


def say_verdict(release: Release) -> str:
    """What is protected, how strongly, and what is not: one sentence."""
    certificate = release.certificate
    unit, epsilon = certificate.unit, certificate.epsilon
    if not certificate.publishable or epsilon is None:
        return say_promise(certificate)
    strength = STRENGTHS[explain_epsilon(epsilon).level]
    who = Statement("report.every_case")
    if unit.person is not None:
        who = Statement("report.every_person", max_cases=unit.max_cases)
    return str(
        Statement(
            "report.verdict",
            who=who,
            strength=Statement(f"strength.{strength}"),
            epsilon=say_number(epsilon),
            learnt=Statement(f"learnt.{strength}", subject=subject_of(certificate)),
            times=Statement("report.artificial" if release.times is None else "report.noisy"),
        )
    )


def list_checks(release: Release) -> list[tuple[Statement, Statement]]:
    """List what somebody should check before passing a release on, and why."""
    certificate = release.certificate
    unit, verdict = certificate.unit, certificate.verdict
    checks: dict[str, dict[str, object]] = {"activities": {}}
    if release.columns:
        checks["attributes"] = {"names": tuple(column.key for column in release.columns)}
    if unit.person is None:
        checks["one_case"] = {}
    else:
        checks["person"] = {"person": unit.person, "max_cases": unit.max_cases}
    checks["other_releases"] = {}
    if certificate.sha256 is not None:
        checks["file"] = {"sha256": certificate.sha256}
    if verdict is not None and verdict.sureness is not Sureness.RELIABLE:
        checks["accuracy"] = {"verdict": str(verdict)}
    if certificate.missing_activities:
        checks["missing"] = {"names": tuple(certificate.missing_activities)}
    return [
        (Statement(f"check.{name}", **values), Statement(f"check_reason.{name}", **values))
        for name, values in checks.items()
    ]
