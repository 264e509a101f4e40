"""`sacofa rules`: read the rules of a log into a file that a person can edit."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import ReadError, SettingError
from ..files import check_target
from ..logs import count_variants, read_log
from ..semantics import learn_rules, write_rules
from .options import Activity, Case, Force, LogPath, Order, Output, Timestamp, Trusted

SECRET = (
    "Rules read off a log tell about its cases: unless the log is public, the file is secret too, "
    "and giving it to `anonymize` for the same log is a look at it that nobody paid for."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules)


def rules(
    log: LogPath,
    output: Output,
    case: Case = None,
    activity: Activity = None,
    timestamp: Timestamp = None,
    order: Order = "file",
    trusted: Trusted = False,
    force: Force = False,
) -> None:
    """Read the rules that every case of a log keeps, into a file to edit. Secret as the log is."""
    if output.suffix.lower() != ".toml":
        raise SettingError("output", output, "a .toml file")
    check_target(output, force)
    opened = read_log(
        log, case=case, activity=activity, timestamp=timestamp, order=order, trusted=trusted
    )
    variants = count_variants(opened)
    if not variants.cases:
        raise ReadError(log, "has no cases")
    source = f"read off the log {Path(log).name} without payment; open to edits by hand"
    found = learn_rules(variants, source)
    write_rules(found, output, force)
    typer.echo(
        f"{output}: {len(found.activities):,} activities, "
        f"{int(found.starts.sum()):,} of them begin a case; "
        f"{int(found.always_follows.sum()):,} always follow another, "
        f"{int(found.always_precedes.sum()):,} always precede, "
        f"{int(found.never_follows.sum()):,} never follow."
    )
    typer.echo(SECRET, err=True)
