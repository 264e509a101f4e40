"""`sacofa evaluate`: how useful a release is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..base.batches import gather
from ..errors import ReadError, SettingError
from ..evaluate import Evaluator, Measures
from ..evaluate.evaluate import read_measured, variants_of
from ..evaluate.measures.indicators import FORM, Indicator
from ..evaluate.measures.timed import Timed
from ..evaluate.registry import BY_NAME
from ..events import ReadOptions, open_log
from ..kernel.cases import Cases
from ..report.durations import say_duration
from .options import Json, takes_read_options

LIMIT = (
    "Limit: what two random halves of the original show of each other. No release can be expected "
    "to come closer. For measures of a model it is what the original itself gets."
)


Indicated = tuple[Indicator, float, float]
"""An indicator, and what it is in the original and in the release."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


@takes_read_options
def evaluate(
    original: Annotated[str, typer.Argument(help="The original log.", metavar="ORIGINAL")],
    release: Annotated[str, typer.Argument(help="The released log.", metavar="RELEASE")],
    options: ReadOptions,
    indicator: Annotated[
        list[str] | None,
        typer.Option(
            "--indicator", help=f"A figure about times, {FORM}; repeat it.", metavar="TEXT"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how useful a release is. The answer is secret: it comes from the original log.

    Columns and order are those of the original; a release names its columns in the usual way.
    Times are measured where both logs have their own.
    """
    wanted = [Indicator.parse(text) for text in indicator or ()]
    log = open_log(original, options)
    opened = open_log(release)
    secret = read_measured(log)
    if not variants_of(secret).cases:
        raise ReadError(original, "has no cases")
    released = read_measured(opened, secret.attributes)
    indicated = _indicate(wanted, secret, released)
    evaluator = Evaluator(secret)
    measures, limit = evaluator.measure(released), evaluator.limit()
    details = evaluator.attributes(released)
    if as_json:
        content: dict[str, object] = {"secret": True, **measures, "limit": dict(limit)}
        if details:
            content["attributes"] = {
                name: {"release": off, "limit": best} for name, (off, best) in details.items()
            }
        if wanted:
            content["indicators"] = {
                one.text: {"original": _plain(before), "release": _plain(after)}
                for one, before, after in indicated
            }
        typer.echo(json.dumps(content))
    else:
        _show(measures, limit, indicated, details, Console(highlight=False))


def _indicate(wanted: Sequence[Indicator], secret: Cases, released: Cases) -> list[Indicated]:
    """Work out each indicator, before and after."""
    if not wanted:
        return []
    if secret.by_case is None or released.by_case is None:
        raise SettingError("indicator", wanted[0].text, "left out unless both logs have times")
    before, after = Timed.both(gather(secret.by_case), gather(released.by_case))
    for one in wanted:
        one.check(before.activities)
    return [(one, one.of(before), one.of(after)) for one in wanted]


def _plain(value: float) -> float | None:
    """JSON has no word for what is not a number."""
    return None if math.isnan(value) else value


def _say(one: Indicator, value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if one.limit is not None else say_duration(value)


def _show(
    measures: Measures,
    limit: Measures,
    indicated: list[Indicated],
    details: dict[str, tuple[float, float]],
    console: Console,
) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("release", justify="right")
    table.add_column("limit", justify="right")
    table.add_column("better")
    table.add_column("what it says")
    for name, value in measures.items():
        measure = BY_NAME[name]
        best = f"{limit[name]:.3f}" if name in limit else ""
        table.add_row(measure.title, f"{value:.3f}", best, measure.better, measure.meaning)
    console.print(table)
    console.print(f"\n{LIMIT}")
    if details:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name, side in (("attribute", "left"), ("release", "right"), ("limit", "right")):
            table.add_column(name, justify=side)  # type: ignore[arg-type]
        for what, (off, limited) in details.items():
            table.add_row(Text(what), f"{off:.3f}", f"{limited:.3f}")
        console.print()
        console.print(table)
    if indicated:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name, side in (("indicator", "left"), ("original", "right"), ("release", "right")):
            table.add_column(name, justify=side)  # type: ignore[arg-type]
        for one, before, after in indicated:
            table.add_row(Text(one.text), _say(one, before), _say(one, after))
        console.print()
        console.print(table)
    if measures.missing is not None:
        console.print(f"Only a part could be measured: {measures.missing}", markup=False)
    console.print("Secret: these figures come from the original log without noise.")
