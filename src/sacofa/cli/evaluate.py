"""`sacofa evaluate`: how useful a release is."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import ReadError
from ..evaluation import Evaluator, Measures
from ..evaluation.registry import BY_NAME
from ..logs import ReadOptions, count_variants, open_log
from .options import Json, takes_read_options

LIMIT = (
    "Limit: what two random halves of the original show of each other. No release can be expected "
    "to come closer. For measures of a model it is what the original itself gets."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


@takes_read_options
def evaluate(
    original: Annotated[str, typer.Argument(help="The original log.", metavar="ORIGINAL")],
    release: Annotated[str, typer.Argument(help="The released log.", metavar="RELEASE")],
    options: ReadOptions,
    as_json: Json = False,
) -> None:
    """Measure how useful a release is. The answer is secret: it comes from the original log.

    Columns and order are those of the original; a release names its columns in the usual way.
    """
    log = open_log(original, options)
    opened = open_log(release)
    variants = count_variants(log)
    if not variants.cases:
        raise ReadError(original, "has no cases")
    evaluator = Evaluator(variants)
    measures, limit = evaluator.measure(count_variants(opened)), evaluator.limit()
    if as_json:
        typer.echo(json.dumps({**measures, "limit": dict(limit)}))
    else:
        _show(measures, limit, Console(highlight=False))


def _show(measures: Measures, limit: Measures, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("release", justify="right")
    table.add_column("limit", justify="right")
    table.add_column("what it says")
    for name, value in measures.items():
        measure = BY_NAME[name]
        best = f"{limit[name]:.3f}" if name in limit else ""
        table.add_row(measure.title, f"{value:.3f}", best, measure.meaning)
    console.print(table)
    console.print(f"\n{LIMIT}")
    if measures.missing is not None:
        console.print(f"Only a part could be measured: {measures.missing}", markup=False)
    console.print("Secret: these figures come from the original log without noise.")
