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
    semantics_with_rules: Fraction = Fraction(35, 100)
    """The votes for steps where rules are given: they leave less to find out."""
    named: Fraction = Fraction(25, 100)
    """The histogram over all sequences; spent only on logs that are large enough for it."""
    search: Fraction = Fraction(10, 100)
    """The vote that finds good candidates."""

    def __post_init__(self) -> None:
        for name in ("size", "semantics", "semantics_with_rules", "search"):
            if getattr(self, name) <= 0:
                raise SettingError(name, getattr(self, name), "above 0")
        for name in ("length", "named"):
            if getattr(self, name) < 0:
                raise SettingError(name, getattr(self, name), "0 or more")
        for rules in (False, True):
            if self.divide(length=True, rules=rules).last(named=True) <= 0:
                raise SettingError("shares", self, "so small that the last vote gets some of ε")

    def divide(self, *, length: bool, rules: bool) -> Division:
        """Divide ε: is max_length to be chosen, and are rules given?"""
        length_share = self.length if length else Fraction(0)
        semantics = self.semantics_with_rules if rules else self.semantics
        return Division(
            size=self.size,
            length=length_share,
            semantics=semantics,
            counts=1 - self.size - length_share - semantics,
            named=self.named,
            search=self.search,
        )


@dataclass(frozen=True, kw_only=True)
class Division:
    """ε as it is divided in one release: size, length, semantics and counts add up to 1."""

    size: Fraction
    length: Fraction
    semantics: Fraction
    counts: Fraction
    """What the histogram and the two votes get together."""
    named: Fraction
    """The histogram's part of the counts, if it is asked."""
    search: Fraction
    """The first vote's part of the counts."""

    def last(self, *, named: bool) -> Fraction:
        """The last vote's part of the counts: what is left of them."""
        return self.counts - self.search - (self.named if named else 0)

    def at(self, epsilon: Fraction, max_cases: int) -> Prices:
        """What everything costs, for units of so many cases."""

        def price(share: Fraction) -> Price:
            return Price(epsilon=share * epsilon, noise=share * epsilon / max_cases)

        return Prices(
            size=price(self.size),
            length=price(self.length),
            semantics=price(self.semantics),
            named=price(self.named),
            search=price(self.search),
            last_named=price(self.last(named=True)),
            last_unnamed=price(self.last(named=False)),
        )


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a look costs, and the noise that this buys."""

    epsilon: Fraction
    """The price."""
    noise: Fraction
    """1/scale of the noise on one vote: it has to hide all cases of a unit."""

    def scales(self, number: Fraction) -> int:
        """So many noise scales, rounded up to whole votes."""
        above = number.numerator * self.noise.denominator
        return -(-above // (number.denominator * self.noise.numerator))


@dataclass(frozen=True, kw_only=True)
class Prices:
    """The price of each look in one release."""

    size: Price
    length: Price
    semantics: Price
    named: Price
    search: Price
    last_named: Price
    """The last vote's, where variants are shown by name."""
    last_unnamed: Price
    """The last vote's, where they are not."""


DEFAULT_SHARES = Shares()
