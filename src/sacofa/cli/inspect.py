"""`sacofa inspect`: what a log looks like."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..errors import ReadError, plain
from ..logs import Inspection, ReadOptions, count_variants, inspect_variants, open_log
from ..logs.inspect import shown_variants
from .options import Json, LogPaths, one_or_all, takes_read_options
from .show import progress_bar, to_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("inspect")(inspect)


@takes_read_options
def inspect(
    log: LogPaths,
    options: ReadOptions,
    frequent: Annotated[
        int, typer.Option("--frequent", min=0, help="How many frequent variants to show.")
    ] = 5,
    as_json: Json = False,
) -> None:
    """Show what a log looks like. The answer is secret: it comes from the log without noise."""
    opened = open_log(one_or_all(log), options)
    with progress_bar(Console(stderr=True)) as stage:
        variants = count_variants(
            opened,
            progress=None if stage is None else partial(stage, "reading"),
            notify=lambda text: typer.echo(f"note: {plain(text)}", err=True),
        )
    if not variants.cases:
        raise ReadError(opened.name, "has no cases")
    inspection = inspect_variants(variants, frequent=frequent, log=opened)
    if as_json:
        shown = shown_variants(inspection)
        content = {"secret": True, **asdict(inspection), "frequent": shown}
        typer.echo(to_json(content))
        return
    _show(inspection, Console(highlight=False))


def _show(inspection: Inspection, console: Console) -> None:
    sizes = Table(box=None, show_header=False, pad_edge=False)
    for what, value in (
        ("events", f"{inspection.events:,}"),
        ("activities", f"{inspection.activities:,}"),
        ("cases", f"{inspection.cases:,}"),
        ("variants", f"{inspection.variants:,}"),
        ("cases whose variant is unique", f"{inspection.unique:.1%}"),
        *([("unfinished cases", f"{inspection.unfinished:,}")] if inspection.unfinished else []),
        ("events of a case, on average", f"{inspection.mean_length:.2f}"),
        *(
            (f"events of a case, quantile {quantile}", f"{length:,}")
            for quantile, length in inspection.lengths.items()
        ),
    ):
        sizes.add_row(what, value)
    sizes.columns[1].justify = "right"
    console.print(sizes)
    if inspection.frequent:
        console.print("\nthe most frequent variants")
        top = Table(box=None, show_header=False, pad_edge=False)
        top.add_column(justify="right", no_wrap=True)
        for variant in shown_variants(inspection):
            names = ", ".join(map(plain, variant["activities"])) or "(no events)"
            more = variant["events"] - len(variant["activities"])
            top.add_row(
                f"{variant['count']:,}", escape(names + f" … and {more:,} more" * (more > 0))
            )
        console.print(top)
    if inspection.warnings:
        console.print("\nlook at this before you release it")
        for warning in inspection.warnings:
            console.print(f"* {escape(warning)}", soft_wrap=True)
    console.print("\nSecret: these figures come from the log without noise.")
