"""Every access to the secret log: paid for (a spend) or not (a leak)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One query to the secret log that was answered through noise and paid for."""

    what: str
    """What was asked, in plain words."""
    epsilon: Fraction
    """The price."""
    line: str = field(default="", compare=False)
    """The line of the promise that it is charged to."""


@dataclass(frozen=True, kw_only=True)
class Leak:
    """One step that read the secret log and paid nothing."""

    what: str
    """What was read, in plain words."""
    why: str
    """What follows for the promise."""
    line: str = field(default="", compare=False)
    """The line of the promise that names it."""


Access = Spend | Leak


def total_epsilon(accesses: Iterable[Access]) -> Fraction | None:
    """Add up the prices (basic composition); None, for no finite ε, where there is a leak."""
    total = Fraction(0)
    for access in accesses:
        if isinstance(access, Leak):
            return None
        total += access.epsilon
    return total
