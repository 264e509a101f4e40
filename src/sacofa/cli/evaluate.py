"""`sacofa evaluate`: how useful a release is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import ReadError
from ..evaluation import Measures, evaluate_release
from ..logs import ReadOptions, count_variants, open_log
from .options import Json, takes_read_options

MEANINGS = {
    "f_score": "F-score: harmonic mean of the next two",
    "fitness": "fitness of the release's model on the original",
    "precision": "precision of the release's model on the original",
    "generalization": "generalization of the release's model",
    "normal": "released cases that look normal",
    "similarity": "similarity: 1 − earth mover's distance",
    "mass_kept": "mass kept: original cases whose variant is released",
    "size_error": "size error: |released − original| / original",
    "invented": "invented: released cases whose variant is not original",
}


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
    measures = evaluate_release(variants, count_variants(opened))
    if as_json:
        typer.echo(json.dumps(asdict(measures)))
    else:
        _show(measures, Console(highlight=False))


def _show(measures: Measures, console: Console) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in asdict(measures).items():
        table.add_row(MEANINGS[name], f"{value:.3f}")
    console.print(table)
    console.print("\nSecret: these figures come from the original log without noise.")
