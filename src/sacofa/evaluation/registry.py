"""Every measure, said once: its name, title, meaning and function.

A new measure is a function in `measures/` and an entry here; commands, experiments and reports
show whatever stands in this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ..variants import VariantCounts
from .measures import analysts, overlap
from .measures.normal import NormalBehaviour
from .measures.quality import ModelQuality, model_quality
from .measures.similarity import similarity
from .sequences import share_activities

Reference = Literal["halves", "original"]


class Compared:
    """An original and a release of it, with what several measures need worked out once."""

    def __init__(self, original: Original, released: VariantCounts) -> None:
        """Take a release."""
        self.original = original.variants
        self.released = released
        self._known = original

    @cached_property
    def quality(self) -> ModelQuality:
        """The quality of the release's model on the original."""
        return model_quality(self.original, self.released)

    @property
    def normal(self) -> float:
        """The share of released cases that look normal."""
        return self._known.normal.share(self.released)


class Original:
    """An original log, with what concerns it alone worked out once."""

    def __init__(self, variants: VariantCounts) -> None:
        """Take an original with at least one case."""
        self.variants, _ = share_activities(variants, variants)

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
    function: Callable[[Compared], float]
    """How it is worked out."""
    lower: bool = False
    """Whether less is better."""
    reference: Reference | None = "halves"
    """What to hold it against: two random halves of the log, or what the log itself gets."""


def _of_logs(
    function: Callable[[VariantCounts, VariantCounts], float],
) -> Callable[[Compared], float]:
    return lambda compared: function(compared.original, compared.released)


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
        meaning="of fitness and precision: a model found in the release, judged on the original",
    ),
    Measure(
        name="fitness", reference="original", title="Fitness",
        function=lambda compared: compared.quality.fitness,
        meaning="how well that model replays the original",
    ),
    Measure(
        name="precision", reference="original", title="Precision",
        function=lambda compared: compared.quality.precision,
        meaning="how little else that model allows",
    ),
    Measure(
        name="generalization", reference="original", title="Generalization",
        function=lambda compared: compared.quality.generalization,
        meaning="how well the original supports all parts of that model",
    ),
)  # fmt: skip
"""In the order in which they are shown: what analysts ask first, then what the papers measure."""

BY_NAME = {measure.name: measure for measure in MEASURES}
