"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ReadError

LogPath = Annotated[
    str,
    typer.Argument(
        help="The event log: XES, CSV, TSV or Parquet (a file, a pattern or a folder), or "
        "postgresql://… with --query.",
        metavar="LOG",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        "--query", help="What is asked of a database: one row for each event.", metavar="SQL"
    ),
]
Engine = Annotated[
    str | None,
    typer.Option("--engine", help="Who reads instead: spark (tables) or r4pm (XES)."),
]
Case = Annotated[str | None, typer.Option("--case", help="Column of the case id.")]
Activity = Annotated[
    list[str] | None,
    typer.Option("--activity", help="Column of the activity; repeat it to join several."),
]
Timestamp = Annotated[str | None, typer.Option("--timestamp", help="Column of the time stamp.")]
Order = Annotated[
    str,
    typer.Option("--order", help="Order inside a case: file, or time (ties in file order)."),
]
Person = Annotated[str | None, typer.Option("--person", help="Column that says whose case it is.")]
MaxCases = Annotated[
    int | None,
    typer.Option("--max-cases", help="Cases kept of each person; needs --person."),
]
Trusted = Annotated[
    bool,
    typer.Option("--trusted", help="Read files that look like bombs (gzip, rows) all the same."),
]
Names = Annotated[
    Path | None,
    typer.Option("--names", help="Names of a model and of the log: a map as --match writes it."),
]
Closed = Annotated[
    bool,
    typer.Option("--closed", help="Activities that the model lacks never happen."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Where to write.")]


def read_names(path: Path) -> list[str]:
    """Read public names of activities, one a line."""
    try:
        names = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, f"cannot be read: {error}") from None
    return [name for name in names if name]
