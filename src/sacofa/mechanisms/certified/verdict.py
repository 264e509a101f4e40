"""How sure a release is: from noise, and from noisy numbers, alone. So it is free to say.

Before anything is spent, the numbers of activities and cases and ε tell how much noise there will
be beside how much there is to see. After a run, the answers say the same of this log.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from math import ceil

from ...errors import SettingError
from ...privacy.epsilon import LARGEST_EPSILON
from ...unit import ONE_CASE, Unit
from ...variants import VariantCounts
from .budget import BudgetSplit
from .settings import CertifiedSettings

RELIABLE = 0.10
"""The noise of the steps, as a part of all votes, up to which a release is reliable."""
ROUGH = 0.30
"""The noise of the steps, as a part of all votes, up to which a release is rough. Beyond, more than
half of the steps that were released were off, on all logs of long cases that were tried."""
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
        noise = f"noise is about {self.noise:.0%} of what is to be seen"
        if self.noise >= 1:
            noise = "noise hides all that is to be seen"
        if self.sureness is Sureness.RELIABLE:
            return f"{self.sureness.value}: {noise}."
        needed = f"{self.cases_needed:,} cases"
        if self.epsilon_needed <= LARGEST_EPSILON:
            # Two figures are enough below ten; whole numbers above, never powers of ten.
            epsilon = float(self.epsilon_needed)
            needed += f" or ε = {f'{epsilon:.2g}' if epsilon < 10 else ceil(epsilon)}"
        return f"{self.sureness.value}: {noise}; {needed} would do."


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


def _scale(settings: CertifiedSettings, unit: Unit, share: Fraction) -> float:
    """1/scale of the noise that a share buys, in whole cases."""
    return float(share * settings.flow_price / unit.max_cases)


def _steps_of(released: VariantCounts) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for ids, complete in zip(released.sequences(), released.complete.tolist(), strict=True):
        path = (-1, *ids, -1) if complete else (-1, *ids)
        found.update(pairwise(path))
    return found
