"""Wording of a certificate for laypeople: its guarantee, and a list of checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from ..base.claims import for_units, odds_exponent, say_claim
from ..kernel.accounting import Access, Budget, Leak, PureDP, Spend
from ..kernel.statements import Statement
from ..messages.units import noun
from ..release.anonymize import Release
from ..release.certificate import Certificate
from ..synthesis.margins import Margins
from ..synthesis.verdict import Sureness

LEVELS = {Sureness.RELIABLE: 0, Sureness.ROUGH: 2, Sureness.UNRELIABLE: 4}
"""The colours of the strengths, from 0 for the best to 4 for the worst."""
PRIOR_BELIEFS = (0.01, 0.1, 0.5, 0.9)
"""Prior beliefs for which the explanation computes posterior ones."""
STRENGTHS = ("very_strong", "strong", "moderate", "weak", "minimal")
"""Names of the strengths of protection, for report and web app."""
LIMITS = ("0.1", "1", "3", "8")
"""The largest ε of each strength except the last."""
MAX_EXACT_LENGTH = 5
"""Longer fractions are rounded in the list of queries; certificates contain exact ones."""
MAX_SINGLE_QUERIES = 3
"""Longer runs of queries with the same ε share a line."""


@dataclass(frozen=True, kw_only=True)
class Belief:
    """The probability that somebody assigns to a guess, before and after seeing a release."""

    before: float
    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The meaning of an ε."""

    epsilon: str
    """The formatted ε."""
    delta: str | None
    """The formatted δ; None in pure differential privacy."""
    claim: str
    """Both of them."""
    ratio: str
    """The factor by which the probability of releases can change, but for δ."""
    factor: str
    """The factor by which the odds of a guess can change, except with probability δ."""
    course_factor: str
    """The factor by which they can change between two courses of the same case."""
    strength: str
    """The name of the strength."""
    level: int
    """The strength as a number: 0 for the strongest, 4 for next to nothing."""
    beliefs: tuple[Belief, ...]


class Paid(NamedTuple):
    """One line of the account: a query, or several consecutive ones, and the ε that they spend."""

    what: str
    price: str
    times: int
    total: str
    leak: str | None = None
    """The consequence if no ε was spent."""


def say_number(value: Fraction) -> str:
    """Format an ε: as a decimal number, or as a fraction if no decimal is exact."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value else f"{value.numerator:,}/{value.denominator:,}"


def say_price(value: Fraction) -> str:
    """Format the ε of one query: rounded if it is a fraction of large numbers."""
    exact = say_number(value)
    return exact if "/" not in exact or len(exact) <= MAX_EXACT_LENGTH else f"≈ {float(value):.3g}"


def say_factor(epsilon: Fraction | float) -> str:
    """Format e to the power of ε."""
    if epsilon < 7:
        return f"{math.exp(epsilon):.3g}"
    if epsilon < 16:
        return f"{float(f'{math.exp(epsilon):.3g}'):,.0f}"
    return str(Statement("report.power", power=str(int(epsilon / Fraction(math.log(10))))))


def explain_epsilon(epsilon: Fraction, budget: Budget | None = None) -> Explanation:
    """Explain a claim by how much a guess about one case can gain or lose."""
    level = sum(epsilon > Fraction(limit) for limit in LIMITS)
    budget = budget or PureDP(epsilon)
    most = odds_exponent(budget)

    def after(before: float, change: float) -> float:
        """Return the posterior of a belief when its odds change by a factor of e^change."""
        odds = math.log(before / (1 - before)) + change
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    return Explanation(
        epsilon=say_number(epsilon),
        delta=str(Statement("claim.delta", delta=budget.delta)) if budget.delta else None,
        claim=str(say_claim(epsilon, budget.delta)),
        ratio=say_factor(epsilon),
        factor=say_factor(most),
        course_factor=say_factor(odds_exponent(budget, 2)),
        strength=str(Statement(f"strength.{STRENGTHS[level]}")),
        level=level,
        beliefs=tuple(
            Belief(before=p, least=after(p, -float(most)), most=after(p, float(most)))
            for p in PRIOR_BELIEFS
        ),
    )


def subject_of(certificate: Certificate) -> str:
    """Return one word for the unit that is protected."""
    return str(noun(certificate.unit))


def say_promise(certificate: Certificate) -> str:
    """State the guarantee in one sentence."""
    subject, epsilon = subject_of(certificate), certificate.epsilon
    if not certificate.publishable:
        return str(Statement("report.seeded"))
    if epsilon is None:
        return str(Statement("report.no_promise", subject=subject))
    meaning = explain_epsilon(epsilon, certificate.budget)
    factors = {"factor": meaning.factor, "course": meaning.course_factor}
    if not certificate.delta:
        return str(Statement("report.promise", subject=subject, **factors))
    delta = certificate.delta
    return str(Statement("report.promise_with_delta", subject=subject, delta=delta, **factors))


def say_reasons(certificate: Certificate) -> tuple[str, ...]:
    """Return the leaks that void the guarantee."""
    leaks = (access for access in certificate.spent if isinstance(access, Leak))
    return tuple(str(Statement("report.leak", what=leak.what, why=leak.why)) for leak in leaks)


def say_spent(accesses: tuple[Access, ...]) -> Iterator[Paid]:
    """Return the lines of the account; consecutive queries with the same ε share a line."""
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
    """Return the margins of all figures; empty if the certificate gives no guarantee or margins."""
    certificate = release.certificate
    if certificate.epsilon is None or certificate.margins is None:
        return Margins()
    return certificate.margins


def say_verdict(release: Release) -> str:
    """Return one sentence: the protected unit, the strength of protection, and its limits."""
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
            claim=certificate.claim,
            learnt=Statement(f"learnt.{strength}", subject=subject_of(certificate)),
            times=Statement("report.artificial" if release.times is None else "report.noisy"),
        )
    )


def list_checks(release: Release) -> list[tuple[Statement, Statement]]:
    """List the checks before passing a release on, with reasons."""
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
    found = {
        name: (Statement(f"check.{name}", **values), Statement(f"check_reason.{name}", **values))
        for name, values in checks.items()
    }
    if "one_case" in found and certificate.rho is not None:
        found["one_case"] = found["one_case"][0], _three_cases(certificate)
    return list(found.values())


def _three_cases(certificate: Certificate) -> Statement:
    """What a person with three cases is promised, with a δ."""
    assert certificate.budget is not None
    three = say_claim(*for_units(certificate.budget, 3))
    return Statement("check_reason.one_case_with_delta", claim=three)
