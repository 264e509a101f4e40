"""`sacofa inspect`, `columns` and `generate`: what a log looks like, and logs to try things on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.files import check_apart, check_target, write_text
from ..errors import ReadError, Statement, plain
from ..events import Inspection, inspect_log, open_log
from ..events.generate import write_sample
from ..events.inspect import shown_variants
from ..events.profile import ColumnProfile, starting_file
from .options import Force, Json, LogPath, LogPaths, Output, Reading, one_or_all
from .show import notify, open_console, progress_bar, say, say_written, show_table, to_json

if TYPE_CHECKING:
    from rich.text import Text

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
            progress=stage and partial(stage, "reading"),
            notify=lambda note: notify(Statement("cli.note", note=note)),
        )
    if not inspection.cases:
        raise ReadError(opened.name, Statement("log.no_cases"))
    if not as_json:
        _show(inspection)
        say(Statement("cli.confidential"))
        return
    content = {**asdict(inspection), "frequent": shown_variants(inspection)}
    content["warnings"] = list(map(str, inspection.warnings))
    typer.echo(to_json({"secret": True, **content}))


def _show(inspection: Inspection) -> None:
    from rich.text import Text

    if inspection.roles:
        roles = (
            (each.role, " + ".join(map(plain, each.columns)), Text(str(each.why), style="dim"))
            for each in inspection.roles
        )
        show_table(roles, title="cli.inspect.roles")
        say()
    sizes = ((str(Statement(f"cli.size.{name}")), text) for name, text in _sizes(inspection))
    show_table(sizes, title="cli.inspect.sizes")
    if inspection.columns:
        say()
        rows = map(_row, inspection.columns[:MAX_SHOWN_COLUMNS])
        show_table(rows, "cli.inspect.columns", right=(2,), title="cli.inspect.other_columns")
        if (more := len(inspection.columns) - MAX_SHOWN_COLUMNS) > 0:
            say(Statement("cli.inspect.more_columns", more=more))
    if inspection.frequent:
        say()
        show_table(_variants(inspection), right=(0,), title="cli.inspect.variants")
    if inspection.warnings:
        say()
        open_console().print(Text(str(Statement("cli.inspect.warnings")), style="bold"))
        for warning in inspection.warnings:
            say(Statement("cli.inspect.warning", warning=warning))
    say()


def _row(column: ColumnProfile) -> list[str | Text]:
    """A column as a row of a table."""
    from rich.text import Text

    values = "" if column.values is None else f"{column.values:,}"
    advice = "" if column.advice is None else plain(str(column.advice))
    return [column.name, column.type, values, WITHIN[column.constant], Text(advice, style="yellow")]


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


def _variants(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """The most frequent variants with their counts."""
    for variant in shown_variants(inspection):
        names = ", ".join(variant["activities"]) or str(Statement("cli.inspect.no_events"))
        more = variant["events"] - len(variant["activities"])
        yield f"{variant['count']:,}", f"{names} … and {more:,} more" if more > 0 else names


def columns(log: LogPath, output: Output, options: Reading, force: Force = False) -> None:
    """Write a file of columns to start from: names and types of the log, for you to complete.

    It contains no value of the log. Columns that look like identifiers or copies of times are left
    out, and listed on the terminal.
    """
    check_target(output, force)
    check_apart({"the output": output}, {"the log": log})
    text, notes = starting_file(log, options)
    write_text(output, text, force)
    for note in notes:
        notify(note)
    say_written({"columns": output})


def generate(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The synthetic log: .parquet or .csv.")
    ],
    cases: Annotated[int, typer.Option(help="Number of cases.")],
    activities: Annotated[int, typer.Option(help="Number of different activities.")] = 24,
    seed: Annotated[int, typer.Option(help="Another number gives another log.")] = 0,
    force: Force = False,
) -> None:
    """Generate a synthetic log of any size that looks like a real one, to try things out on."""
    with progress_bar() as stage:
        write_sample(
            output,
            cases=cases,
            activities=activities,
            seed=seed,
            force=force,
            progress=stage and partial(stage, "generating"),
        )
    say(Statement("cli.generated", cases=cases, path=str(output)))
