"""How ε is divided: exact fractions that add up to 1, whatever is switched on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2

from ...errors import SettingError

HUNDREDTH = Fraction(1, 100)
USUAL_LENGTH = 10
"""Cases of about that length leave the shares as they are."""
PER_DOUBLING = 8
"""If cases are twice as long, so many hundredths of ε move from the final vote to steps: a case
spreads its vote over twice as many, and fewer cases are alike."""
LEAST_MOVED, MOST_MOVED = -4, 10
"""No fewer hundredths move, and no more."""

FOR_TRIGRAMS = Fraction(2, 3)
"""The part of the final vote that votes for 3-grams take, where hardly two cases are alike."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The part of ε that each query gets; the final vote gets what the others leave."""

    size: Fraction = Fraction(4, 100)
    """The number of cases."""
    length: Fraction = Fraction(5, 100)
    """The lengths of cases, where max_length is not given; in tiny logs votes for steps get it."""
    activities: Fraction = Fraction(15, 100)
    """The votes for activities that happen, once or repeatedly."""
    wide: Fraction = Fraction(8, 100)
    """What the votes for activities get more where there are many; the histogram leaves it, or else
    the final vote."""
    semantics: Fraction = Fraction(34, 100)
    """The votes for steps."""
    semantics_with_rules: Fraction = Fraction(29, 100)
    """The votes for steps where rules are given: they leave less to find out."""
    frequent: Fraction = Fraction(18, 100)
    """The histogram over all sequences; spent only on logs that are large enough for it."""
    search: Fraction = Fraction(7, 100)
    """The vote that finds good candidates."""
    size_again: Fraction = Fraction(6, 100)
    """The number of cases once more, in logs that are small for ε; the final vote leaves it."""
    tiny: Fraction = Fraction(12, 100)
    """What the votes for activities leave to those for steps in logs that are tiny for ε; all that
    they have, where the rest would tell nothing."""

    def __post_init__(self) -> None:
        for name in ("size", "activities", "semantics", "semantics_with_rules", "search"):
            if getattr(self, name) <= 0:
                raise SettingError(name, getattr(self, name), "above 0")
        for name in ("length", "frequent", "wide", "size_again", "tiny"):
            if getattr(self, name) < 0:
                raise SettingError(name, getattr(self, name), "0 or more")
        if self.frequent and self.wide >= self.frequent:
            raise SettingError("wide", self.wide, "less than the histogram gets")
        if self.tiny >= self.activities:
            raise SettingError("tiny", self.tiny, "less than the votes for activities get")
        for rules in (False, True):
            split = self.split(length=True, rules=rules, wide=True)
            # Small logs leave the final vote least, and long cases take from that.
            least = split.for_size(small=True, tiny=True).final(frequent=True)
            if least <= MOST_MOVED * HUNDREDTH:
                raise SettingError("shares", self, "so small that the final vote gets some of ε")

    def split(self, *, length: bool, rules: bool, wide: bool) -> BudgetSplit:
        """Divide ε: is max_length to be chosen, are rules given, are there many activities?"""
        length_share = self.length if length else Fraction(0)
        semantics = self.semantics_with_rules if rules else self.semantics
        moved = self.wide if wide else Fraction(0)
        return BudgetSplit(
            size=self.size,
            length=length_share,
            activities=self.activities + moved,
            semantics=semantics,
            counts=1 - self.size - length_share - self.activities - moved - semantics,
            frequent=self.frequent - moved if self.frequent else self.frequent,
            search=self.search,
            if_tiny=self.tiny,
            if_small=self.size_again,
        )


@dataclass(frozen=True, kw_only=True)
class BudgetSplit:
    """ε as it is divided in one release: all but the parts of the counts add up to 1."""

    size: Fraction
    length: Fraction
    activities: Fraction
    """0: they are not asked for."""
    semantics: Fraction
    counts: Fraction
    """What the histogram and the two votes get together."""
    frequent: Fraction
    """The histogram's part of the counts, if it is asked."""
    search: Fraction
    """The first vote's part of the counts."""
    if_tiny: Fraction
    """What moves from activities to steps in tiny logs; what lengths get does so as well."""
    if_small: Fraction
    """What the number of cases gets once more, of the counts, in small logs."""
    size_again: Fraction = Fraction(0)
    """The same in this release."""

    def for_size(self, *, small: bool, tiny: bool, hidden: bool = False) -> BudgetSplit:
        """Divide the rest as the first answer asks; `hidden`: noise would hide all activities."""
        moved = self.if_tiny if tiny else Fraction(0)
        if hidden:
            moved = self.activities
        # Noise would hide all lengths of so few cases.
        length = Fraction(0) if tiny else self.length
        return replace(
            self,
            length=length,
            activities=self.activities - moved,
            semantics=self.semantics + moved + self.length - length,
            size_again=self.if_small if small else Fraction(0),
        )

    def for_length(self, mean: float) -> BudgetSplit:
        """Divide what is left as the (noisy) mean length of cases asks."""
        wanted = round(PER_DOUBLING * log2(max(mean, 1.0) / USUAL_LENGTH))
        moved = min(max(wanted, LEAST_MOVED), MOST_MOVED) * HUNDREDTH
        return replace(self, semantics=self.semantics + moved, counts=self.counts - moved)

    def final(self, *, frequent: bool, trigrams: bool = False) -> Fraction:
        """The final vote's part of the counts: what is left of them."""
        left = self.counts - self.size_again - self.search - (self.frequent if frequent else 0)
        return left - self.trigrams(frequent=frequent) if trigrams else left

    def trigrams(self, *, frequent: bool) -> Fraction:
        """What votes for 3-grams take from the final vote, where they are asked."""
        return FOR_TRIGRAMS * self.final(frequent=frequent)


DEFAULT_SHARES = Shares()
SHARES_WITH_DELTA = Shares(
    size=Fraction(2, 100), length=Fraction(4, 100), activities=Fraction(10, 100),
    semantics=Fraction(40, 100), semantics_with_rules=Fraction(34, 100), search=Fraction(8, 100),
    size_again=Fraction(2, 100), tiny=Fraction(8, 100),
)  # fmt: skip
"""The same where a δ is given. Noise goes with 1 over the root of a share: small ones are enough
for answers with few cells. On five generated logs, three seeds each, half as much or twice as much
for activities, or more for steps, made no clear difference."""
