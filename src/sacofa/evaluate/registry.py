"""All measures: a name, a title, a function and a meaning each, and what they are computed from.

To add a measure, write a function in `measures/` and an entry here. Commands, experiments and
reports use this list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

from ..base.batches import gather
from ..kernel.cases import CaseBatch, Cases
from ..kernel.variants import VariantCounts
from .measures import attributes, flow, times
from .measures.model import ModelQuality, model_quality, orderly_core

Measured = VariantCounts | Cases
"""A log or release that is measured: counted variants, or cases that may have times."""
Reference = Literal["halves", "original"]
"""The reference of a measure: two random halves of the log, or the log itself."""


def variants_of(log: Measured) -> VariantCounts:
    """Return the counted variants of a log."""
    variants = log.variants if isinstance(log, Cases) else log
    assert isinstance(variants, VariantCounts)
    return variants


@dataclass(eq=False)
class MeasuredLog:
    """An original or a release in memory, with intermediate results that concern it alone."""

    variants: VariantCounts
    by_case: CaseBatch | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    """Pairs of attributes to compare, by their places."""

    @classmethod
    def of(cls, log: Measured) -> MeasuredLog:
        """Prepare a log in memory."""
        if not isinstance(log, Cases):
            return cls(log)
        by_case = None if log.by_case is None else gather(log.by_case)
        return cls(variants_of(log), by_case, log.pairs)

    @cached_property
    def normal(self) -> flow.NormalBehaviour:
        """A detector of behaviour that is unusual in this log."""
        return flow.NormalBehaviour(self.variants)

    @cached_property
    def core(self) -> VariantCounts:
        """The orderly core, chosen by the same filter for every log."""
        return orderly_core(self.variants)


@dataclass(eq=False)
class Compared:
    """An original, a release of it, and intermediate results that several measures share."""

    original: MeasuredLog
    released: MeasuredLog

    @cached_property
    def errors(self) -> Mapping[str, Mapping[str, float]]:
        """Total variation of each attribute, attribute by activity and pair."""
        before, after = self.original.by_case, self.released.by_case
        if before is None or after is None or not before.attributes or not after.attributes:
            return {"values": {}, "values_by_activity": {}, "value_pairs": {}}
        by_activity = attributes.activity_distances(before, after).items()
        return {
            "values": attributes.value_distances(before, after),
            "values_by_activity": {f"{name}, by activity": error for name, error in by_activity},
            "value_pairs": attributes.pair_distances(before, after, self.original.pairs),
        }

    @property
    def decisions(self) -> float | None:
        """Accuracy, on the original, of a decision tree that learned from the release."""
        before, after = self.original.by_case, self.released.by_case
        if not self.errors["values"] or before is None or after is None:
            return None
        return attributes.decision_accuracy(before, after, self.original.pairs)

    @cached_property
    def quality(self) -> ModelQuality:
        """Quality, on the original, of the model mined from the whole release."""
        return model_quality(self.original.variants, self.released.variants)

    @cached_property
    def timed(self) -> tuple[times.Timed, times.Timed] | None:
        """The times of both; None if one of them has none."""
        if self.original.by_case is None or self.released.by_case is None:
            return None
        both = times.Timed.both(self.original.by_case, self.released.by_case)
        return both if both[0].cases else None


Function = Callable[[Compared], float | None]


@dataclass(frozen=True)
class Measure:
    """One measure of how useful a release is."""

    name: str  # in tables and JSON
    title: str  # in reports
    better: Literal["less", "more"]
    function: Function  # gives None if the measure does not apply, because a log has no times
    meaning: str
    reference: Reference | None = "halves"
    timed: bool = False  # whether both logs must have more than activities: times, or attributes


def _variants(function: flow.LogMeasure) -> Function:
    return lambda compared: function(compared.original.variants, compared.released.variants)


def _times(function: Callable[[times.Timed, times.Timed], float | None]) -> Function:
    return lambda compared: compared.timed and function(*compared.timed)


def _mean_of(kind: str) -> Function:
    return lambda compared: fmean(compared.errors[kind].values()) if compared.errors[kind] else None


MEASURES = (
    Measure("steps", "Steps", "less", _variants(flow.steps_distance),
            "directly-follows steps: the share that would have to move (total variation)"),
    Measure("trigrams", "3-grams", "less", _variants(flow.trigrams_distance),
            "three activities in a row: the share that would have to move"),
    Measure("top_steps", "Top-20 steps", "more", _variants(flow.top_steps_kept),
            "the 20 most frequent steps that are among the 20 of the release"),
    Measure("activity", "Activity in % of cases", "less", _variants(flow.activity_error),
            "error of the share of cases in which an activity happens, on average"),
    Measure("repeated", "Repeated in % of cases", "less", _variants(flow.repetition_error),
            "error of the share of cases in which an activity is repeated, on average"),
    Measure("eventually", "a eventually b", "less", _variants(flow.eventually_error),
            "error of the share of cases in which b comes some time after a, on average"),
    Measure("length", "Mean length", "less", _variants(flow.length_error),
            "how far the mean length of cases is off, relative to the original"),
    Measure("starts", "Start activities", "less", _variants(flow.starts_distance),
            "first activities of cases: the share that would have to move"),
    Measure("ends", "End activities", "less", _variants(flow.ends_distance),
            "last activities of cases: the share that would have to move"),
    Measure("mass_kept", "Mass kept", "more", _variants(flow.mass_kept),
            "original cases whose variant is in the release"),
    Measure("invented", "Invented", "less", _variants(flow.invented),
            "released cases whose variant is not in the original"),
    Measure("size_error", "Size error", "less", _variants(flow.size_error),
            "how far the number of cases is off, relative to the original", reference=None),
    Measure("similarity", "Similarity", "more", _variants(flow.similarity),
            "of how cases spread over variants: 1 − earth mover's distance"),
    Measure("normal", "Normal behaviour", "more",
            lambda c: c.original.normal.share(c.released.variants),
            "released cases that look normal beside the original"),
    Measure("f_score", "F-score", "more", lambda c: c.quality.f_score,
            "harmonic mean of fitness and precision of the model mined from the whole release",
            reference="original"),
    Measure("fitness", "Fitness", "more", lambda c: c.quality.fitness,
            "how completely that model replays the original cases", reference="original"),
    Measure("precision", "Precision", "more", lambda c: c.quality.precision,
            "how little behaviour beyond the original that model allows", reference="original"),
    Measure("generalization", "Generalization", "more", lambda c: c.quality.generalization,
            "how well the original supports all parts of that model", reference="original"),
    Measure("core_share", "Core, share of cases", "more",
            lambda c: c.released.core.cases / max(c.released.variants.cases, 1),
            "share of the released cases that belong to the orderly core", reference="original"),
    Measure("core_f_score", "F-score, core only", "more",
            lambda c: model_quality(c.original.variants, c.released.core).f_score,
            "F-score of the model mined from the orderly core alone", reference="original"),
    Measure("waits", "Waits", "less", _times(times.wait_error),
            "median waits of frequent steps: how far off, in doublings (a lost step counts 10)",
            timed=True),
    Measure("cycle_time", "Cycle time", "less", _times(times.cycle_time_error),
            "how long cases take: how far the distribution is off, in doublings", timed=True),
    Measure("mean_cycle", "Mean cycle time", "less", _times(times.mean_cycle_error),
            "how far the mean of how long cases take is off, in doublings", timed=True),
    Measure("bottlenecks", "Bottlenecks", "more", _times(times.bottlenecks_kept),
            "the 10 steps with the largest total time that are among the 10 of the release",
            timed=True),
    Measure("arrivals", "Arrivals", "less", _times(times.arrivals_distance),
            "months in which cases begin: the share that would have to move", timed=True),
    Measure("cycle_hours", "Cycle time, hours", "less", _times(times.cycle_time_distance),
            "how long cases take: how far the distribution is off, in hours (CTD)", timed=True),
    Measure("remaining", "Remaining time", "less", _times(times.remaining_time_error),
            "how long cases still take: error of a model of the release, in doublings", timed=True),
    Measure("values", "Attributes", "less", _mean_of("values"),
            "values of attributes: the share that would have to move, mean over attributes",
            timed=True),
    Measure("values_by_activity", "Attributes by activity", "less", _mean_of("values_by_activity"),
            "the same within each activity, for attributes of events (a lost one counts 1)",
            timed=True),
    Measure("value_pairs", "Pairs of attributes", "less", _mean_of("value_pairs"),
            "declared pairs of attributes: the share of cases that would have to move", timed=True),
    Measure("decisions", "Decision tree", "more", lambda c: c.decisions,
            "original cases that a decision tree of the release gets right (scikit-learn)",
            timed=True),
)  # fmt: skip
"""In the order of reports: questions of analysts, measures of papers, times, attributes."""

BY_NAME = {measure.name: measure for measure in MEASURES}
"""The measures by name."""
