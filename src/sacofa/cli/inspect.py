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
from ..events import Inspection, ReadOptions, inspect_log, open_log
from ..events.inspect import shown_variants
from .options import Json, LogPaths, one_or_all, takes_read_options
from .show import progress_bar, to_json

UNITS = (("days", 86_400), ("hours", 3_600), ("minutes", 60))
"""Units that durations are shown in, with their seconds."""
MAX_SHOWN_COLUMNS = 60
"""Columns in one table of the terminal; --json has all of them."""


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
    """Show what a log looks like: columns, times, sizes and frequent variants.

    The output is confidential: it comes from the log without noise.
    """
    opened = open_log(one_or_all(log), options)
    with progress_bar(Console(stderr=True)) as stage:
        inspection = inspect_log(
            opened,
            frequent=frequent,
            progress=None if stage is None else partial(stage, "reading"),
            notify=lambda text: typer.echo(f"note: {plain(text)}", err=True),
        )
    if not inspection.cases:
        raise ReadError(opened.name, "has no cases")
    if as_json:
        shown = shown_variants(inspection)
        content = {"secret": True, **asdict(inspection), "frequent": shown}
        typer.echo(to_json(content))
        return
    console = Console(highlight=False)
    _show_roles(inspection, console)
    _show_sizes(inspection, console)
    _show_columns(inspection, console)
    _show_variants(inspection, console)
    if inspection.warnings:
        console.print("\n[bold]Look at this before you release the log[/bold]")
        for warning in inspection.warnings:
            console.print(f"* {escape(warning)}", soft_wrap=True)
    console.print("\nSecret: these figures come from the log without noise.")


def _table(*titles: str) -> Table:
    table = Table(box=None, show_header=bool(titles), pad_edge=False, header_style="dim")
    for title in titles:
        table.add_column(title)
    return table


def _text(text: str) -> str:
    return escape(plain(text))


def _show_roles(inspection: Inspection, console: Console) -> None:
    if not inspection.roles:
        return
    console.print("[bold]Columns that are read[/bold]")
    table = _table()
    for role in inspection.roles:
        table.add_row(role.role, " + ".join(map(_text, role.columns)), f"[dim]{role.why}[/dim]")
    console.print(table)
    console.print()


def _show_sizes(inspection: Inspection, console: Console) -> None:
    console.print("[bold]Size and shape[/bold]")
    lengths = [f"{inspection.lengths[quantile]:,}" for quantile in ("0", "0.5", "1")]
    rows = [
        ("cases", f"{inspection.cases:,}"),
        ("events", f"{inspection.events:,}"),
        ("activities", f"{inspection.activities:,}"),
        ("variants", f"{inspection.variants:,}"),
        ("cases whose variant is unique", f"{inspection.unique:.1%}"),
        ("events per case", "min {}, median {}, max {}".format(*lengths)),
    ]
    if inspection.unfinished:
        rows.append(("unfinished cases", f"{inspection.unfinished:,}"))
    if inspection.persons is not None:
        rows.append(("persons", f"{inspection.persons:,}"))
    if inspection.times is not None:
        took = {name: _duration(value) for name, value in inspection.times.durations.items()}
        rows += [
            ("first event", inspection.times.first.replace("T", " ")),
            ("last event", inspection.times.last.replace("T", " ")),
            ("duration of a case", ", ".join(f"{name} {value}" for name, value in took.items())),
        ]
    table = _table()
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _duration(seconds: float) -> str:
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:g} seconds"


def _show_columns(inspection: Inspection, console: Console) -> None:
    if not inspection.columns:
        return
    console.print("\n[bold]Other columns[/bold]")
    table = _table("column", "type", "values", "within a case", "")
    table.columns[2].justify = "right"
    within = {True: "constant", False: "varies", None: ""}
    for column in inspection.columns[:MAX_SHOWN_COLUMNS]:
        values = "" if column.values is None else f"{column.values:,}"
        advice = "" if column.advice is None else f"[yellow]{_text(column.advice)}[/yellow]"
        table.add_row(_text(column.name), column.type, values, within[column.constant], advice)
    console.print(table)
    if (more := len(inspection.columns) - MAX_SHOWN_COLUMNS) > 0:
        console.print(f"… and {more:,} more (--json lists all of them)")


def _show_variants(inspection: Inspection, console: Console) -> None:
    if not inspection.frequent:
        return
    console.print("\n[bold]Most frequent variants[/bold]")
    top = _table()
    top.add_column(justify="right", no_wrap=True)
    for variant in shown_variants(inspection):
        names = ", ".join(map(plain, variant["activities"])) or "(no events)"
        more = variant["events"] - len(variant["activities"])
        top.add_row(f"{variant['count']:,}", escape(names + f" … and {more:,} more" * (more > 0)))
    console.print(top)
