"""The two mechanisms of the papers: both grow a prefix tree level by level.

`Laplace` is the trace-variant query of Mannhardt, Koschmider, Baracaldo, Weidlich and Michael
("Privacy-Preserving Process Mining", BISE 2019). `Sacofa` is Algorithm 1 of Fahrenkrog-Petersen,
Kabierski, Rösel, van der Aa and Weidlich ("SaCoFa: Semantics-aware Control-flow Anonymization for
Process Mining", ICPM 2021).

A case adds 1 to at most one candidate of each level (to a prefix, or to its end), so a level costs
what its noise costs and the levels add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..errors import SettingError
from ..privacy.looks import Leak, Look, Spend
from ..privacy.noise import Noise
from ..privacy.unit import ONE_CASE, Unit
from ..semantics.free import NoRules
from ..semantics.judge import judge
from ..semantics.learn import learn_rules
from ..semantics.protocol import Semantics
from ..semantics.rules import Rules
from ..variants import VariantCounts
from .growth import MAX_PREFIXES, Growth, grow
from .protocol import Outcome, Progress, Promise, exact

ADMIT_NONE = math.inf
"""As `prune_harmful`: no harmful prefix is admitted at all."""

CUT = (
    "Cases longer than max_length are cut there and marked as unfinished, and so are those of "
    "just that length."
)


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """The trace-variant query answered with Laplace noise on every prefix: the baseline."""

    level_epsilon: Fraction
    """The price of one level; the release costs max_length times as much."""
    max_length: int
    """Longer cases are cut here (the paper's k)."""
    prune: int
    """Prefixes with a lower noisy count are dropped (the paper's p)."""
    prune_finished: bool = True
    """Whether finished prefixes, and those of full length, are pruned too."""
    max_prefixes: int = MAX_PREFIXES
    """A level that would hold more prefixes than this is refused before it is made."""
    unit: Unit = ONE_CASE
    """What is protected."""

    name = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level_epsilon", exact("epsilon", self.level_epsilon))
        _refuse_below_one(self, "max_length", "prune", "max_prefixes")

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "level_epsilon": self.level_epsilon,
            "max_length": self.max_length,
            "prune": self.prune,
            "prune_finished": self.prune_finished,
        }

    def promise(self) -> Promise:
        """What is promised, and at what price."""
        return Promise(
            looks=_level_spends(self.max_length, self.level_epsilon * self.unit.max_cases),
            not_promised=(_per_level(self.level_epsilon, self.max_length), CUT),
        )

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        """Look at the counts through noise."""
        growth = Growth(
            noise_epsilon=self.level_epsilon,
            choice_epsilon=self.level_epsilon,
            max_length=self.max_length,
            prune_harmless=self.prune,
            prune_harmful=None,
            prune_finished=self.prune_finished,
            max_violations=None,
            max_prefixes=self.max_prefixes,
        )
        transcript: dict[str, object] = {}
        free = NoRules(variants.activities)
        released = grow(variants, free, growth, noise, progress, transcript)
        return Outcome(variants=released, transcript=transcript)


@dataclass(frozen=True, kw_only=True)
class Sacofa:
    """The trace-variant query of the SaCoFa paper, answered one prefix length at a time."""

    level_epsilon: Fraction
    """The nominal price of one level."""
    max_length: int
    """Longer cases are cut here (the paper's k)."""
    prune_harmless: int
    """Harmless prefixes with a lower noisy count are dropped."""
    prune_harmful: int | float
    """Harmful prefixes with a lower noisy count are dropped; ADMIT_NONE (∞) admits none."""
    rules: Rules | None = None
    """What makes sense for the process; None reads it off the secret log, as the paper does."""
    max_violations: int | None = None
    """Count violations up to this bound (continuous score); None asks only if there is one."""
    prune_finished: bool = True
    """Whether finished prefixes, and those of full length, are pruned too."""
    judge: Callable[[Rules], Semantics] = judge
    """How rules become a judgement on prefixes; another score function goes here."""
    max_prefixes: int = MAX_PREFIXES
    """A level that would hold more prefixes than this is refused before it is made."""
    unit: Unit = ONE_CASE
    """What is protected."""

    name = "sacofa"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level_epsilon", exact("epsilon", self.level_epsilon))
        _refuse_below_one(self, "max_length", "prune_harmless", "prune_harmful", "max_prefixes")
        if self.max_violations is not None:
            _refuse_below_one(self, "max_violations")
        if self.prune_harmless > self.prune_harmful:
            raise SettingError(
                "prune_harmless",
                self.prune_harmless,
                f"at most prune_harmful ({self.prune_harmful}): harmful prefixes are not favoured",
            )

    @property
    def noise_epsilon(self) -> Fraction:
        """What the noise of one level costs: the continuous score divides ε by its bound."""
        return self.level_epsilon / (self.max_violations or 1)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "level_epsilon": self.level_epsilon,
            "max_length": self.max_length,
            "prune_harmless": self.prune_harmless,
            "prune_harmful": self.prune_harmful,
            "prune_finished": self.prune_finished,
            "score": "binary" if self.max_violations is None else "continuous",
            "max_violations": self.max_violations,
            "rules": "read off the log" if self.rules is None else self.rules.source,
        }

    def promise(self) -> Promise:
        """What is promised, and at what price."""
        spends = _level_spends(self.max_length, self.noise_epsilon * self.unit.max_cases)
        if self.rules is not None:
            return Promise(
                looks=spends,
                assumptions=(
                    f"The rules are public knowledge. Where they come from: {self.rules.source}.",
                ),
                not_promised=(_per_level(self.noise_epsilon, self.max_length), CUT),
            )
        leak = Leak(
            what="the rules of the process, read off the log",
            why="one case can change the rules, and with them what is released, beyond any ε",
        )
        return Promise(
            looks=(leak, *spends),
            not_promised=(
                "No finite ε holds for this release: the rules were read off the secret log "
                "without payment. With public rules it would be "
                f"{self.noise_epsilon * self.max_length * self.unit.max_cases}.",
                CUT,
            ),
        )

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        """Look at the counts through noise."""
        rules = learn_rules(variants) if self.rules is None else self.rules
        growth = Growth(
            noise_epsilon=self.noise_epsilon,
            choice_epsilon=self.level_epsilon / (2 * (self.max_violations or 1)),
            max_length=self.max_length,
            prune_harmless=self.prune_harmless,
            prune_harmful=None if self.prune_harmful == ADMIT_NONE else int(self.prune_harmful),
            prune_finished=self.prune_finished,
            max_violations=self.max_violations,
            max_prefixes=self.max_prefixes,
        )
        semantics = self.judge(rules.over(variants.activities))
        transcript: dict[str, object] = {}
        released = grow(variants, semantics, growth, noise, progress, transcript)
        return Outcome(variants=released, transcript=transcript)


def _refuse_below_one(mechanism: object, *names: str) -> None:
    for name in names:
        value = getattr(mechanism, name)
        if value != ADMIT_NONE and (value != int(value) or value < 1):
            raise SettingError(name, value, "a whole number, 1 or more")
        if value == ADMIT_NONE and name != "prune_harmful":
            raise SettingError(name, value, "finite")


def _level_spends(max_length: int, price: Fraction) -> tuple[Look, ...]:
    return tuple(
        Spend(what=f"noisy counts of the prefixes of length {length}", epsilon=price)
        for length in range(1, max_length + 1)
    )


def _per_level(price: Fraction, max_length: int) -> str:
    return (
        f"ε = {price} is the price of one level; the whole release of {max_length} levels costs "
        f"{price * max_length} per case."
    )
