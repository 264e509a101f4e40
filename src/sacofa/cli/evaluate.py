"""`sacofa evaluate`: how useful a release is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console

from ..base.batches import gather
from ..errors import ReadError, SettingError, Statement
from ..evaluate import Evaluator, Measures
from ..evaluate.evaluate import read_measured, variants_of
from ..evaluate.measures.indicators import FORM, Indicator
from ..evaluate.measures.times import Timed
from ..events import open_log
from ..kernel.cases import Cases
from ..report.durations import say_duration
from ..report.measures import list_measures
from .options import Json, Reading
from .show import say, say_confidential, show_table

Indicated = tuple[Indicator, float, float]
"""An indicator, and its value in the original and in the release."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What was measured."""

    measures: Measures
    limit: Measures
    """The measures of a random half of the original against the other half."""
    attributes: Mapping[str, tuple[float, float]]
    """The measure of each attribute, and its limit."""
    indicators: Sequence[Indicated]

    def content(self) -> dict[str, object]:
        """The same as JSON."""
        content: dict[str, object] = {"secret": True, **self.measures, "limit": dict(self.limit)}
        if self.attributes:
            content["attributes"] = {
                name: {"release": off, "limit": best}
                for name, (off, best) in self.attributes.items()
            }
        if self.indicators:
            content["indicators"] = {
                one.text: {"original": _number(before), "release": _number(after)}
                for one, before, after in self.indicators
            }
        return content


def evaluate(
    original: Annotated[str, typer.Argument(help="The original log.", metavar="ORIGINAL")],
    release: Annotated[str, typer.Argument(help="The released log.", metavar="RELEASE")],
    options: Reading,
    indicator: Annotated[
        list[str] | None,
        typer.Option(help=f"Indicator of times: {FORM}. Repeat for several.", metavar="TEXT"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how useful a release is. The result is confidential: it comes from the log.

    Columns and order are those of the original log. The program finds the columns of a release
    itself. It measures times if both logs have times of their own.
    """
    wanted = [Indicator.parse(text) for text in indicator or ()]
    log, opened = open_log(original, options), open_log(release)
    before = read_measured(log)
    if not variants_of(before).cases:
        raise ReadError(original, Statement("log.no_cases"))
    after = read_measured(opened, before.attributes)
    indicators = _indicate(wanted, before, after)
    evaluator = Evaluator(before)
    found = Evaluation(
        measures=evaluator.measure(after),
        limit=evaluator.limit(),
        attributes=evaluator.attributes(after),
        indicators=indicators,
    )
    if as_json:
        typer.echo(json.dumps(found.content()))
    else:
        _show(found, Console(highlight=False))


def _indicate(wanted: Sequence[Indicator], before: Cases, after: Cases) -> list[Indicated]:
    """Compute each indicator for both logs."""
    if not wanted:
        return []
    if before.by_case is None or after.by_case is None:
        raise SettingError("indicator", wanted[0].text, Statement("must.no_indicator"))
    logs = Timed.both(gather(before.by_case), gather(after.by_case))
    for one in wanted:
        one.check(logs[0].activities)
    return [(one, one.of(logs[0]), one.of(logs[1])) for one in wanted]


def _number(value: float) -> float | None:
    """A number as JSON has it: no value if there is none."""
    return None if math.isnan(value) else value


def _say(one: Indicator, value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if one.limit is not None else say_duration(value)


def _show(found: Evaluation, console: Console) -> None:
    rows = (
        (line.measure.title, line.value, line.limit, line.measure.better, line.measure.meaning)
        for line in list_measures(found.measures, found.limit)
    )
    show_table(console, rows, "cli.evaluate.measures", right=(1, 2))
    say("")
    say(Statement("cli.evaluate.limit"))
    if found.attributes:
        say("")
        lines = (
            (name, f"{off:.3f}", f"{best:.3f}") for name, (off, best) in found.attributes.items()
        )
        show_table(console, lines, "cli.evaluate.attributes", right=(1, 2))
    if found.indicators:
        say("")
        figures = ((one.text, _say(one, was), _say(one, now)) for one, was, now in found.indicators)
        show_table(console, figures, "cli.evaluate.indicators", right=(1, 2))
    if found.measures.missing is not None:
        say(Statement("report.measured_partly", missing=found.measures.missing))
    say_confidential()
