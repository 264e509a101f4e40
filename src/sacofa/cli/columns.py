"""`sacofa columns`: a starting file that says which values attributes may have."""

from __future__ import annotations

from pathlib import Path

import typer

from ..base.files import check_apart, check_target, write_whole
from ..errors import plain
from ..events import ReadOptions
from ..events.describe_columns import starting_file
from . import options as shared


@shared.takes_read_options
def columns(
    log: shared.LogPath,
    output: shared.Output,
    options: ReadOptions,
    force: shared.Force = False,
) -> None:
    """Write a file of columns to start from: names and types of the log, for you to fill in.

    No value of the log is in it. Columns that look like identifiers or copies of times are left
    out, and named on the terminal.
    """
    target = Path(output)
    check_target(target, force)
    check_apart({"the output": target}, {"the log": log})
    text, told = starting_file(log, options)
    with write_whole(target, force) as part:
        part.write_text(text, encoding="utf-8")
    for line in told:
        shared.say(plain(line))
    typer.echo(f"Columns: {plain(str(target))}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("columns")(columns)
