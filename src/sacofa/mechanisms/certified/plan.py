"""What a release costs and buys: from ε and public settings alone, before any log is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from ...errors import SettingError
from ...kernel.queries.flow import VOTE_UNITS
from ...kernel.unit import Unit
from ...synthesis.attributes.ask import divide
from ...synthesis.flow.frequent import all_threshold
from ...synthesis.flow.lengths import bin_edges
from ...synthesis.flow.size import cases_margin, precision
from ...synthesis.flow.steps import most_false_steps
from ...synthesis.thresholds import smallest_threshold
from ...synthesis.times.settings import TimeShares
from ...synthesis.times.tuning import TUNING
from ...synthesis.verdict import Verdict
from .budget import LEAST_MOVED, MOST_MOVED
from .run import MAX_ACTIVITIES
from .settings import CertifiedSettings
from .verdict import foresee

LENGTH = "max_length"
"""What the share of the lengths of cases is called."""
SCALES_TO_STAND_OUT = 3
"""Noise scales of cases from which on a path likely stands out from noise."""
TAIL = Fraction(1, 40)
"""In 95 of 100 runs noise stays within its margin: this much of it lies beyond on either side."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """One part of ε and what it buys."""

    what: str
    """What is asked."""
    epsilon: Fraction
    """The price."""
    noise: Fraction
    """The margin (95 %) of the noise of one number, in cases."""
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
    frequent_from: int | None
    """From so many cases on, any variant at all is shown as it is; None: length not given."""
    large_from: int | None
    """Frequent variants are shown in logs of at least so many cases."""
    large: bool | None
    """Whether they are in a log of `cases`; None where that is not known."""
    cases_margin: int
    """The margin of error (95 %) of the number of cases, as the certificate will state it."""
    verdict: Verdict | None
    """How sure a release of a log of `cases` would be; None where that is not known."""

    def lines(self) -> list[str]:
        """What can be shown from how many cases on, and how sure it is, in plain words."""
        lines = [
            f"Margin of error (95 %) of the number of cases: ±{self.cases_margin:,}.",
            f"A path is likely to appear in the release once about {self.candidate_from:,} cases "
            "are closer to it than to any other.",
        ]
        if any(share.what == LENGTH for share in self.shares):
            lines.append(
                f"Where cases turn out long, steps get up to {MOST_MOVED} % of the flow's ε more "
                f"and the final vote less; where they are short, up to {-LEAST_MOVED} % the other "
                "way."
            )
        if not self.large:
            lines.append(
                "Where hardly two cases turn out alike and there are enough of them, two thirds of "
                "the final vote's ε go to three activities in a row (3-grams)."
            )
        if self.frequent_from is None:
            lines.append(
                "Set max_length to see from how many cases on a variant is shown as it is, "
                "whatever it is."
            )
        else:
            lines.append(
                f"A variant is shown, whatever it is, from {self.frequent_from:,} cases on, in "
                f"logs of at least {self.large_from:,} cases."
            )
        if self.verdict is not None:
            lines.append(f"A release of {self.cases:,} cases would be {self.verdict}")
        return lines


def plan_of(
    mechanism: CertifiedSettings,
    unit: Unit,
    activities: int,
    cases: int | None = None,
    pairs: tuple[tuple[int, int], ...] = (),
) -> Plan:
    """Work out what a mechanism with these settings would do."""
    if not 0 <= activities <= MAX_ACTIVITIES:
        raise SettingError("activities", activities, f"0 to {MAX_ACTIVITIES:,}")
    if cases is not None and cases < 0:
        raise SettingError("cases", cases, "0 or more")
    return _plan(mechanism, unit, activities, cases, pairs)


def _plan(
    mechanism: CertifiedSettings,
    unit: Unit,
    activities: int,
    cases: int | None,
    pairs: tuple[tuple[int, int], ...],
) -> Plan:
    split, price, max_length = mechanism.split(activities), mechanism.price, mechanism.max_length
    if cases is not None:
        split = mechanism.for_size(split, max(cases, 1), activities, unit)
    per_case = mechanism.flow_price / unit.max_cases
    frequent_from = large_from = large = None
    if max_length is not None:
        frequent_from = all_threshold(split.frequent * per_case, activities, max_length)
        large_from = ceil(frequent_from / mechanism.large_log_ratio)
        if cases is not None:
            large = cases >= large_from
    final = split.final(frequent=bool(large))
    candidate_from = ceil(SCALES_TO_STAND_OUT / (final * per_case))
    step = split.semantics * per_case / VOTE_UNITS
    cells = (activities + 1) ** 2
    threshold = smallest_threshold(step, cells, most_false_steps(mechanism.false_steps, cells))
    step_from = Fraction(threshold, VOTE_UNITS)

    def part(what: str, share: Fraction, buys: str, units: int = 1) -> Share:
        noise = Fraction(smallest_threshold(share * per_case / units, 1, TAIL), units)
        return Share(what=what, epsilon=share * mechanism.flow_price, noise=noise, buys=buys)

    shares = [part("size", split.size, "the number of cases")]
    if split.length:
        shares.append(part(LENGTH, split.length, "where long cases are cut"))
    if split.activities:
        buys = "which activities happen, once or repeatedly"
        shares.append(part("activities", split.activities, buys, VOTE_UNITS))
    shares.append(
        part(
            "semantics",
            split.semantics,
            f"steps between activities, from about {float(step_from):.1f} whole votes on",
            VOTE_UNITS,
        )
    )
    if split.size_again:
        shares.append(part("counts: size again", split.size_again, "the number of cases once more"))
    if large:
        shares.append(
            part(
                "counts: frequent",
                split.frequent,
                f"variants as they are, from {frequent_from:,} on",
            )
        )
    shares.append(part("counts: search", split.search, "which sequences stand for many cases"))
    shares.append(
        part("counts: final vote", final, f"their counts; heard from {candidate_from:,} cases on")
    )
    if mechanism.time:
        shares.append(_time_share(mechanism, unit))
    shares += _attribute_shares(mechanism, unit, activities, pairs)
    return Plan(
        epsilon=price,
        max_length=max_length,
        activities=activities,
        cases=cases,
        shares=tuple(shares),
        step_from=step_from,
        candidate_from=candidate_from,
        frequent_from=frequent_from,
        large_from=large_from,
        large=large,
        cases_margin=expected_cases_margin(mechanism, unit, activities, cases, large=bool(large)),
        verdict=None
        if cases is None
        else foresee(mechanism, activities=activities, cases=cases, unit=unit),
    )


def expected_cases_margin(
    mechanism: CertifiedSettings,
    unit: Unit,
    activities: int,
    cases: int | None,
    *,
    large: bool = False,
) -> int:
    """The margin of the number of cases that a release will state, as far as that is known before.

    It follows from all answers that tell this number; without a guess of the number of cases, from
    the first one alone.
    """
    per_case = mechanism.flow_price / unit.max_cases
    split = mechanism.split(activities)
    asked = [(split.size, 1)]
    if cases is not None:
        split = mechanism.for_size(split, max(cases, 1), activities, unit)
        candidates = mechanism.list_length(max(cases, 1), unit)
        asked += [
            (split.size_again, 1),
            (split.length, len(bin_edges(mechanism.max_length_bound))),
            (split.search, candidates),
            (split.final(frequent=large), candidates),
        ]
    exact = sum((precision(share * per_case, cells) for share, cells in asked), Fraction(0))
    return cases_margin(1 / exact)


def _time_share(mechanism: CertifiedSettings, unit: Unit) -> Share:
    """What the share of times buys: the gaps between events are what it is mostly spent on."""
    price = mechanism.time_price
    gaps = TimeShares().divide(price)["gaps"] / unit.max_cases
    noise = Fraction(smallest_threshold(gaps / VOTE_UNITS, 1, TAIL), VOTE_UNITS)
    shared = ceil(TUNING.own_row_votes / float(gaps))
    return Share(
        what="times",
        epsilon=price,
        noise=noise,
        buys=f"durations and dates; steps of fewer than {shared:,} votes share one distribution",
    )


def _attribute_shares(
    mechanism: CertifiedSettings, unit: Unit, activities: int, pairs: tuple[tuple[int, int], ...]
) -> list[Share]:
    """What each attribute and each pair costs: every one more takes from all others."""
    attributes = mechanism.attributes
    if not attributes:
        return []
    prices = divide(mechanism.attribute_price, attributes, pairs, activities)
    names = [attribute.key for attribute in attributes]
    names += [f"{names[one]}, {names[other]}" for one, other in pairs]
    return [
        Share(
            what=f"attribute {name}" if place < len(attributes) else f"pair {name}",
            epsilon=price,
            noise=Fraction(
                smallest_threshold(price / unit.max_cases / VOTE_UNITS, 1, TAIL), VOTE_UNITS
            ),
            buys="how many cases have each value" if place < len(attributes) else "both together",
        )
        for place, (name, price) in enumerate(zip(names, prices, strict=True))
    ]
