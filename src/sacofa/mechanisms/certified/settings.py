"""The settings of `certified`, refused at once where they cannot be, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError, is_whole
from ...kernel.attributes import Attribute
from ...kernel.epsilon import Epsilon, parse_epsilon
from ...kernel.unit import Unit
from ...kernel.variants import VariantCounts
from ...rules.rules import Rules
from ...synthesis.flow.frequent import all_threshold
from ...synthesis.flow.orderly import mark_core
from ...synthesis.times.settings import TimeSettings
from ..settings import offered
from .budget import DEFAULT_SHARES, BudgetSplit, Shares

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
    "false_steps", "search_threshold", "final_threshold", "min_gain", "core_min_gain",
    "large_log_ratio", "candidates",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CertifiedSettings:
    """What can be set about `certified`; everything but the first three has a right default."""

    epsilon: Epsilon = offered("epsilon")
    """The price of the whole release: 1, 0.1 or 1/3."""
    max_length: int | None = offered("whole", default=None)
    """Longer cases are truncated here; left out, it is chosen under a share of ε."""
    rules: Rules | None = offered("rules", default=None)
    """Public rules of the process; released cases keep them."""
    earlier: VariantCounts | None = None
    """What earlier releases of the same process show: candidates that cases can vote for."""
    max_length_bound: int = 1_000
    """Public upper bound of the length that is chosen where max_length is None."""
    shares: Shares = DEFAULT_SHARES
    """How ε is divided."""
    time: bool = offered("flag", default=True)
    """Whether a part of ε is spent on times, where the log has them; else times are artificial."""
    time_share: Fraction = offered("number", default=Fraction(9, 20))
    """The part of ε that is spent on times, where the log has them."""
    attribute_share: Fraction = offered("number", default=Fraction(1, 5))
    """The part of ε that is spent on attributes, where any are asked for."""
    attributes: tuple[Attribute, ...] = ()
    """The attributes that are asked for: those that the log was opened with."""
    granularity: str = offered("word", default="second")
    """Times are written as whole seconds, minutes or days: second, minute or day."""
    calendar: str | None = offered("word", default=None)
    """Months in which cases begin, where these are public: 2019-01/2023-12. Fewer months, less
    noise; left out, the years 1970 to 2069."""
    order_penalty: Fraction = offered("number", default=Fraction(6))
    """How many cases an order or a repeat of activities needs to be released, in noise scales. 0 is
    most faithful to the log; more gives more precise models and hides more of what is rare."""
    false_steps: Fraction = Fraction(1, 40)
    """Which part of false steps may pass, expected; the votes for candidates weed them out."""
    search_threshold: Fraction = Fraction(3, 2)
    """Candidates with fewer votes, in noise scales, are dropped after the search."""
    final_threshold: Fraction = Fraction(3)
    """Candidates with fewer votes, in noise scales, count as having none at the end."""
    min_gain: Fraction = Fraction(1)
    """What a representative must gain, in cases times ε (greedy facility location)."""
    core_min_gain: Fraction = Fraction(3)
    """The same for a variant of the orderly core."""
    core_order_penalty: Fraction = Fraction(8)
    """What a variant of the orderly core must gain more, in cases, for each two activities that it
    first shows in both orders."""
    wide: int = 100
    """With more activities, the votes for them get more of ε, and fewer false ones are kept."""
    large_log_ratio: Fraction = Fraction(2, 100)
    """Frequent variants are shown if the least that shows any is below this part of all cases."""
    candidates: Fraction = Fraction(1, 4)
    """How long the list of candidates is, times cases and ε; within the two bounds below."""
    min_candidates: int = 30
    """The list is never shorter than that."""
    max_candidates: int = 500
    """The list is never longer than that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parse_epsilon("epsilon", self.epsilon))
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
        TimeSettings.of(self.granularity, self.calendar)
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

    @property
    def price(self) -> Fraction:
        """ε, exactly."""
        return Fraction(self.epsilon)

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
        return self.shares.split(
            length=self.max_length is None,
            rules=self.rules is not None,
            wide=self.is_wide(activities),
        )

    def is_wide(self, activities: int) -> bool:
        """Whether so many activities are public that choosing among them takes a larger share."""
        return activities > self.wide

    def for_size(self, split: BudgetSplit, size: int, activities: int, unit: Unit) -> BudgetSplit:
        """Divide ε as a log of this (noisy) size asks: noise may be large beside it."""
        cases = size * self.flow_price / unit.max_cases
        tiny = cases * self.shares.size < TINY
        left = cases * (split.activities - split.if_tiny)
        # Of very many activities some have to be chosen, or steps would be too many; and rules let
        # cases repeat what little is known of.
        needless = tiny and self.rules is None and not self.is_wide(activities)
        hidden = needless and left < SCALES_PER_ACTIVITY * activities
        return split.for_size(small=cases * self.shares.size < SMALL, tiny=tiny, hidden=hidden)

    def drops_activities(self, activities: int) -> bool:
        """Whether activities whose votes do not stand out from noise are dropped.

        Only where there are so many that directly-follows pairs of activities that no case has
        would crowd out the others. With fewer, a frequent activity that noise hides would be
        missed more than one that no case has disturbs.
        """
        return self.rules is None and self.is_wide(activities)

    def shows_frequent(
        self, size: int, activities: int, max_length: int, epsilon: Fraction
    ) -> bool:
        """Whether frequent variants are shown in a log of this (noisy) size, at 1/scale epsilon."""
        if not self.shares.frequent:
            return False
        least = all_threshold(epsilon, activities, max_length)
        return least * self.large_log_ratio.denominator <= self.large_log_ratio.numerator * size

    def list_length(self, size: int, unit: Unit) -> int:
        """How many candidates there are, for a log of this (noisy) size."""
        wanted = int(self.candidates * self.flow_price / unit.max_cases * size)
        return min(max(wanted, self.min_candidates), self.max_candidates)

    def medoid_cost(self, unit: Unit, *, core: bool = False) -> Fraction:
        """What a representative, or a variant of the orderly core, must gain, in cases."""
        gain = self.core_min_gain if core else self.min_gain
        return gain * unit.max_cases / self.flow_price

    def mark_core(self, variants: VariantCounts) -> NDArray[np.bool_]:
        """Mark the released variants that are the orderly core."""
        return mark_core(
            variants, self.medoid_cost(variants.unit, core=True), self.core_order_penalty
        )
