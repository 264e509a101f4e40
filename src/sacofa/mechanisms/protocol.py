"""What every mechanism offers: its promise before any log is read, and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from ..errors import SettingError
from ..privacy.looks import Look
from ..privacy.noise import Noise
from ..privacy.unit import Unit
from ..variants import VariantCounts

Progress = Callable[[float], None]

LARGEST_TERM = 10**12
LONGEST_EXPONENT = 4
"""1e999999999 would be a number that fills the memory before anyone can refuse it."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a mechanism promises, and at what price: known before any log is read."""

    looks: tuple[Look, ...]
    """Every look that the run takes at the log."""
    assumptions: tuple[str, ...] = ()
    """What is taken to be public or true."""
    not_promised: tuple[str, ...] = ()
    """What a reader might expect and must not."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gives: the private variants, and everything the mechanism saw after noise."""

    variants: VariantCounts
    """What may be released."""
    transcript: Mapping[str, object] = field(default_factory=dict)
    """Every noisy value that was seen on the way: what the proof protects and the audit tests."""
    notes: tuple[str, ...] = ()
    """What the certificate should say about this run; made of noisy values only."""


class Mechanism(Protocol):
    """Turns secret counts into private ones.

    Any object with these members can be given to `anonymize`, from outside the package too. One
    that can look at `Scattered` variants as well says so: its `works_in_parts` is True.
    """

    @property
    def name(self) -> str:
        """The name that the certificate gives."""

    @property
    def unit(self) -> Unit:
        """What is protected."""

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""

    def promise(self) -> Promise:
        """What is promised, and at what price."""

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        """Look at the counts through noise."""


def exact(name: str, value: Fraction | float | str) -> Fraction:
    """Take a price as the decimal or fraction that a person wrote: 0.1 is one tenth."""
    try:
        text = str(value) if isinstance(value, float) else value
        if isinstance(text, str) and len(text.lower().partition("e")[2]) > LONGEST_EXPONENT:
            raise ValueError(text)
        number = Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise SettingError(name, value, "a positive number such as 1, 0.1 or 1/3") from None
    if number <= 0:
        raise SettingError(name, value, "above 0")
    if max(number.numerator, number.denominator) > LARGEST_TERM:
        raise SettingError(name, value, f"a fraction of numbers up to {LARGEST_TERM:,}")
    return number
