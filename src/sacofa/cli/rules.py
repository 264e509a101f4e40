"""`sacofa rules`: rules of a log or of a model, as a file that a person can edit, or shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ReadError, SettingError
from ..files import check_target, write_whole
from ..logs import count_variants, read_log
from ..report.rules_picture import draw_rules
from ..semantics import learn_rules, open_rules, write_rules
from ..semantics.models import propose, read_model, read_names_map, write_names
from ..semantics.models.names import UNKNOWN
from ..semantics.rules import Rules
from ..semantics.show import show_rules
from . import options
from .options import Activity, Case, Force, Order, Timestamp, Trusted, read_names

SECRET = (
    "Rules read off a log tell about its cases: unless the log is public, the file is secret too, "
    "and giving it to `anonymize` for the same log is a look at it that nobody paid for."
)
MINED = (
    "A model that was mined from the log you protect is not public: its rules tell about the cases."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules)


def rules(
    log: Annotated[
        str | None,
        typer.Argument(help="The event log; with --show, a rules file or a model.", metavar="FILE"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write: .toml; with --show, .svg."),
    ] = None,
    from_model: Annotated[
        Path | None,
        typer.Option(
            "--from-model", help="Read a model instead: .bpmn, .pnml or .decl.", metavar="MODEL"
        ),
    ] = None,
    names: options.Names = None,
    match: Annotated[
        bool,
        typer.Option("--match", help="Propose a map of names; needs --from-model, --activities."),
    ] = False,
    activities: Annotated[
        Path | None,
        typer.Option("--activities", help="Names of all activities: a text file, one a line."),
    ] = None,
    closed: options.Closed = False,
    source: Annotated[
        str | None,
        typer.Option("--source", help="Where the model comes from; certificates repeat it."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show rules as text; with -o, as a picture.")
    ] = False,
    case: Case = None,
    activity: Activity = None,
    timestamp: Timestamp = None,
    order: Order = "file",
    trusted: Trusted = False,
    force: Force = False,
) -> None:
    """Read the rules that every case of a log or a model keeps, into a file to edit, or show them.

    Rules of a log are as secret as the log is.
    """
    if (log is None) == (from_model is None):
        raise SettingError("file", log, "one log, rules file or model")
    public = None if activities is None else read_names(activities)
    paired = None if names is None else read_names_map(names)
    file = from_model if from_model is not None else Path(str(log))
    if show:
        if output is not None:
            if output.suffix.lower() != ".svg":
                raise SettingError("output", output, "an .svg file, where rules are shown")
            check_target(output, force)
        found = open_rules(
            file, names=paired, activities=public, source=source, closed=closed, say=_say
        )
        _show(found, output, force)
        return
    if output is None or output.suffix.lower() != ".toml":
        raise SettingError("output", output, "a .toml file")
    check_target(output, force)
    if match:
        _match(from_model, public, output, force)
        return
    if from_model is not None:
        model = read_model(from_model)
        found = model.rules(names=paired, activities=public, source=source, closed=closed)
        for note in model.notes:
            _say(note)
        write_rules(found, output, force)
        typer.echo(_summary(output, found))
        typer.echo(MINED, err=True)
        return
    for name, value in (("names", names), ("closed", closed or None), ("source", source)):
        if value is not None:
            raise SettingError(name, value, "left out: it is for models (--from-model)")
    opened = read_log(
        str(log), case=case, activity=activity, timestamp=timestamp, order=order, trusted=trusted
    )
    variants = count_variants(opened)
    if not variants.cases:
        raise ReadError(log, "has no cases")
    learnt = f"read off the log {file.name} without payment; open to edits by hand"
    found = learn_rules(variants, learnt)
    write_rules(found, output, force)
    typer.echo(_summary(output, found))
    typer.echo(SECRET, err=True)


def _summary(output: Path, found: Rules) -> str:
    return (
        f"{output}: {len(found.activities):,} activities, "
        f"{int(found.starts.sum()):,} of them begin a case; "
        f"{int(found.always_follows.sum()):,} always follow another, "
        f"{int(found.always_precedes.sum()):,} always precede, "
        f"{int(found.never_follows.sum()):,} never follow."
    )


def _show(found: Rules, output: Path | None, force: bool) -> None:
    if output is None:
        typer.echo(show_rules(found), nl=False)
        return
    picture = draw_rules(found)
    with write_whole(output, force) as part:
        part.write_text(picture, encoding="utf-8")
    typer.echo(f"{output}: {len(found.activities):,} activities")


def _match(model: Path | None, activities: list[str] | None, output: Path, force: bool) -> None:
    """Propose pairs from the declared list alone: what a log calls things is never looked at."""
    if model is None or activities is None:
        raise SettingError("match", True, "given with --from-model and --activities")
    pairs = propose(read_model(model).names, activities)
    write_names(pairs, output, force)
    missing = sum(activity == UNKNOWN for activity in pairs.values())
    typer.echo(
        f"{output}: {len(pairs) - missing:,} pairs proposed, {missing:,} names without one. "
        "Check them, then give the file as --names."
    )


def _say(note: str) -> None:
    typer.echo(note, err=True)
