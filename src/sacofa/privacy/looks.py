"""Every look at the secret log: paid for (a spend) or not (a leak)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One step that looked at the secret log through noise and paid for it."""

    what: str
    """What was looked at, in plain words."""
    epsilon: Fraction
    """The price."""


@dataclass(frozen=True, kw_only=True)
class Leak:
    """One step that looked at the secret log and paid nothing."""

    what: str
    """What was looked at, in plain words."""
    why: str
    """What follows for the promise."""


Look = Spend | Leak


def total_price(looks: Iterable[Look]) -> Fraction | None:
    """Add up the prices (basic composition); None, for no finite ε, where there is a leak."""
    total = Fraction(0)
    for look in looks:
        if isinstance(look, Leak):
            return None
        total += look.epsilon
    return total
