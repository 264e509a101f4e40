"""Every measure, said once: its name, title, meaning and function.

A new measure is a function in `measures/` and an entry here; commands, experiments and reports
show whatever stands in this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..kernel.cases import CaseBatch
from ..kernel.variants import VariantCounts
from .measures import analysts, attributes, overlap
from .measures.core import orderly_core
from .measures.distances import cycle_time_distance
from .measures.normal import NormalBehaviour
from .measures.performance import Performance, performance
from .measures.quality import ModelQuality, model_quality
from .measures.remaining import remaining_time_error
from .measures.similarity import similarity
from .measures.timed import Timed
from .sequences import share_activities

Reference = Literal["halves", "original"]


class Compared:
    """An original and a release of it, with what several measures need worked out once."""

    def __init__(
        self,
        original: Original,
        released: VariantCounts,
        by_case: CaseBatch | None = None,
    ) -> None:
        """Take a release and, where its cases have times of their own, these cases one by one."""
        self.original = original.variants
        self.released = released
        self._by_case = by_case
        self._known = original

    def attributes(self, function: Callable[..., dict[str, float]], *more: Any) -> dict[str, float]:
        """A measure of each attribute, or pair; none where logs were read without any."""
        before, after = self._known.by_case, self._by_case
        if before is None or after is None or not before.attributes or not after.attributes:
            return {}
        return function(before, after, *more)

    @cached_property
    def values(self) -> dict[str, float]:
        """How far off the values of each attribute are."""
        return self.attributes(attributes.value_distances)

    @cached_property
    def activity_values(self) -> dict[str, float]:
        """The same within each activity, for attributes of events."""
        return self.attributes(attributes.activity_distances)

    @cached_property
    def pair_values(self) -> dict[str, float]:
        """How far off declared pairs are."""
        return self.attributes(attributes.pair_distances, self._known.pairs)

    @property
    def decisions(self) -> float | None:
        """How good a decision tree of the release is."""
        before, after = self._known.by_case, self._by_case
        if not self.values or before is None or after is None:
            return None
        try:
            return attributes.decision_accuracy(before, after, self._known.pairs)
        except ImportError:
            return None

    @cached_property
    def quality(self) -> ModelQuality:
        """The quality, on the original, of the model mined from the whole release."""
        return model_quality(self.original, self.released)

    @cached_property
    def core(self) -> VariantCounts:
        """The orderly core of the release, chosen by the same filter for every release."""
        return orderly_core(self.released)

    @property
    def core_share(self) -> float:
        """The share of the released cases that are in the core."""
        return self.core.cases / max(self.released.cases, 1)

    @property
    def core_quality(self) -> ModelQuality:
        """The quality, on the original, of the model mined from the core alone."""
        return model_quality(self.original, self.core)

    @property
    def normal(self) -> float:
        """The share of released cases that look normal."""
        return self._known.normal.share(self.released)

    @cached_property
    def timed(self) -> tuple[Timed, Timed] | None:
        """The times of both; nothing where one of them has none."""
        if self._known.by_case is None or self._by_case is None:
            return None
        original, released = Timed.both(self._known.by_case, self._by_case)
        return (original, released) if original.cases else None

    @cached_property
    def performance(self) -> Performance | None:
        """How well the release keeps times."""
        return None if self.timed is None else performance(*self.timed)


class Original:
    """An original log, with what concerns it alone worked out once."""

    def __init__(
        self,
        variants: VariantCounts,
        by_case: CaseBatch | None = None,
        pairs: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Take an original with at least one case.

        `by_case` has its times and attributes, where there are any; `pairs` are those to compare.
        """
        self.variants, _ = share_activities(variants, variants)
        self.by_case = by_case
        self.pairs = pairs

    @cached_property
    def normal(self) -> NormalBehaviour:
        """What is normal beside it."""
        return NormalBehaviour(self.variants)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure of how useful a release is."""

    name: str
    """As in tables and JSON."""
    title: str
    """As people read it."""
    meaning: str
    """What it says, in plain words."""
    function: Callable[[Compared], float | None]
    """How it is worked out; None where it cannot be, because a log has no times."""
    lower: bool = False
    """Whether less is better."""
    reference: Reference | None = "halves"
    """What to hold it against: two random halves of the log, or what the log itself gets."""
    timed: bool = False
    """Whether both logs must have more than activities: times, or attributes."""

    @property
    def better(self) -> str:
        """Which way is better, in a word."""
        return "less" if self.lower else "more"


def _of_logs(
    function: Callable[[VariantCounts, VariantCounts], float],
) -> Callable[[Compared], float]:
    return lambda compared: function(compared.original, compared.released)


def _of_times(function: Callable[[Performance], float]) -> Callable[[Compared], float | None]:
    def measure(compared: Compared) -> float | None:
        return None if compared.performance is None else function(compared.performance)

    return measure


def _mean(found: dict[str, float]) -> float | None:
    return float(np.mean(list(found.values()))) if found else None


def _mean_cycle(found: Performance) -> float:
    """How often the mean doubles, or halves; infinite where one is nothing."""
    return abs(float(np.log2(found.mean_ratio))) if found.mean_ratio > 0 else float("inf")


def _cycle_hours(compared: Compared) -> float | None:
    return None if compared.timed is None else cycle_time_distance(*compared.timed)


def _remaining(compared: Compared) -> float | None:
    return None if compared.timed is None else remaining_time_error(*compared.timed)


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="steps", title="Steps", lower=True, function=_of_logs(analysts.steps_distance),
        meaning="directly-follows steps: the share that would have to move (total variation)",
    ),
    Measure(
        name="trigrams", title="3-grams", lower=True, function=_of_logs(analysts.trigrams_distance),
        meaning="three activities in a row: the share that would have to move",
    ),
    Measure(
        name="top_steps", title="Top-20 steps", function=_of_logs(analysts.top_steps_kept),
        meaning="the 20 most frequent steps that are among the 20 of the release",
    ),
    Measure(
        name="activity", title="Activity in % of cases", lower=True,
        function=_of_logs(analysts.activity_error),
        meaning="error of the share of cases in which an activity happens, on average",
    ),
    Measure(
        name="repeated", title="Repeated in % of cases", lower=True,
        function=_of_logs(analysts.repetition_error),
        meaning="error of the share of cases in which an activity is repeated, on average",
    ),
    Measure(
        name="eventually", title="a eventually b", lower=True,
        function=_of_logs(analysts.eventually_error),
        meaning="error of the share of cases in which b comes some time after a, on average",
    ),
    Measure(
        name="length", title="Mean length", lower=True, function=_of_logs(analysts.length_error),
        meaning="how far the mean length of cases is off, relative to the original",
    ),
    Measure(
        name="starts", title="Start activities", lower=True,
        function=_of_logs(analysts.starts_distance),
        meaning="first activities of cases: the share that would have to move",
    ),
    Measure(
        name="ends", title="End activities", lower=True, function=_of_logs(analysts.ends_distance),
        meaning="last activities of cases: the share that would have to move",
    ),
    Measure(
        name="mass_kept", title="Mass kept", function=_of_logs(overlap.mass_kept),
        meaning="original cases whose variant is in the release",
    ),
    Measure(
        name="invented", title="Invented", lower=True, function=_of_logs(overlap.invented),
        meaning="released cases whose variant is not in the original",
    ),
    Measure(
        name="size_error", title="Size error", lower=True, reference=None,
        function=_of_logs(overlap.size_error),
        meaning="how far the number of cases is off, relative to the original",
    ),
    Measure(
        name="similarity", title="Similarity", function=_of_logs(similarity),
        meaning="of how cases spread over variants: 1 − earth mover's distance",
    ),
    Measure(
        name="normal", title="Normal behaviour", function=lambda compared: compared.normal,
        meaning="released cases that look normal beside the original",
    ),
    Measure(
        name="f_score", reference="original", title="F-score",
        function=lambda compared: compared.quality.f_score,
        meaning="harmonic mean of fitness and precision of the model mined from the whole release",
    ),
    Measure(
        name="fitness", reference="original", title="Fitness",
        function=lambda compared: compared.quality.fitness,
        meaning="how completely that model replays the original cases",
    ),
    Measure(
        name="precision", reference="original", title="Precision",
        function=lambda compared: compared.quality.precision,
        meaning="how little behaviour beyond the original that model allows",
    ),
    Measure(
        name="generalization", reference="original", title="Generalization",
        function=lambda compared: compared.quality.generalization,
        meaning="how well the original supports all parts of that model",
    ),
    Measure(
        name="core_share", reference="original", title="Core, share of cases",
        function=lambda compared: compared.core_share,
        meaning="share of the released cases that belong to the orderly core",
    ),
    Measure(
        name="core_f_score", reference="original", title="F-score, core only",
        function=lambda compared: compared.core_quality.f_score,
        meaning="F-score of the model mined from the orderly core alone",
    ),
    Measure(
        name="waits", title="Waits", lower=True, timed=True,
        function=_of_times(lambda found: found.waits),
        meaning="median waits of frequent steps: how far off, in doublings (a lost step counts 10)",
    ),
    Measure(
        name="cycle_time", title="Cycle time", lower=True, timed=True,
        function=_of_times(lambda found: found.cycle_time),
        meaning="how long cases take: how far the distribution is off, in doublings",
    ),
    Measure(
        name="mean_cycle", title="Mean cycle time", lower=True, timed=True,
        function=_of_times(_mean_cycle),
        meaning="how far the mean of how long cases take is off, in doublings",
    ),
    Measure(
        name="bottlenecks", title="Bottlenecks", timed=True,
        function=_of_times(lambda found: found.bottlenecks),
        meaning="the 10 steps with the largest total time that are among the 10 of the release",
    ),
    Measure(
        name="arrivals", title="Arrivals", lower=True, timed=True,
        function=_of_times(lambda found: found.arrivals),
        meaning="months in which cases begin: the share that would have to move",
    ),
    Measure(
        name="cycle_hours", title="Cycle time, hours", lower=True, timed=True,
        function=_cycle_hours,
        meaning="how long cases take: how far the distribution is off, in hours (CTD)",
    ),
    Measure(
        name="remaining", title="Remaining time", lower=True, timed=True,
        function=_remaining,
        meaning="how long cases still take: error of a model of the release, in doublings",
    ),
    Measure(
        name="values", title="Attributes", lower=True, timed=True,
        function=lambda compared: _mean(compared.values),
        meaning="values of attributes: the share that would have to move, mean over attributes",
    ),
    Measure(
        name="values_by_activity", title="Attributes by activity", lower=True, timed=True,
        function=lambda compared: _mean(compared.activity_values),
        meaning="the same within each activity, for attributes of events (a lost one counts 1)",
    ),
    Measure(
        name="value_pairs", title="Pairs of attributes", lower=True, timed=True,
        function=lambda compared: _mean(compared.pair_values),
        meaning="declared pairs of attributes: the share of cases that would have to move",
    ),
    Measure(
        name="decisions", title="Decision tree", timed=True,
        function=lambda compared: compared.decisions,
        meaning="original cases that a decision tree of the release gets right (scikit-learn)",
    ),
)  # fmt: skip
"""As they are shown: what analysts ask first, then what the papers measure, then times."""

BY_NAME = {measure.name: measure for measure in MEASURES}
