"""The mechanism `certified`: semantics-aware, and ε-differentially private as a whole.

The log is asked up to six times (module `looks`), each time through noise that its share of ε pays
for. In between, only answers are read:

1. how many cases there are, and where to cut them if nobody said;
2. votes for steps; those that pass are the semantics, and a chain over them draws sequences;
3. if the log is large enough, the variants that can be shown by name;
4. a list of candidates; each case votes for the nearest one; the best are kept and varied;
5. a last vote over the new list decides how many cases each candidate gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...errors import SettingError
from ...privacy.looks import Spend
from ...privacy.noise import Noise
from ...privacy.unit import ONE_CASE, Unit
from ...semantics.learn import UNPAID
from ...semantics.rules import Rules
from ...variants import Scattered, VariantCounts
from ..protocol import Outcome, Progress, Promise, exact
from .chain import Dice
from .looks import Looks
from .named import all_threshold
from .run import Run
from .shares import DEFAULT_SHARES, Division, Prices, Shares

CUT = (
    "Cases longer than max_length are cut there and marked as unfinished, and so are those of "
    "just that length."
)
INVENTED = (
    "A released variant stands for the cases nearest to it; it need not have occurred itself."
)


@dataclass(frozen=True, kw_only=True)
class Certified:
    """A release that costs exactly ε, needs no tuning and does not fail whatever the log is."""

    epsilon: Fraction
    """The price of the whole release."""
    max_length: int | None = None
    """Longer cases are cut here; None chooses under a share of ε."""
    rules: Rules | None = None
    """Public rules of the process; released cases keep them."""
    unit: Unit = ONE_CASE
    """What is protected."""
    longest: int = 1_000
    """Public upper bound of the length that is chosen where max_length is None."""
    shares: Shares = DEFAULT_SHARES
    """How ε is divided."""
    false_steps: Fraction = Fraction(20)
    """How many false steps may pass, expected; the votes for candidates weed them out."""
    search_least: Fraction = Fraction(3, 2)
    """Candidates with fewer votes than so many noise scales are dropped after the search."""
    last_least: Fraction = Fraction(3)
    """Candidates with fewer votes than so many noise scales count as having none at the end."""
    price: Fraction = Fraction(1)
    """What a representative must be worth, in cases times ε."""
    disorder_price: Fraction = Fraction(11, 2)
    """What it must be worth more for each two activities that it first shows in both orders."""
    rich: Fraction = Fraction(2, 100)
    """Variants are shown by name if the least that shows any variant is below this part of all."""
    candidates: Fraction = Fraction(1, 4)
    """How long the list of candidates is, times cases and ε; within the two bounds below."""
    fewest_candidates: int = 30
    """The list is never shorter than that."""
    most_candidates: int = 500
    """The list is never longer than that."""

    name = "certified"
    works_in_parts = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact("epsilon", self.epsilon))
        for name in ("max_length", "longest", "fewest_candidates", "most_candidates"):
            value = getattr(self, name)
            if value is not None and (value != int(value) or value < 1):
                raise SettingError(name, value, "a whole number, 1 or more")
        for name in ("false_steps", "search_least", "last_least", "rich", "candidates", "price"):
            object.__setattr__(self, name, exact(name, getattr(self, name)))
        if self.rules is not None and self.rules.source == UNPAID:
            raise SettingError(
                "rules",
                self.rules.source,
                "public: certified reads nothing off the log without payment",
            )

    @property
    def division(self) -> Division:
        """How ε is divided with these settings."""
        return self.shares.divide(length=self.max_length is None, rules=self.rules is not None)

    @cached_property
    def prices(self) -> Prices:
        """What each look costs with these settings; worked out once for all runs."""
        return self.division.at(self.epsilon, self.unit.max_cases)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "epsilon": self.epsilon,
            "max_length": self.max_length or "chosen under a share of ε",
            "rules": "none" if self.rules is None else self.rules.source,
        }

    def promise(self) -> Promise:
        """What is promised, and at what price."""
        parts = self.division
        looks = (
            ("size: the number of cases", parts.size),
            ("max_length: the lengths of cases", parts.length),
            ("semantics: votes for steps", parts.semantics),
            ("counts: variants shown by name, and votes for the nearest candidate", parts.counts),
        )
        assumptions = [
            f"max_length is public: {self.max_length}."
            if self.max_length is not None
            else f"{self.longest:,} as the upper bound of max_length is public."
        ]
        if self.rules is not None:
            assumptions.append(f"The rules are public: {self.rules.source}.")
        return Promise(
            looks=tuple(
                Spend(what=what, epsilon=share * self.epsilon) for what, share in looks if share
            ),
            assumptions=tuple(assumptions),
            not_promised=(INVENTED, CUT),
        )

    def run(
        self,
        variants: VariantCounts | Scattered,
        noise: Noise,
        progress: Progress | None = None,
    ) -> Outcome:
        """Look at the counts through noise."""
        looks = Looks(variants, noise, self.unit.max_cases)
        return Run(self, looks, Dice(noise)).release(progress)

    def is_rich(self, size: int, activities: int, max_length: int) -> bool:
        """Whether variants are shown by name, in a log of this (noisy) size."""
        if not self.shares.named:
            return False
        least = all_threshold(self.prices.named.noise, activities, max_length)
        return least * self.rich.denominator <= self.rich.numerator * size

    def list_length(self, size: int) -> int:
        """How many candidates there are, for a log of this (noisy) size."""
        rate = self._candidates_per_case
        wanted = rate.numerator * size // rate.denominator
        return min(max(wanted, self.fewest_candidates), self.most_candidates)

    @cached_property
    def _candidates_per_case(self) -> Fraction:
        return self.candidates * self.epsilon / self.unit.max_cases

    @cached_property
    def representative_price(self) -> Fraction:
        """What a representative must be worth, in cases."""
        return self.price * self.unit.max_cases / self.epsilon
