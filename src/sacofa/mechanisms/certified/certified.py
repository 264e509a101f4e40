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
from math import ceil

import numpy as np

from ...errors import SettingError
from ...privacy.looks import Spend
from ...privacy.noise import Noise
from ...privacy.unit import ONE_CASE, Unit
from ...semantics.learn import UNPAID
from ...semantics.rules import Rules
from ...variants import VariantCounts
from ..protocol import Outcome, Progress, Promise, exact
from .candidates import Proposer
from .chain import Chain, Dice
from .distance import Ids
from .lengths import bin_edges, choose_length
from .looks import VOTE_UNITS, Looks
from .named import all_threshold, show_by_name
from .represent import choose_representatives
from .shares import DEFAULT_SHARES, Shares
from .spread import spread
from .steps import keep_steps

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
    final_least: Fraction = Fraction(3)
    """Candidates with fewer votes than so many noise scales count as having none at the end."""
    price: Fraction = Fraction(1)
    """What a representative must be worth, in cases times ε."""
    disorder_price: Fraction = Fraction(6)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact("epsilon", self.epsilon))
        for name in ("max_length", "longest", "fewest_candidates", "most_candidates"):
            value = getattr(self, name)
            if value is not None and (value != int(value) or value < 1):
                raise SettingError(name, value, "a whole number, 1 or more")
        for name in ("false_steps", "search_least", "final_least", "rich", "candidates", "price"):
            object.__setattr__(self, name, exact(name, getattr(self, name)))
        if self.rules is not None and self.rules.source == UNPAID:
            raise SettingError(
                "rules",
                self.rules.source,
                "public: certified reads nothing off the log without payment",
            )

    @property
    def _noise_epsilon(self) -> Fraction:
        """What ε comes to for one case: a unit may hold several."""
        return self.epsilon / self.unit.max_cases

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "epsilon": self.epsilon,
            "max_length": self.max_length or "chosen under a share of ε",
            "rules": "none" if self.rules is None else self.rules.source,
        }

    def promise(self) -> Promise:
        """What is promised, and at what price."""
        shares, chosen = self.shares, self.max_length is None
        looks = [
            Spend(what="size: the number of cases", epsilon=shares.size * self.epsilon),
            Spend(what="semantics: votes for steps", epsilon=shares.semantics * self.epsilon),
            Spend(
                what="counts: variants shown by name, and votes for the nearest candidate",
                epsilon=shares.counts(chosen_length=chosen) * self.epsilon,
            ),
        ]
        if chosen:
            looks.insert(
                1, Spend(what="max_length: lengths of cases", epsilon=shares.length * self.epsilon)
            )
        assumptions = [
            f"max_length is public: {self.max_length}."
            if self.max_length is not None
            else f"{self.longest:,} as the upper bound of max_length is public."
        ]
        if self.rules is not None:
            assumptions.append(f"The rules are public: {self.rules.source}.")
        return Promise(
            looks=tuple(looks), assumptions=tuple(assumptions), not_promised=(INVENTED, CUT)
        )

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        """Look at the counts through noise."""
        looks = Looks(variants, noise, self.unit.max_cases)
        return self.release(looks, Dice(noise), progress)

    def release(self, looks: Looks, dice: Dice, progress: Progress | None = None) -> Outcome:
        """Make a release of what looks answer and dice show; of nothing else."""
        tell = progress or (lambda done: None)
        price, names = self.epsilon, looks.activities
        notes: list[str] = []
        size = max(looks.size(self.shares.size * price), 1)
        max_length = self.max_length
        if max_length is None:
            edges = bin_edges(self.longest)
            share = self.shares.length * price
            max_length = choose_length(
                edges, looks.lengths(edges, share), share / self.unit.max_cases
            )
            notes.append(f"Cases are cut at length {max_length}, chosen from noisy lengths.")
        looks.cut(max_length)
        tell(0.1)
        rules = None if self.rules is None else self.rules.over(names)
        steps = keep_steps(
            looks.steps(self.shares.semantics * price),
            self.shares.semantics * self._noise_epsilon / VOTE_UNITS,
            self.false_steps,
            rules,
        )
        chain = Chain(steps, max_length, dice)
        proposer = Proposer(steps, chain, dice, rules)
        tell(0.2)
        named = self._is_rich(size, len(names), max_length)
        shown: dict[Ids, int] = {}
        if named:
            histogram = looks.histogram(self.shares.named * price)
            notes += show_by_name(
                histogram,
                steps.as_language(names),
                rules,
                max_length,
                self.shares.named * self._noise_epsilon,
            )
            for (ids, _), count in histogram.shown.items():
                shown[ids] = shown.get(ids, 0) + count
            notes.append(f"{len(shown)} variants were shown by name.")
        tell(0.3)
        length = self._list_length(size)
        candidates = proposer.first(length, shown, size)
        search = self.shares.search
        votes = looks.nearest("search", candidates, search * price)
        tell(0.5)
        cells = spread(votes, ceil(self.search_least / (search * self._noise_epsilon)), size)
        weights = {ids: n for ids, n in zip(candidates, cells.tolist(), strict=True) if n}
        weights.update((ids, 1) for ids in shown if ids not in weights)
        chain.learn(weights)
        candidates = proposer.next(max(length, len(weights)), weights)
        tell(0.7)
        final = self.shares.final(chosen_length=self.max_length is None, named=named)
        votes = looks.nearest("final", candidates, final * price)
        least = ceil(self.final_least / (final * self._noise_epsilon))
        places, cells = choose_representatives(
            candidates,
            np.where(votes >= min(least, votes.max()), votes, 0),
            len(names),
            price=self.price / self._noise_epsilon,
            disorder_price=self.disorder_price / self._noise_epsilon,
        )
        candidates = [candidates[i] for i in places]
        cells = spread(cells, 1, size)
        tell(1.0)
        released = VariantCounts.collect(
            names,
            [i for ids in candidates for i in ids],
            [len(ids) for ids in candidates],
            cells,
            [len(ids) < max_length for ids in candidates],
        )
        return Outcome(variants=released, transcript=looks.transcript, notes=tuple(notes))

    def _is_rich(self, size: int, activities: int, max_length: int) -> bool:
        """Whether variants can be shown by name on a log of this (noisy) size."""
        if not self.shares.named:
            return False
        least = all_threshold(self.shares.named * self._noise_epsilon, activities, max_length)
        return least <= self.rich * size

    def _list_length(self, size: int) -> int:
        wanted = int(self.candidates * size * self._noise_epsilon)
        return min(max(wanted, self.fewest_candidates), self.most_candidates)
