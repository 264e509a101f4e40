"""What a release costs and buys: from ε and public settings alone, before any log is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from ...errors import SettingError
from ...privacy.exact import smallest_threshold
from ...privacy.unit import ONE_CASE, Unit
from .certified import Certified
from .looks import MAX_ACTIVITIES, VOTE_UNITS
from .named import all_threshold

SURE = Fraction(1, 40)
"""In 95 of 100 runs noise stays within a range: this much of it lies beyond on either side."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """One part of ε and what it buys."""

    what: str
    """What is looked at."""
    epsilon: Fraction
    """The price."""
    within: Fraction
    """In 95 of 100 runs noise moves a number by no more than this, in cases."""
    buys: str
    """What the noisy numbers are good for, in plain words."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release of a log would cost and buy."""

    epsilon: Fraction
    """The price of the whole release."""
    max_length: int | None
    """Longer cases are cut here; None: chosen under a share."""
    activities: int
    """The number of activities."""
    cases: int | None
    """The number of cases, if one may guess."""
    shares: tuple[Share, ...]
    """Every part of ε; the parts add up to it."""
    step_from: Fraction
    """From so many cases on, a step is told from noise."""
    candidate_from: int
    """From so many cases nearest to it on, a candidate stands out from noise."""
    named_from: int | None
    """From so many cases on, any variant at all is shown by name; None: length not given."""
    rich_from: int | None
    """Variants are shown by name in logs of at least so many cases."""
    named: bool | None
    """Whether they are in a log of `cases`; None where that is not known."""


def plan(
    *,
    epsilon: Fraction | float | str,
    activities: int,
    max_length: int | None = None,
    cases: int | None = None,
    unit: Unit = ONE_CASE,
) -> Plan:
    """Work out what `certified` would do; reads no log."""
    mechanism = Certified(epsilon=epsilon, max_length=max_length, unit=unit)  # type: ignore[arg-type]
    if not 0 <= activities <= MAX_ACTIVITIES:
        raise SettingError("activities", activities, f"0 to {MAX_ACTIVITIES:,}")
    if cases is not None and cases < 0:
        raise SettingError("cases", cases, "0 or more")
    return _plan(mechanism, activities, cases)


def _plan(mechanism: Certified, activities: int, cases: int | None) -> Plan:
    parts, price, max_length = mechanism.division, mechanism.epsilon, mechanism.max_length
    per_case = price / mechanism.unit.max_cases
    named_from = rich_from = named = None
    if max_length is not None:
        named_from = all_threshold(parts.named * per_case, activities, max_length)
        rich_from = ceil(named_from / mechanism.rich)
        if cases is not None:
            named = cases >= rich_from
    last = parts.last(named=bool(named))
    candidate_from = ceil(mechanism.last_least / (last * per_case))
    step = parts.semantics * per_case / VOTE_UNITS
    threshold = smallest_threshold(step, (activities + 1) ** 2, mechanism.false_steps)
    step_from = Fraction(threshold, VOTE_UNITS)

    def part(what: str, share: Fraction, buys: str, units: int = 1) -> Share:
        within = Fraction(smallest_threshold(share * per_case / units, 1, SURE), units)
        return Share(what=what, epsilon=share * price, within=within, buys=buys)

    shares = [part("size", parts.size, "the number of cases")]
    if parts.length:
        shares.append(part("max_length", parts.length, "where long cases are cut"))
    shares.append(
        part(
            "semantics",
            parts.semantics,
            f"steps between activities, from about {float(step_from):.1f} whole votes on",
            VOTE_UNITS,
        )
    )
    if named:
        shares.append(
            part("counts: names", parts.named, f"variants by name, from {named_from:,} cases on")
        )
    shares.append(part("counts: search", parts.search, "which sequences stand for many cases"))
    shares.append(
        part("counts: last vote", last, f"their counts; heard from {candidate_from:,} cases on")
    )
    return Plan(
        epsilon=price,
        max_length=max_length,
        activities=activities,
        cases=cases,
        shares=tuple(shares),
        step_from=step_from,
        candidate_from=candidate_from,
        named_from=named_from,
        rich_from=rich_from,
        named=named,
    )
