"""The settings of `certified`, refused at once where they cannot be, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...base.claims import FOR_SELECTION
from ...base.epsilon import LARGEST_DELTA, Epsilon, parse_epsilon
from ...errors import SettingError, is_whole
from ...kernel.accounting import ZCDP, Budget, PureDP
from ...kernel.attributes import Attribute
from ...kernel.laws import Law
from ...kernel.unit import Unit
from ...kernel.variants import VariantCounts
from ...rules.rules import Rules
from ...synthesis.flow.frequent import all_threshold
from ...synthesis.flow.release import mark_core
from ...synthesis.times.ask import TimeSettings
from ..settings import offered
from .budget import DEFAULT_SHARES, SHARES_WITH_DELTA, BudgetSplit, Shares

FLOW = "flow"
"""The line of the promise that all queries about control flow but the first are charged to: how it
is divided among them depends on what is answered."""
LONGEST = 100_000
"""No case is longer than this by far, and the universe of sequences must stay countable."""
SMALL = 32
"""Below so many noise scales of cases in the first answer about the size, a log is small."""
TINY = 12
"""Below so many, votes for activities tell next to nothing."""
SCALES_PER_ACTIVITY = Fraction(1, 2)
"""If such a log has fewer noise scales of cases for each activity, they tell nothing at all."""
FROM_TIMES = Fraction(2, 3)
"""Times leave attributes so much less than in proportion: they are noisier than the flow."""
OF_TIMES = ("time_share", "granularity", "calendar")
"""Settings that say something about times alone."""
TUNED = (
    "false_steps", "core_min_gain", "large_log_ratio", "candidates",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CertifiedSettings:
    """Settings of `certified`. All but ε have a default that suits most logs.

    Attributes:
        epsilon: Privacy budget of the whole release, as a number or a fraction: 1, 0.1 or 1/3.
        delta: Probability with which the limit that ε sets may fail, such as 1e-6: far below one in
            the number of cases. Noise is then Gaussian, which is more exact for long cases.
            Default: 0, pure ε.
        max_length: Truncate cases after this number of events. If omitted, a share of ε is spent on
            choosing it.
        rules: Public rules of the process. Released cases obey them.
        earlier: Variants of earlier releases of the same process, as further candidates.
        max_length_bound: Public upper bound of a max_length that is chosen under a share of ε.
        shares: Shares of ε for each group of queries.
        time: Spend a share of ε on times if the log has them. Otherwise times are artificial.
        time_share: Share of ε that is spent on times if the log has them.
        attribute_share: Share of ε that is spent on attributes if any are released.
        attributes: The attributes to release: those that the log was opened with.
        granularity: Precision of released times: second, minute or day.
        calendar: Public range of months in which cases begin, such as 2019-01/2023-12. A shorter
            range means less noise. Default: the years 1970 to 2069.
        order_penalty: Number of cases, in noise scales, that an order or a repeat of activities
            needs to be released. 0 is most faithful to the log. Higher values give more precise
            process models and suppress more rare behaviour.
        false_steps: Expected share of false directly-follows pairs that pass. The votes for
            candidates remove them later.
        core_min_gain: Gain, in cases times ε, that each variant of the orderly core needs (greedy
            facility location).
        core_order_penalty: Additional gain, in cases, that a variant of the orderly core needs for
            each pair of activities that it is the first to show in both orders.
        wide: With more activities than this, votes for activities get a larger share of ε, and
            fewer false ones are kept.
        large_log_ratio: Variants are published individually if the threshold for that is below this
            share of all cases.
        candidates: Length of the list of candidates, as a multiple of cases times ε.
        min_candidates: Lower bound of the length of the list.
        max_candidates: Upper bound of the length of the list.
    """

    epsilon: Epsilon = offered("epsilon")
    delta: Fraction = offered("number", default=Fraction(0))
    max_length: int | None = offered("whole", default=None)
    rules: Rules | None = offered("rules", default=None)
    earlier: VariantCounts | None = None
    max_length_bound: int = 1_000
    shares: Shares = DEFAULT_SHARES
    time: bool = offered("flag", default=True)
    time_share: Fraction = offered("number", default=Fraction(9, 20))
    attribute_share: Fraction = offered("number", default=Fraction(1, 5))
    attributes: tuple[Attribute, ...] = ()
    granularity: str = offered("word", default="second")
    calendar: str | None = offered("word", default=None)
    order_penalty: Fraction = offered("number", default=Fraction(6))
    false_steps: Fraction = Fraction(1, 40)
    core_min_gain: Fraction = Fraction(3)
    core_order_penalty: Fraction = Fraction(8)
    wide: int = 100
    large_log_ratio: Fraction = Fraction(2, 100)
    candidates: Fraction = Fraction(1, 4)
    min_candidates: int = 30
    max_candidates: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parse_epsilon("epsilon", self.epsilon))
        delta = parse_epsilon("delta", self.delta, LARGEST_DELTA, may_be_zero=True)
        object.__setattr__(self, "delta", delta)
        for name in ("max_length", "max_length_bound", "min_candidates", "max_candidates"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and value >= 1):
                raise SettingError(name, value, "a whole number, 1 or more")
        for name in ("max_length", "max_length_bound"):
            if (getattr(self, name) or 0) > LONGEST:
                raise SettingError(name, getattr(self, name), f"at most {LONGEST:,}")
        for name in ("time_share", "attribute_share"):
            share = parse_epsilon(name, getattr(self, name), None)
            if share >= 1:
                raise SettingError(name, getattr(self, name), "above 0 and below 1")
            object.__setattr__(self, name, share)
        # It refuses what is no granularity, and no calendar.
        TimeSettings(granularity=self.granularity, calendar=self.calendar)
        if not self.time:
            for name in OF_TIMES:
                if getattr(self, name) != getattr(CertifiedSettings, name):
                    must = "left out where no times are released"
                    raise SettingError(name, getattr(self, name), must)
        # 0 is a setting of its own: keep every order.
        penalty = self.order_penalty
        if penalty not in (0, "0"):
            penalty = parse_epsilon("order_penalty", penalty, None)
        object.__setattr__(self, "order_penalty", Fraction(penalty))
        for name in TUNED:
            object.__setattr__(self, name, parse_epsilon(name, getattr(self, name), None))
        if self.rules is not None and not self.rules.source.public:
            raise SettingError(
                "rules",
                self.rules.source,
                "public: certified reads nothing off a secret log without payment (if a person "
                "made these rules their own, say so as the source in the file)",
            )
        if self.flow_price <= 0:
            must = "less: with what attributes get, nothing is left for control flow"
            raise SettingError("time_share", self.time_share, must)

    @cached_property
    def budget(self) -> Budget:
        """The budget of the release, in ε or in ρ."""
        epsilon = Fraction(self.epsilon)
        if not self.delta:
            return PureDP(epsilon)
        selection = FOR_SELECTION * self.delta if self.split().frequent else Fraction(0)
        return ZCDP(epsilon, self.delta, selection)

    @property
    def price(self) -> Fraction:
        """The amount of the budget, exactly: ε, or ρ where a δ is given."""
        return self.budget.amount

    def noise(self, unit: Unit, share: Fraction, change: int = 1) -> Law:
        """The noise that a share of the flow buys for a table that one case changes by so much."""
        return self.budget.law(change * unit.max_cases, share * self.flow_price)

    @property
    def flow_price(self) -> Fraction:
        """What is spent on control flow."""
        return self.price - self.attribute_price - self.time_price

    @property
    def attribute_price(self) -> Fraction:
        """What is spent on attributes."""
        return self.price * self.attribute_share if self.attributes else Fraction(0)

    @property
    def time_price(self) -> Fraction:
        """What is spent on times: their share, less a part of what attributes take."""
        share = self.time_share * (self.price - FROM_TIMES * self.attribute_price)
        return share if self.time else Fraction(0)

    def split(self, activities: int = 0) -> BudgetSplit:
        """How ε is divided with these settings, for so many activities."""
        usual = self.delta and self.shares == DEFAULT_SHARES
        return (SHARES_WITH_DELTA if usual else self.shares).split(
            length=self.max_length is None,
            rules=self.rules is not None,
            wide=self.is_wide(activities),
        )

    def is_wide(self, activities: int) -> bool:
        """Whether so many activities are public that choosing among them takes a larger share."""
        return activities > self.wide

    def for_size(self, split: BudgetSplit, size: int, activities: int, unit: Unit) -> BudgetSplit:
        """Divide ε as a log of this (noisy) size asks: noise may be large beside it."""
        cases = size * self.noise(unit, split.size).epsilon
        # Each of n Euclidean votes is 1/√n of a case, not 1/n: half as many cases tell as much.
        tiny = cases * (2 if self.delta else 1) < TINY
        left = size * self.noise(unit, split.activities - split.if_tiny).epsilon
        # Of very many activities some have to be chosen, or steps would be too many; and rules let
        # cases repeat what little is known of.
        needless = tiny and self.rules is None and not self.is_wide(activities)
        hidden = needless and left < SCALES_PER_ACTIVITY * activities
        return split.for_size(small=cases < SMALL, tiny=tiny, hidden=hidden)

    def drops_activities(self, activities: int) -> bool:
        """Whether activities whose votes do not stand out from noise are dropped.

        Only where there are so many that directly-follows pairs of activities that no case has
        would crowd out the others. With fewer, a frequent activity that noise hides would be
        missed more than one that no case has disturbs.
        """
        return self.rules is None and self.is_wide(activities)

    def published_from(
        self, split: BudgetSplit, unit: Unit, activities: int, max_length: int | None
    ) -> int | None:
        """The count from which any variant is published individually; None: never, or unknown.

        A part of δ covers variants that a unit has: then all others need not be hidden in noise.
        """
        if not split.frequent:
            return None
        law = self.noise(unit, split.frequent)
        if isinstance(self.budget, ZCDP):
            return self.budget.shown_from(law, unit.max_cases)
        return None if max_length is None else all_threshold(law, activities, max_length)

    def list_length(self, size: int, unit: Unit) -> int:
        """How many candidates there are, for a log of this (noisy) size."""
        share = self.split().final(frequent=False)
        wanted = int(self.candidates * size * self.noise(unit, share).epsilon / share)
        return min(max(wanted, self.min_candidates), self.max_candidates)

    def mark_core(self, variants: VariantCounts) -> NDArray[np.bool_]:
        """Mark the released variants that are the orderly core."""
        share = self.split().final(frequent=False)
        cost = self.core_min_gain * share / self.noise(variants.unit, share).epsilon
        return mark_core(variants, cost, self.core_order_penalty)
