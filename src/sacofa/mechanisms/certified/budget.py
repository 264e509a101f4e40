"""How ε is divided: exact fractions that add up to 1, whatever is switched on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import SettingError


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The part of ε that each query gets; the final vote gets what the others leave."""

    size: Fraction = Fraction(5, 100)
    """The number of cases."""
    length: Fraction = Fraction(5, 100)
    """The lengths of cases; spent only where max_length is not given."""
    semantics: Fraction = Fraction(40, 100)
    """The votes for steps."""
    semantics_with_rules: Fraction = Fraction(35, 100)
    """The votes for steps where rules are given: they leave less to find out."""
    frequent: Fraction = Fraction(25, 100)
    """The histogram over all sequences; spent only on logs that are large enough for it."""
    search: Fraction = Fraction(10, 100)
    """The vote that finds good candidates."""

    def __post_init__(self) -> None:
        for name in ("size", "semantics", "semantics_with_rules", "search"):
            if getattr(self, name) <= 0:
                raise SettingError(name, getattr(self, name), "above 0")
        for name in ("length", "frequent"):
            if getattr(self, name) < 0:
                raise SettingError(name, getattr(self, name), "0 or more")
        for rules in (False, True):
            if self.split(length=True, rules=rules).final(frequent=True) <= 0:
                raise SettingError("shares", self, "so small that the final vote gets some of ε")

    def split(self, *, length: bool, rules: bool) -> BudgetSplit:
        """Divide ε: is max_length to be chosen, and are rules given?"""
        length_share = self.length if length else Fraction(0)
        semantics = self.semantics_with_rules if rules else self.semantics
        return BudgetSplit(
            size=self.size,
            length=length_share,
            semantics=semantics,
            counts=1 - self.size - length_share - semantics,
            frequent=self.frequent,
            search=self.search,
        )


@dataclass(frozen=True, kw_only=True)
class BudgetSplit:
    """ε as it is divided in one release: size, length, semantics and counts add up to 1."""

    size: Fraction
    length: Fraction
    semantics: Fraction
    counts: Fraction
    """What the histogram and the two votes get together."""
    frequent: Fraction
    """The histogram's part of the counts, if it is asked."""
    search: Fraction
    """The first vote's part of the counts."""

    def final(self, *, frequent: bool) -> Fraction:
        """The final vote's part of the counts: what is left of them."""
        return self.counts - self.search - (self.frequent if frequent else 0)


def in_noise_scales(number: Fraction, epsilon: Fraction) -> int:
    """A number of noise scales (1/epsilon each), rounded up to whole votes."""
    above = number.numerator * epsilon.denominator
    return -(-above // (number.denominator * epsilon.numerator))


DEFAULT_SHARES = Shares()
