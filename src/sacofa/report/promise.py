"""A certificate in words that a layperson understands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from ..kernel.accounting import Access, Leak
from ..messages.units import noun
from ..release.certificate import Certificate

BEFORE = (0.01, 0.1, 0.5, 0.9)
"""Beliefs for which the explanation works out what can become of them."""

STRENGTHS = ("very strong", "strong", "moderate", "weak", "next to nothing")
"""Words for how well a price protects: the one list that report and web app speak by."""
LIMITS = ("0.1", "1", "3", "8")
"""Up to which price each of the words holds, but for the last."""


LONGEST_PRICE = 5
"""Longer fractions are rounded on pages where queries are priced; certificates have them exact."""


@dataclass(frozen=True, kw_only=True)
class Belief:
    """How sure somebody can be of a guess, before and after seeing a release."""

    before: float
    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a price means."""

    epsilon: str
    """The price as people read it."""
    factor: str
    """How much the odds of a guess can change."""
    course_factor: str
    """How much they can change between two courses of the same case: out with one, in with one."""
    strength: str
    """A word for it."""
    level: int
    """The same as a number: 0 for the strongest, 4 for next to nothing."""
    beliefs: tuple[Belief, ...]


@dataclass(frozen=True, kw_only=True)
class Paid:
    """One line of the account: what was asked and its price."""

    what: str
    price: str
    times: int
    total: str
    leak: str | None
    """What follows, where nothing was paid."""


def say_number(value: Fraction) -> str:
    """A price as people read it: a decimal number, or a fraction where none is exact."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value else f"{value.numerator:,}/{value.denominator:,}"


def say_price(value: Fraction) -> str:
    """The price of one query: rounded where it is a fraction of large numbers."""
    exact = say_number(value)
    return exact if "/" not in exact or len(exact) <= LONGEST_PRICE else f"≈ {float(value):.3g}"


def say_factor(epsilon: Fraction) -> str:
    """e to the power of a price, as people read it."""
    if epsilon < 7:
        return f"{math.exp(epsilon):.3g}"
    if epsilon < 16:
        return f"{float(f'{math.exp(epsilon):.3g}'):,.0f}"
    return f"10 to the power of {int(epsilon / Fraction(math.log(10)))} and more"


def explain_epsilon(epsilon: Fraction) -> Explanation:
    """Say what a price means: how much a guess about one case can gain or lose."""
    return Explanation(
        epsilon=say_number(epsilon),
        factor=say_factor(epsilon),
        course_factor=say_factor(2 * epsilon),
        strength=STRENGTHS[strength_level(epsilon)],
        level=strength_level(epsilon),
        beliefs=tuple(
            Belief(before=p, least=_after(p, -float(epsilon)), most=_after(p, float(epsilon)))
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
        return (
            "This release must not be published: its noise was drawn from a seed, and whoever "
            "guesses the seed can take the noise away again."
        )
    if epsilon is None:
        return (
            f"This release carries no mathematical promise: there is no limit to what it may "
            f"give away about one {subject}."
        )
    return (
        f"What anyone can conclude from this release about one {subject} is limited: the odds of a "
        f"guess whether that {subject} is in the log change by a factor of at most "
        f"{say_factor(epsilon)}, the odds of a guess what happened by at most "
        f"{say_factor(2 * epsilon)}."
    )


def say_reasons(certificate: Certificate) -> tuple[str, ...]:
    """Why there is no promise, where there is none."""
    leaks = (access for access in certificate.spent if isinstance(access, Leak))
    return tuple(f"Not paid for: {leak.what}; {leak.why}." for leak in leaks)


def say_spent(accesses: tuple[Access, ...]) -> tuple[Paid, ...]:
    """How the price adds up, a run of queries of one price told once."""
    return tuple(_say_runs(accesses))


def _say_runs(accesses: tuple[Access, ...]) -> Iterator[Paid]:
    for price, group in groupby(accesses, key=lambda access: getattr(access, "epsilon", None)):
        run = list(group)
        if price is None:
            for leak in run:
                why = str(leak.why) if isinstance(leak, Leak) else ""
                yield Paid(
                    what=str(leak.what), price="nothing", times=1, total="no limit", leak=why
                )
            continue
        parts = [run] if len(run) > 3 else [[access] for access in run]
        for part in parts:
            what = str(part[0].what)
            if len(part) > 1:
                what = f"{what} … {part[-1].what}"
            yield Paid(
                what=what,
                price=say_price(price),
                times=len(part),
                total=say_price(price * len(part)),
                leak=None,
            )


def _after(before: float, change: float) -> float:
    """What becomes of a belief when its odds change by a factor of e^change."""
    odds = math.log(before / (1 - before)) + change
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def strength_level(epsilon: Fraction) -> int:
    """How strong a price is: the place of its word in `STRENGTHS`."""
    return sum(epsilon > Fraction(limit) for limit in LIMITS)
