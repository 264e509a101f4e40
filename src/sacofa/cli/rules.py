"""`sacofa rules`: read the rules of a log into a file that a person can edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ReadError, SettingError
from ..files import check_target
from ..logs import ReadOptions, count_variants, open_log
from ..semantics import FromPublicLog, FromSecretLog, learn_rules, write_rules
from .options import Force, LogPath, Output, takes_read_options

SECRET = (
    "Rules read off a log tell about its cases: unless the log is public, the file is secret too, "
    "and giving it to `anonymize` for the same log is refused by certified: nobody paid for them."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules)


@takes_read_options
def rules(
    log: LogPath,
    output: Output,
    options: ReadOptions,
    public: Annotated[
        bool, typer.Option("--public", help="The log is public, and so are its rules.")
    ] = False,
    force: Force = False,
) -> None:
    """Read the rules that every case of a log keeps, into a file to edit. Secret as the log is."""
    if output.suffix.lower() != ".toml":
        raise SettingError("output", output, "a .toml file")
    check_target(output, force)
    opened = open_log(log, options)
    variants = count_variants(opened)
    if not variants.cases:
        raise ReadError(log, "has no cases")
    found = learn_rules(variants, (FromPublicLog if public else FromSecretLog)(Path(log).name))
    write_rules(found, output, force)
    typer.echo(
        f"{output}: {len(found.activities):,} activities, "
        f"{int(found.starts.sum()):,} of them begin a case; "
        f"{int(found.always_follows.sum()):,} always follow another, "
        f"{int(found.always_precedes.sum()):,} always precede, "
        f"{int(found.never_follows.sum()):,} never follow."
    )
    if not public:
        typer.echo(SECRET, err=True)
