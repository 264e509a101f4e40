"""How ε is divided: exact fractions that add up to 1, whatever is switched on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import SettingError


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The part of ε that each look gets; the last vote gets what the others leave."""

    size: Fraction = Fraction(5, 100)
    """The number of cases."""
    length: Fraction = Fraction(5, 100)
    """The lengths of cases; spent only where max_length is not given."""
    semantics: Fraction = Fraction(40, 100)
    """The votes for steps."""
    named: Fraction = Fraction(25, 100)
    """The histogram over all sequences; spent only on logs that are large enough for it."""
    search: Fraction = Fraction(10, 100)
    """The vote that finds good candidates."""

    def __post_init__(self) -> None:
        for name in ("size", "semantics", "search"):
            if getattr(self, name) <= 0:
                raise SettingError(name, getattr(self, name), "above 0")
        for name in ("length", "named"):
            if getattr(self, name) < 0:
                raise SettingError(name, getattr(self, name), "0 or more")
        if self.final(chosen_length=True, named=True) <= 0:
            raise SettingError("shares", self, "below 1 in all, to leave something for the last")

    def counts(self, *, chosen_length: bool) -> Fraction:
        """What the histogram and the two votes get together."""
        length = self.length if chosen_length else 0
        return 1 - self.size - length - self.semantics

    def final(self, *, chosen_length: bool, named: bool) -> Fraction:
        """What the last vote gets."""
        histogram = self.named if named else 0
        return self.counts(chosen_length=chosen_length) - self.search - histogram


DEFAULT_SHARES = Shares()
