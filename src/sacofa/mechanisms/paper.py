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
from typing import ClassVar

from ..base.epsilon import Epsilon, parse_epsilon
from ..errors import Argument, SettingError, Statement, is_whole
from ..kernel.accounting import Access, Leak, Spend
from ..kernel.session import Session
from ..kernel.unit import Unit
from ..kernel.variants import MOST_CASES, VariantCounts
from ..rules.kinds import Semantics
from ..rules.learn import learn_rules
from ..rules.rules import Rules
from ..rules.semantics import NoRules, scorer_of
from ..synthesis.margins import Margins, VariantMargins
from .growth import MAX_PREFIXES, Growth, PrefixCounts, grow, level_line
from .protocol import TRUNCATION, Mechanism, Output, Progress, Promise
from .released import ReleasedLog
from .settings import offered

ADMIT_NONE = math.inf
"""As `prune_harmful`: no harmful prefix is admitted at all."""

MAX_LENGTH = 100_000
"""No case is longer than this by far."""

RULES = "rules"
"""The line of the promise that names rules read off the log."""


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """The trace-variant query with Laplace noise on every prefix: the baseline.

    Attributes:
        level_epsilon: Privacy budget of one level, as a number or a fraction. The release spends
            max_length times as much.
        max_length: Truncate cases after this number of events (the paper's k).
        prune: Drop prefixes with a lower noisy count (the paper's p).
        prune_finished: Prune finished prefixes and those of full length as well.
        max_prefixes: Upper bound on the prefixes of a level. A larger level is refused before it is
            computed.
    """

    level_epsilon: Epsilon = offered("epsilon", "epsilon")
    max_length: int = offered("whole")
    prune: int = offered("whole")
    prune_finished: bool = offered("flag", default=True)
    max_prefixes: int = MAX_PREFIXES

    name = "laplace"
    minimal: ClassVar = {"max_length": 2, "prune": 2}

    def __post_init__(self) -> None:
        object.__setattr__(self, "level_epsilon", parse_epsilon("epsilon", self.level_epsilon))
        _refuse_below_one(self, "max_length", "prune", "max_prefixes")

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return _stated(self, "level_epsilon", "max_length", "prune", "prune_finished")

    def promise(self, unit: Unit) -> Promise:
        """What is promised, and at what price."""
        price = Fraction(self.level_epsilon)
        return Promise(
            accesses=_level_spends(self.max_length, price * unit.max_cases),
            not_promised=(_per_level(price, self.max_length), TRUNCATION),
        )

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """From what noisy count on a variant is shown."""
        return self.prune

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask for the prefixes, level by level."""
        growth = Growth(
            choice_epsilon=Fraction(self.level_epsilon),
            max_length=self.max_length,
            prune_harmless=self.prune,
            prune_finished=self.prune_finished,
            max_prefixes=self.max_prefixes,
        )
        price = Fraction(self.level_epsilon) * session.unit.max_cases
        return _release(session, NoRules(session.activities), growth, price, progress)


@dataclass(frozen=True, kw_only=True)
class Sacofa(Mechanism):
    """The trace-variant query of the SaCoFa paper, one prefix length at a time.

    Attributes:
        level_epsilon: Privacy budget of one level, as a number or a fraction. The release spends
            max_length times as much.
        max_length: Truncate cases after this number of events (the paper's k).
        prune: Drop prefixes with a lower noisy count (the paper's p).
        prune_harmless: Threshold of harmless prefixes, instead of prune.
        prune_harmful: Threshold of harmful prefixes, instead of prune. inf drops all of them.
        prune_finished: Prune finished prefixes and those of full length as well.
        rules: Rules of the process. If omitted, they are learned from the confidential log as in
            the paper, and no finite ε can be guaranteed.
        max_violations: Maximum number of violations counted per prefix (continuous score). If
            omitted, one violation counts as much as many.
        scorer: Function that turns rules into a score of prefixes.
        max_prefixes: Upper bound on the prefixes of a level. A larger level is refused before it is
            computed.
    """

    level_epsilon: Epsilon = offered("epsilon", "epsilon")
    max_length: int = offered("whole")
    prune: int | None = offered("whole", default=None)
    prune_harmless: int = offered("whole", default=None)
    prune_harmful: int | float = offered("whole or inf", default=None)
    prune_finished: bool = offered("flag", default=True)
    rules: Rules | None = offered("rules", default=None)
    max_violations: int | None = offered("whole", default=None)
    scorer: Callable[[Rules], Semantics] = scorer_of
    max_prefixes: int = MAX_PREFIXES

    name = "sacofa"
    minimal: ClassVar = {"max_length": 2, "prune": 2}

    def __post_init__(self) -> None:
        object.__setattr__(self, "level_epsilon", parse_epsilon("epsilon", self.level_epsilon))
        both = (self.prune_harmless, self.prune_harmful)
        if self.prune is not None:
            if both not in ((None, None), (self.prune, self.prune)):
                must = Statement("must.be.left_out_with_thresholds")
                raise SettingError("prune", self.prune, must)
            object.__setattr__(self, "prune_harmless", self.prune)
            object.__setattr__(self, "prune_harmful", self.prune)
        elif None in both:
            others = (Argument("prune_harmful"), Argument("prune_harmless"))
            raise SettingError("prune", None, Statement("must.given_or_all", others=others))
        object.__setattr__(self, "prune_harmful", _threshold(self.prune_harmful))
        _refuse_below_one(self, "max_length", "prune_harmless", "prune_harmful", "max_prefixes")
        if self.max_violations is not None:
            _refuse_below_one(self, "max_violations")
        if self.prune_harmless > self.prune_harmful:
            values = {"argument": Argument("prune_harmful"), "value": self.prune_harmful}
            must = Statement("must.at_most_prune_harmful", **values)
            raise SettingError("prune_harmless", self.prune_harmless, must)

    @property
    def noise_epsilon(self) -> Fraction:
        """What the noise of one level costs: the continuous score divides ε by its bound."""
        return Fraction(self.level_epsilon) / (self.max_violations or 1)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        thresholds = ("prune_harmless", "prune_harmful", "prune_finished", "max_violations")
        learned = Statement("setting_value.rules_from_log")
        return {
            **_stated(self, "level_epsilon", "max_length", *thresholds),
            "rules": learned if self.rules is None else self.rules.source.statement,
        }

    def promise(self, unit: Unit) -> Promise:
        """What is promised, and at what price."""
        spends = _level_spends(self.max_length, self.noise_epsilon * unit.max_cases)
        if self.rules is not None and self.rules.source.public:
            return Promise(
                accesses=spends,
                assumptions=(Statement("assumption.rules", source=self.rules.source.statement),),
                not_promised=(_per_level(self.noise_epsilon, self.max_length), TRUNCATION),
            )
        leak = Leak(what=Statement("leak.rules"), why=Statement("leak.rules_why"), line=RULES)
        total = self.noise_epsilon * self.max_length * unit.max_cases
        limits = (Statement("limit.rules_leak", epsilon=total), TRUNCATION)
        return Promise(accesses=(leak, *spends), not_promised=limits)

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """From what noisy count on a harmless variant is shown."""
        return self.prune_harmless

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask for the prefixes, level by level; the rules may have been read off the log."""
        rules = self.rules
        if rules is None or not rules.source.public:
            secret = session.read_unpaid(RULES)
            assert isinstance(secret, VariantCounts)
            rules = learn_rules(secret) if rules is None else rules
        growth = Growth(
            choice_epsilon=Fraction(self.level_epsilon) / (2 * (self.max_violations or 1)),
            max_length=self.max_length,
            prune_harmless=self.prune_harmless,
            prune_harmful=None if self.prune_harmful == ADMIT_NONE else int(self.prune_harmful),
            prune_finished=self.prune_finished,
            max_violations=self.max_violations,
            max_prefixes=self.max_prefixes,
        )
        semantics = self.scorer(rules.project_onto(session.activities))
        price = self.noise_epsilon * session.unit.max_cases
        return _release(session, semantics, growth, price, progress)


def _threshold(value: float | str | None) -> int | float:
    """Take a whole number or infinity, as a number or as text."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise SettingError("prune_harmful", value, Statement("must.be.whole_or_inf", least=1))
    return number if math.isinf(number) or number != int(number) else int(number)


def _refuse_below_one(mechanism: object, *names: str) -> None:
    for name in names:
        value = getattr(mechanism, name)
        if value == ADMIT_NONE and name == "prune_harmful":
            continue
        # Every level has a line of the promise, and no count is above the largest log.
        most = MAX_LENGTH if name == "max_length" else MOST_CASES
        must = None
        if value == ADMIT_NONE:
            must = Statement("must.be.finite")
        elif not (is_whole(value) and value >= 1):
            must = Statement("must.be.whole_at_least", least=1)
        elif value > most:
            must = Statement("must.be.at_most", most=most)
        if must is not None:
            raise SettingError(name, value, must)


def _stated(mechanism: object, *names: str) -> dict[str, object]:
    return {name: getattr(mechanism, name) for name in names}


def _release(
    session: Session,
    semantics: Semantics,
    growth: Growth,
    price: Fraction,
    progress: Progress | None,
) -> Output:
    """Grow the tree; each variant has the noise of one level, or none of its cases exist.

    A candidate that no case has is released where its noise reaches its threshold, and in 5 of 100
    such cases it is further above than Laplace noise is large in 95 of 100. All other figures lack
    the cases whose prefixes were dropped: how far they are off is not known.
    """
    variants = grow(session, semantics, growth, price, progress)
    scale = 1 / float(session.noise_on(1, price).epsilon)
    noise = math.ceil(math.log(20) * scale)
    low = growth.prune_harmful or growth.prune_harmless if growth.prune_finished else 1
    margins = Margins(variants=VariantMargins(certain_from=low + noise + 1, others=noise))
    return Output(log=ReleasedLog(variants=variants), margins=margins)


def _level_spends(max_length: int, price: Fraction) -> tuple[Access, ...]:
    return tuple(
        Spend(what=PrefixCounts(length, length).what, amount=price, line=level_line(length))
        for length in range(1, max_length + 1)
    )


def _per_level(price: Fraction, levels: int) -> Statement:
    return Statement("limit.per_level", epsilon=price, levels=levels, total=price * levels)
