"""How useful a release is, as lines of an internal report. Secret."""

from __future__ import annotations

from dataclasses import dataclass

from ..evaluate import Evaluator
from ..evaluate.evaluate import variants_of
from ..evaluate.registry import BY_NAME
from ..kernel.cases import Cases


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure."""

    name: str
    value: str
    limit: str
    """What two random halves of the original show of each other."""
    better: str
    """Which way is better: more or less."""
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What could be measured, and what to install for the rest."""

    lines: tuple[Line, ...]
    missing: str | None


def measure(original: Cases, released: Cases) -> Measured:
    """Measure a release, or as much as can be without the optional libraries."""
    if not variants_of(original).cases:
        return Measured(lines=(), missing="The original log has no cases to measure by.")
    evaluator = Evaluator(original)
    measures, limit = evaluator.measure(released), evaluator.limit()
    missing = measures.missing
    return Measured(
        lines=tuple(
            Line(
                name=BY_NAME[name].title,
                value=f"{value:.3f}",
                limit=f"{limit[name]:.3f}" if name in limit else "",
                better=BY_NAME[name].better,
                meaning=BY_NAME[name].meaning,
            )
            for name, value in measures.items()
        ),
        missing=None if missing is None else f"Only a part could be measured: {missing}.",
    )
