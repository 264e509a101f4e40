"""`sacofa inspect`: what a log looks like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ..errors import ReadError, Statement, plain
from ..events import Inspection, inspect_log, open_log
from ..events.inspect import shown_variants
from .options import Json, LogPaths, Reading, one_or_all
from .show import notify, progress_bar, say, say_confidential, show_table, to_json

UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
"""Units of durations, with their seconds."""
MAX_SHOWN_COLUMNS = 60
"""Columns in one table of the terminal; --json has all of them."""
WITHIN = {True: "constant", False: "varies", None: ""}


def inspect(
    log: LogPaths,
    options: Reading,
    frequent: Annotated[int, typer.Option(min=0, help="Number of frequent variants to show.")] = 5,
    as_json: Json = False,
) -> None:
    """Show what a log looks like: columns, times, sizes and frequent variants.

    The output is confidential: it comes from the log without noise.
    """
    opened = open_log(one_or_all(log), options)
    with progress_bar() as stage:
        inspection = inspect_log(
            opened,
            frequent=frequent,
            progress=None if stage is None else partial(stage, "reading"),
            notify=lambda note: notify(Statement("cli.note", note=note)),
        )
    if not inspection.cases:
        raise ReadError(opened.name, Statement("log.no_cases"))
    if as_json:
        content = {
            **asdict(inspection),
            "frequent": shown_variants(inspection),
            "warnings": list(map(str, inspection.warnings)),
        }
        typer.echo(to_json({"secret": True, **content}))
    else:
        _show(inspection, Console(highlight=False, markup=False, emoji=False))


def _show(inspection: Inspection, console: Console) -> None:
    if inspection.roles:
        roles = ((r.role, " + ".join(map(plain, r.columns)), _dim(r.why)) for r in inspection.roles)
        show_table(console, roles, title="cli.inspect.roles")
        say("")
    sizes = ((str(Statement(f"cli.size.{name}")), text) for name, text in _sizes(inspection))
    show_table(console, sizes, title="cli.inspect.sizes")
    if inspection.columns:
        _show_columns(inspection, console)
    if inspection.frequent:
        say("")
        show_table(console, _variants(inspection), right=(0,), title="cli.inspect.variants")
    if inspection.warnings:
        say("")
        console.print(Text(str(Statement("cli.inspect.warnings")), style="bold"))
        for warning in inspection.warnings:
            say(Statement("cli.inspect.warning", warning=warning))
    say("")
    say_confidential()


def _sizes(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Every size of the log that is known, with its name."""
    for name in ("cases", "events", "activities", "variants"):
        yield name, f"{getattr(inspection, name):,}"
    yield "unique", f"{inspection.unique:.1%}"
    least, middle, most = (inspection.lengths[quantile] for quantile in ("0", "0.5", "1"))
    yield "lengths", f"min {least:,}, median {middle:,}, max {most:,}"
    if inspection.unfinished:
        yield "unfinished", f"{inspection.unfinished:,}"
    if inspection.persons is not None:
        yield "persons", f"{inspection.persons:,}"
    if inspection.times is not None:
        took = inspection.times.durations.items()
        yield "first", inspection.times.first.replace("T", " ")
        yield "last", inspection.times.last.replace("T", " ")
        yield "durations", ", ".join(f"{name} {_duration(value)}" for name, value in took)


def _duration(seconds: float) -> str:
    unit = next((unit for unit, size in UNITS.items() if seconds >= size), "seconds")
    return f"{seconds:g} {unit}" if unit == "seconds" else f"{seconds / UNITS[unit]:.1f} {unit}"


def _show_columns(inspection: Inspection, console: Console) -> None:
    rows = (
        (
            column.name,
            column.type,
            "" if column.values is None else f"{column.values:,}",
            WITHIN[column.constant],
            Text("" if column.advice is None else plain(str(column.advice)), style="yellow"),
        )
        for column in inspection.columns[:MAX_SHOWN_COLUMNS]
    )
    say("")
    show_table(console, rows, "cli.inspect.columns", right=(2,), title="cli.inspect.other_columns")
    if (more := len(inspection.columns) - MAX_SHOWN_COLUMNS) > 0:
        say(Statement("cli.inspect.more_columns", more=more))


def _variants(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """The most frequent variants with their counts."""
    for variant in shown_variants(inspection):
        names = ", ".join(variant["activities"]) or str(Statement("cli.inspect.no_events"))
        more = variant["events"] - len(variant["activities"])
        yield f"{variant['count']:,}", f"{names} … and {more:,} more" if more > 0 else names


def _dim(text: object) -> Text:
    return Text(str(text), style="dim")
