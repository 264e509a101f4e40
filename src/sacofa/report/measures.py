"""How useful a release is, as lines of a table. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from ..evaluate import Evaluator, Measures
from ..evaluate.evaluate import variants_of
from ..evaluate.registry import BY_NAME, Measure
from ..kernel.cases import Cases
from ..kernel.statements import Statement


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure with its value."""

    measure: Measure
    value: str
    limit: str
    """The measure of one random half of the original against the other half."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The measures, and what to install for the rest."""

    lines: tuple[Line, ...] = ()
    missing: Statement | None = None


def list_measures(measures: Measures, limit: Measures) -> tuple[Line, ...]:
    """The lines of a table of measures."""
    limits = {name: f"{value:.3f}" for name, value in limit.items()}
    return tuple(
        Line(measure=BY_NAME[name], value=f"{value:.3f}", limit=limits.get(name, ""))
        for name, value in measures.items()
    )


def measure(original: Cases, released: Cases) -> Measured:
    """Measure a release, or as much as can be without the optional libraries."""
    if not variants_of(original).cases:
        return Measured(missing=Statement("report.unmeasured"))
    evaluator = Evaluator(original)
    measures = evaluator.measure(released)
    partly = Statement("report.measured_partly", missing=measures.missing or "")
    return Measured(
        lines=list_measures(measures, evaluator.limit()),
        missing=None if measures.missing is None else partly,
    )
