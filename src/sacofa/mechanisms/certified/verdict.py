"""How sure a release is: from noise, and from noisy numbers, alone. So it is free to say.

Before anything is spent, the numbers of activities and cases and ε tell how much noise there will
be beside how much there is to see. After a run, the answers say the same of this log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from math import ceil, log

import numpy as np

from ...errors import SettingError
from ...queries.distance import Ids
from ...queries.flow import VOTE_UNITS, NearestCandidate
from ...queries.protocol import Answer
from ...unit import ONE_CASE, Unit
from ...variants import VariantCounts
from .budget import BudgetSplit
from .settings import CertifiedSettings
from .size import cases_within, count_cases

SURE = 0.95
"""A range holds in so many of 100 runs, over 100."""
RELIABLE = 0.10
"""The noise of the steps, as a part of all votes, up to which a release is reliable."""
ROUGH = 0.40
"""The noise of the steps, as a part of all votes, up to which a release is rough."""
STEPS_EACH = 3
"""How many steps lead from an activity, roughly, where nothing is known yet."""


class Sureness(Enum):
    """What a release is good for."""

    RELIABLE = "reliable"
    ROUGH = "rough"
    TOO_SMALL = "too small for this ε"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a release is good for, and what would make it better."""

    sureness: Sureness
    """The word."""
    noise: float
    """How large noise is beside what there is to see: 0.1 is a tenth."""
    cases_needed: int
    """With so many cases of the same kind it would be reliable at this ε."""
    epsilon_needed: Fraction
    """With this ε it would be reliable for this log."""

    def __str__(self) -> str:
        """One sentence."""
        if self.sureness is Sureness.RELIABLE:
            return f"{self.sureness.value}: noise is about {self.noise:.0%} of what is to be seen."
        return (
            f"{self.sureness.value}: noise is about {self.noise:.0%} of what is to be seen; "
            f"{self.cases_needed:,} cases or ε = {float(self.epsilon_needed):.2g} would do."
        )


def foresee(
    settings: CertifiedSettings, *, activities: int, cases: int, unit: Unit = ONE_CASE
) -> Verdict:
    """Judge before anything is spent: so many activities, so many cases."""
    if activities < 0:
        raise SettingError("activities", activities, "0 or more")
    if cases < 0:
        raise SettingError("cases", cases, "0 or more")
    return _judge(settings, unit, activities, STEPS_EACH * activities, cases)


def judge(settings: CertifiedSettings, size: int, released: VariantCounts) -> Verdict:
    """Judge a run by its noisy size and what was made of its answers."""
    number = len(released.activities)
    # A release of few steps may have lost them to noise: that does not make it sure.
    steps = max(len(_steps_of(released)), STEPS_EACH * number)
    return _judge(settings, released.unit, number, steps, max(size, 0))


def _judge(
    settings: CertifiedSettings, unit: Unit, activities: int, steps: int, cases: int
) -> Verdict:
    cases = max(cases, 1)

    def off(split: BudgetSplit) -> float:
        # Half of the noise of all steps that there are is how far their shares are off, expected;
        # noise is 1/ε per step in the mean, and all votes of the log are one per case.
        return max(steps, 1) / (2 * _scale(settings, unit, split.semantics))

    split = settings.split(activities)
    noise = off(settings.for_size(split, cases, activities, unit)) / cases
    # Where noise is small beside a log, votes for steps get what they get in most logs.
    needed = off(split) / RELIABLE
    word = (
        Sureness.RELIABLE
        if noise <= RELIABLE
        else Sureness.ROUGH
        if noise <= ROUGH
        else Sureness.TOO_SMALL
    )
    times = max(needed / cases, 1.0)
    # Two figures are enough, and rounded up they are.
    epsilon = settings.price * Fraction(ceil(times * 100), 100)
    return Verdict(
        sureness=word, noise=noise, cases_needed=max(ceil(needed), 1), epsilon_needed=epsilon
    )


@dataclass(frozen=True, kw_only=True)
class StepRange:
    """How many of the votes for steps one step has: share of all, and the range it lies in."""

    before: str | None
    """The activity; None for the beginning."""
    after: str | None
    """What comes directly after it; None for the end."""
    share: float
    """The noisy share."""
    within: float
    """In 95 of 100 runs, the share without noise is no further away."""


def step_ranges(answers: Sequence[Answer]) -> list[StepRange]:
    """Give every step between activities its range, from the answers of a run alone."""
    cases, off = _cases(answers)
    steps = _named(answers, "steps")
    names: list[str | None] = [*steps.activities, None]
    pairs = ((before, after) for before in names for after in names)
    return [
        StepRange(before=before, after=after, share=share, within=within)
        for (before, after), (share, within) in zip(pairs, _shares(steps, cases, off), strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class ActivityRange:
    """How many of the votes for activities one has, done once or repeated, and the range."""

    activity: str
    """The activity."""
    repeated: bool
    """Whether this is for cases that repeat it, or for those that do it once."""
    share: float
    """The noisy share of all cases' votes."""
    within: float
    """In 95 of 100 runs, the share without noise is no further away."""


def activity_ranges(answers: Sequence[Answer]) -> list[ActivityRange]:
    """Give every activity its two ranges, from the answers of a run alone."""
    cases, off = _cases(answers)
    votes = _named(answers, "activities")
    kinds = ((activity, again) for activity in votes.activities for again in (False, True))
    # The last cell is for cases without activities.
    return [
        ActivityRange(activity=activity, repeated=again, share=share, within=within)
        for (activity, again), (share, within) in zip(
            kinds, _shares(votes, cases, off)[:-1], strict=True
        )
    ]


@dataclass(frozen=True, kw_only=True)
class CountRange:
    """How many cases are nearest to a candidate of the final vote, and the range."""

    ids: Ids
    """The candidate, in numbers of the activities that the vote was about."""
    count: int
    """The noisy number of cases."""
    within: int
    """In 95 of 100 runs, the number without noise is no further away."""


def count_ranges(answers: Sequence[Answer]) -> list[CountRange]:
    """Give every candidate of the final vote its range; others of a release have none."""
    final = _named(answers, "final")
    within = ceil(_sure(final.epsilon))
    assert isinstance(final.query, NearestCandidate)
    counts = np.asarray(final.values).ravel().tolist()
    return [
        CountRange(ids=ids, count=count, within=within)
        for ids, count in zip(final.query.candidates, counts, strict=True)
    ]


def _named(answers: Sequence[Answer], name: str) -> Answer:
    return next(answer for answer in answers if answer.query.name == name)


def _sure(epsilon: Fraction) -> float:
    """Laplace noise of scale 1/epsilon is no larger in 95 of 100 draws."""
    return log(1 / (1 - SURE)) / float(epsilon)


def _cases(answers: Sequence[Answer]) -> tuple[float, float]:
    """The noisy number of cases, and how far it is off at most in 95 of 100 runs."""
    cases, variance = count_cases(answers)
    return float(cases), cases_within(variance)


def _shares(answer: Answer, cases: float, off: float) -> list[tuple[float, float]]:
    """Each cell of votes as a share of the cases, with its range."""
    one = _sure(answer.epsilon * VOTE_UNITS)
    shares = np.asarray(answer.values, dtype=np.float64).ravel() / VOTE_UNITS / cases
    # The number of cases has noise of its own; both together, by the root of squares.
    within = np.sqrt(one**2 + (shares * off) ** 2) / cases
    return list(zip(shares.tolist(), within.tolist(), strict=True))


def _scale(settings: CertifiedSettings, unit: Unit, share: Fraction) -> float:
    """1/scale of the noise that a share buys, in whole cases."""
    return float(share * settings.flow_price / unit.max_cases)


def _steps_of(released: VariantCounts) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for ids, complete in zip(released.sequences(), released.complete.tolist(), strict=True):
        path = (-1, *ids, -1) if complete else (-1, *ids)
        found.update(pairwise(path))
    return found
