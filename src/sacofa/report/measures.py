"""How useful a release is, as lines of an internal report. Secret."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import MissingExtraError
from ..evaluation import evaluate_release
from ..evaluation.measures.overlap import invented, mass_kept, size_error
from ..variants import VariantCounts
from .page import say_percent

MEANINGS = {
    "f_score": (
        "F-score",
        "of fitness and precision: a model found in the release, judged on the original",
    ),
    "fitness": ("Fitness", "how well that model replays the original"),
    "precision": ("Precision", "how little else that model allows"),
    "generalization": ("Generalization", "how well the original supports all parts of that model"),
    "normal": ("Normal behaviour", "released cases that look normal beside the original"),
    "similarity": (
        "Similarity",
        "of how cases spread over variants: 1 − earth mover's distance",
    ),
    "mass_kept": ("Mass kept", "original cases whose variant is in the release"),
    "invented": ("Invented", "released cases whose variant is not in the original"),
    "size_error": ("Size error", "how far the number of cases is off"),
}
SHARES = {"normal", "mass_kept", "invented", "size_error"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What could be measured, and what to install for the rest."""

    lines: tuple[Line, ...]
    missing: str | None


def measure(original: VariantCounts, released: VariantCounts) -> Measured:
    """Measure a release, or as much as can be without the optional libraries."""
    missing = None
    values: dict[str, float] = {}
    if not original.cases:
        return Measured(lines=(), missing="The original log has no cases to measure by.")
    try:
        measures = evaluate_release(original, released)
        values = {name: getattr(measures, name) for name in MEANINGS}
    except MissingExtraError as error:
        missing = f"Only a part could be measured: {error}."
        values = {
            "mass_kept": mass_kept(original, released),
            "invented": invented(original, released),
            "size_error": size_error(original, released),
        }
    lines = (
        Line(
            name=MEANINGS[name][0],
            value=say_percent(value) if name in SHARES else f"{value:.3f}",
            meaning=MEANINGS[name][1],
        )
        for name, value in values.items()
    )
    return Measured(lines=tuple(lines), missing=missing)
