"""All measures: a name, a title, a meaning and a function each.

To add a measure, write a function in `measures/` and an entry here. Commands, experiments and
reports use this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..kernel.variants import VariantCounts
from .compared import Compared
from .measures import flow, performance
from .measures.remaining import remaining_time_error
from .measures.similarity import similarity
from .measures.timed import Timed

Reference = Literal["halves", "original"]
"""What a measure is compared with: two random halves of the log, or the log itself."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure of how useful a release is.

    Attributes:
        name: Name in tables and JSON.
        title: Name in reports.
        meaning: What it measures.
        function: Computes it; None if it does not apply, because a log has no times.
        lower: Whether less is better.
        reference: What it is compared with.
        timed: Whether both logs must have more than activities: times, or attributes.
    """

    name: str
    title: str
    meaning: str
    function: Callable[[Compared], float | None]
    lower: bool = False
    reference: Reference | None = "halves"
    timed: bool = False

    @property
    def better(self) -> str:
        """Which direction is better, in a word."""
        return "less" if self.lower else "more"


def _of_logs(
    function: Callable[[VariantCounts, VariantCounts], float],
) -> Callable[[Compared], float]:
    return lambda compared: function(compared.original, compared.released)


def _of_times(
    function: Callable[[Timed, Timed], float | None],
) -> Callable[[Compared], float | None]:
    def measure(compared: Compared) -> float | None:
        return None if compared.timed is None else function(*compared.timed)

    return measure


def _mean(found: dict[str, float]) -> float | None:
    return float(np.mean(list(found.values()))) if found else None


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="steps", title="Steps", lower=True, function=_of_logs(flow.steps_distance),
        meaning="directly-follows steps: the share that would have to move (total variation)",
    ),
    Measure(
        name="trigrams", title="3-grams", lower=True, function=_of_logs(flow.trigrams_distance),
        meaning="three activities in a row: the share that would have to move",
    ),
    Measure(
        name="top_steps", title="Top-20 steps", function=_of_logs(flow.top_steps_kept),
        meaning="the 20 most frequent steps that are among the 20 of the release",
    ),
    Measure(
        name="activity", title="Activity in % of cases", lower=True,
        function=_of_logs(flow.activity_error),
        meaning="error of the share of cases in which an activity happens, on average",
    ),
    Measure(
        name="repeated", title="Repeated in % of cases", lower=True,
        function=_of_logs(flow.repetition_error),
        meaning="error of the share of cases in which an activity is repeated, on average",
    ),
    Measure(
        name="eventually", title="a eventually b", lower=True,
        function=_of_logs(flow.eventually_error),
        meaning="error of the share of cases in which b comes some time after a, on average",
    ),
    Measure(
        name="length", title="Mean length", lower=True, function=_of_logs(flow.length_error),
        meaning="how far the mean length of cases is off, relative to the original",
    ),
    Measure(
        name="starts", title="Start activities", lower=True,
        function=_of_logs(flow.starts_distance),
        meaning="first activities of cases: the share that would have to move",
    ),
    Measure(
        name="ends", title="End activities", lower=True, function=_of_logs(flow.ends_distance),
        meaning="last activities of cases: the share that would have to move",
    ),
    Measure(
        name="mass_kept", title="Mass kept", function=_of_logs(flow.mass_kept),
        meaning="original cases whose variant is in the release",
    ),
    Measure(
        name="invented", title="Invented", lower=True, function=_of_logs(flow.invented),
        meaning="released cases whose variant is not in the original",
    ),
    Measure(
        name="size_error", title="Size error", lower=True, reference=None,
        function=_of_logs(flow.size_error),
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
        function=_of_times(performance.wait_error),
        meaning="median waits of frequent steps: how far off, in doublings (a lost step counts 10)",
    ),
    Measure(
        name="cycle_time", title="Cycle time", lower=True, timed=True,
        function=_of_times(performance.cycle_time_error),
        meaning="how long cases take: how far the distribution is off, in doublings",
    ),
    Measure(
        name="mean_cycle", title="Mean cycle time", lower=True, timed=True,
        function=_of_times(performance.mean_cycle_error),
        meaning="how far the mean of how long cases take is off, in doublings",
    ),
    Measure(
        name="bottlenecks", title="Bottlenecks", timed=True,
        function=_of_times(performance.bottlenecks_kept),
        meaning="the 10 steps with the largest total time that are among the 10 of the release",
    ),
    Measure(
        name="arrivals", title="Arrivals", lower=True, timed=True,
        function=_of_times(performance.arrivals_distance),
        meaning="months in which cases begin: the share that would have to move",
    ),
    Measure(
        name="cycle_hours", title="Cycle time, hours", lower=True, timed=True,
        function=_of_times(performance.cycle_time_distance),
        meaning="how long cases take: how far the distribution is off, in hours (CTD)",
    ),
    Measure(
        name="remaining", title="Remaining time", lower=True, timed=True,
        function=_of_times(remaining_time_error),
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
"""In the order of reports: questions of analysts, measures of papers, times, attributes."""

BY_NAME = {measure.name: measure for measure in MEASURES}
"""The measures by name."""
