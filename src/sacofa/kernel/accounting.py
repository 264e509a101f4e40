"""Every access to the secret log: paid for (a spend) or not (a leak)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from .errors import SettingError
from .statements import Statement, stated

SMALLEST_PER_CASE = Fraction(1, 10**9)
"""Below this, noise hides all cases of any log that there is, and no machine word holds it."""


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One query to the secret log that was answered through noise and paid for."""

    what: Statement
    """What was asked; a string is its own wording."""
    epsilon: Fraction
    """The price."""
    line: str = field(default="", compare=False)
    """The line of the promise that it is charged to."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", stated(self.what))


@dataclass(frozen=True, kw_only=True)
class Leak:
    """One step that read the secret log and paid nothing."""

    what: Statement
    """What was read; a string is its own wording."""
    why: Statement
    """What follows for the promise."""
    line: str = field(default="", compare=False)
    """The line of the promise that names it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", stated(self.what))
        object.__setattr__(self, "why", stated(self.why))


Access = Spend | Leak


def total_epsilon(accesses: Iterable[Access]) -> Fraction | None:
    """Add up the prices (basic composition); None, for no finite ε, where there is a leak."""
    total = Fraction(0)
    for access in accesses:
        if isinstance(access, Leak):
            return None
        total += access.epsilon
    return total


def check_noise_fits(accesses: Iterable[Access], max_cases: int) -> None:
    """Refuse prices so small, for the cases of a unit, that their noise fits no machine word.

    Noise on a cell has scale max_cases · sensitivity / ε, and sensitivities are bounded. So with
    this bound noise beyond 2^62 is drawn less than once in e^4,000,000 draws. It depends on public
    settings alone, and holds before anything is charged: afterwards nothing is refused.
    """
    for access in accesses:
        least = SMALLEST_PER_CASE * max_cases
        if isinstance(access, Spend) and access.epsilon < least:
            value = f"{float(access.epsilon):.3g} for {access.what}"
            bound, factor = float(least), float(least / access.epsilon)
            must = Statement("must.fit_noise", least=bound, cases=max_cases, factor=factor)
            raise SettingError("epsilon", value, must)
