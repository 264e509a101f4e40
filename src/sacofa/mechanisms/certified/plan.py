"""What a release costs and buys: from ε and public settings alone, before any log is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, prod, sqrt
from types import MappingProxyType

from ...errors import Argument, SettingError
from ...kernel.laws import Law
from ...kernel.queries.flow import VOTE_UNITS
from ...kernel.statements import Statement
from ...kernel.unit import Unit
from ...synthesis.attributes.ask import divide
from ...synthesis.flow.answers import bin_edges, cases_margin, precision
from ...synthesis.thresholds import SHAPES, smallest_threshold
from ...synthesis.times.ask import TimeShares
from ...synthesis.times.tuning import TUNING
from ...synthesis.verdict import Verdict
from .budget import LEAST_MOVED, MOST_MOVED, USUAL_LENGTH
from .run import MAX_ACTIVITIES
from .settings import CertifiedSettings
from .verdict import foresee

SCALES_TO_STAND_OUT = 3
"""Noise scales of cases from which on a path likely stands out from noise."""
USUAL_DELTA = Fraction(1, 10**6)
"""The δ that is compared with pure ε where none is set."""
TAIL = Fraction(1, 40)
"""In 95 of 100 runs noise stays within its margin: this much of it lies beyond on either side."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """One part of ε and what it buys."""

    what: Statement
    """The query."""
    epsilon: Fraction
    """The ε that it spends."""
    noise: Fraction
    """The margin (95 %) of the noise of one number, in cases."""
    buys: Statement
    """The use of the noisy numbers."""


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """The noise with a δ, compared with that of pure ε: below 1 it is smaller."""

    delta: Fraction
    """The δ."""
    length: int
    """The assumed number of events of a case."""
    pairs: float
    """Noise on directly-follows pairs, whose votes a case divides."""
    paths: float
    """Noise on paths, each of which is the whole vote of a case."""
    attributes: float | None
    """Noise on attributes of cases; None: none is released."""

    @property
    def recommended(self) -> bool:
        """Whether the δ is recommended: noise is smaller in the geometric mean."""
        return prod((self.pairs, self.paths, self.attributes or 1.0)) < 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release of a log would cost and buy."""

    epsilon: Fraction
    """The ε of the whole release."""
    delta: Fraction
    """The δ of the whole release; 0 for pure differential privacy."""
    max_length: int | None
    """Longer cases are cut here; None: chosen under a share."""
    activities: int
    """The number of activities."""
    cases: int | None
    """The number of cases, if one may guess."""
    chooses_length: bool
    """Whether a share of ε is spent on choosing where cases are truncated."""
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
    budgets: Budgets
    """Which budget is recommended: pure ε, or ε and δ."""
    verdict: Verdict | None
    """How sure a release of a log of `cases` would be; None where that is not known."""

    def lines(self) -> list[Statement]:
        """What the release will contain, from how many cases on, and how accurate it will be."""
        lines = [
            _line("cases_margin", margin=self.cases_margin),
            _line("candidate", cases=self.candidate_from),
        ]
        if self.chooses_length:
            lines.append(_line("moves", most=MOST_MOVED, least=-LEAST_MOVED))
        if not self.large:
            lines.append(_line("trigrams"))
        if self.frequent_from is None or self.large_from is None:
            lines.append(_line("set_length", max_length=Argument("max_length")))
        else:
            lines.append(_line("frequent", cases=self.frequent_from, large=self.large_from))
        found = self.budgets
        if found.recommended != bool(self.delta):
            code = "plan.line.delta" if found.recommended else "plan.line.pure"
            pairs, paths = round(found.pairs, 2), round(found.paths, 2)
            values: dict[str, object] = {"delta": float(found.delta), "length": found.length}
            values |= {"argument": Argument("delta"), "pairs": pairs, "paths": paths}
            lines.append(Statement(code, **values))
        if self.verdict is not None and self.cases is not None:
            verdict = self.verdict.statement
            lines.append(_line("verdict", cases=self.cases, verdict=verdict))
        return lines


def _line(code: str, **values: object) -> Statement:
    return Statement(f"plan.line.{code}", **values)


def compare_budgets(mechanism: CertifiedSettings, unit: Unit, length: int | None) -> Budgets:
    """Compare both budgets of a mechanism for a typical case length.

    A case of n Euclidean votes gives √n in sum.
    """
    usual = min(mechanism.max_length or USUAL_LENGTH, USUAL_LENGTH)
    length = max(usual if length is None else length, 1)
    delta = mechanism.delta or USUAL_DELTA
    pure, other = (replace(mechanism, delta=each) for each in (Fraction(0), delta))

    def noise(settings: CertifiedSettings) -> list[float]:
        split, number = settings.split(), max(len(settings.attributes), 1)
        laws = [
            settings.noise(unit, split.semantics),
            settings.noise(unit, split.final(frequent=False)),
        ]
        if settings.attributes:
            laws.append(settings.budget.law(unit.max_cases, settings.attribute_price / number))
        steps, *others = (float(1 / law.epsilon) for law in laws)
        return [steps / (sqrt(length) if settings.delta else 1.0), *others]

    pairs, paths, *rest = (a / b for a, b in zip(noise(other), noise(pure), strict=True))
    return Budgets(
        delta=delta,
        length=length,
        pairs=pairs,
        paths=paths,
        attributes=rest[0] if rest else None,
    )


def plan_of(
    mechanism: CertifiedSettings,
    unit: Unit,
    activities: int,
    cases: int | None = None,
    pairs: tuple[tuple[int, int], ...] = (),
    length: int | None = None,
) -> Plan:
    """Work out what a mechanism with these settings would do; `length` is a guess of the usual."""
    if not 0 <= activities <= MAX_ACTIVITIES:
        must = Statement("must.whole_between", low=0, high=MAX_ACTIVITIES)
        raise SettingError("activities", activities, must)
    if cases is not None and cases < 0:
        raise SettingError("cases", cases, Statement("must.at_least", least=0))
    split, max_length = mechanism.split(activities), mechanism.max_length
    if cases is not None:
        split = mechanism.for_size(split, max(cases, 1), activities, unit)
    frequent_from = mechanism.published_from(split, unit, activities, max_length)
    large_from = large = None
    if frequent_from is not None:
        large_from = ceil(frequent_from / mechanism.large_log_ratio)
        if cases is not None:
            large = cases >= large_from
    final = split.final(frequent=bool(large))
    # The number of cases follows from all answers that tell it; without a guess, from the first.
    asked = [(split.size, 1)]
    if cases is not None:
        candidates = mechanism.list_length(max(cases, 1), unit)
        asked += [
            (split.size_again, 1),
            (split.length, len(bin_edges(mechanism.max_length_bound))),
            (split.search, candidates),
            (final, candidates),
        ]
    told = [(mechanism.noise(unit, share), cells) for share, cells in asked if share]
    exact = sum((precision(law.epsilon, cells) for law, cells in told), Fraction(0))
    candidate_from = ceil(SCALES_TO_STAND_OUT / mechanism.noise(unit, final).epsilon)
    step = mechanism.noise(unit, split.semantics, VOTE_UNITS)
    cells = (activities + 1) ** 2
    threshold = smallest_threshold(step, cells, mechanism.false_steps * cells)
    step_from = Fraction(threshold, VOTE_UNITS)

    def part(code: str, part: Fraction, units: int = 1, **values: object) -> Share:
        law = mechanism.noise(unit, part, units) if part else None
        return _share(code, part * mechanism.flow_price, law, units, buys=values)

    shares = [
        part("size", split.size),
        part("length", split.length),
        part("activities", split.activities, VOTE_UNITS),
        part("steps", split.semantics, VOTE_UNITS, votes=round(float(step_from), 1)),
        part("size_again", split.size_again),
        part("frequent", split.frequent if large else Fraction(0), cases=frequent_from or 0),
        part("search", split.search),
        part("final", final, cases=candidate_from),
        *_rich_shares(mechanism, unit, activities, pairs),
    ]
    return Plan(
        epsilon=Fraction(mechanism.epsilon),
        delta=mechanism.delta,
        max_length=max_length,
        activities=activities,
        cases=cases,
        chooses_length=bool(split.length),
        shares=tuple(share for share in shares if share.epsilon),
        step_from=step_from,
        candidate_from=candidate_from,
        frequent_from=frequent_from,
        large_from=large_from,
        large=large,
        cases_margin=cases_margin(1 / exact, SHAPES[type(step)]),
        budgets=(budgets := compare_budgets(mechanism, unit, length)),
        verdict=None
        if cases is None
        else foresee(
            mechanism, activities=activities, cases=cases, unit=unit, length=budgets.length
        ),
    )


def _rich_shares(
    mechanism: CertifiedSettings, unit: Unit, activities: int, pairs: tuple[tuple[int, int], ...]
) -> Iterator[Share]:
    """What times, each attribute and each pair spend: every one more takes from all others."""

    def noise(amount: Fraction) -> Law:
        return mechanism.budget.law(VOTE_UNITS * unit.max_cases, amount)

    if mechanism.time:
        # The gaps between events are what it is mostly spent on.
        gaps = TimeShares().divide(mechanism.time_price)["gaps"]
        votes = ceil(TUNING.own_row_votes / float(noise(gaps).epsilon * VOTE_UNITS))
        times = _share("times", gaps, noise(gaps), VOTE_UNITS, buys={"votes": votes})
        yield replace(times, epsilon=mechanism.time_price)
    attributes = mechanism.attributes
    if not attributes:
        return
    prices = divide(mechanism.attribute_price, attributes, pairs, activities)
    for attribute, price in zip(attributes, prices, strict=False):
        yield _share("attribute", price, noise(price), VOTE_UNITS, what={"name": attribute.key})
    for (one, other), price in zip(pairs, prices[len(attributes) :], strict=True):
        names = {"one": attributes[one].key, "other": attributes[other].key}
        yield _share("pair", price, noise(price), VOTE_UNITS, what=names)


def _share(
    code: str,
    epsilon: Fraction,
    law: Law | None,
    units: int,
    *,
    what: Mapping[str, object] = MappingProxyType({}),
    buys: Mapping[str, object] = MappingProxyType({}),
) -> Share:
    """A query with the margin (95 %) of the noise of one number, in cases of so many `units`."""
    noise = smallest_threshold(law, 1, TAIL) if law else 0
    return Share(
        what=Statement(f"plan.share.{code}", **what),
        epsilon=epsilon,
        noise=Fraction(noise, units),
        buys=Statement(f"plan.buys.{code}", **buys),
    )
