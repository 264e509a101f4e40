"""`sacofa rules`: rules of a log or of a model, as a file that a person can edit, or shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_whole
from ..errors import ReadError, SettingError
from ..events import ReadOptions, count_variants, open_log
from ..rules import (
    FromPublicLog,
    FromSecretLog,
    ModelOptions,
    Rules,
    learn_rules,
    open_rules,
    read_model,
    show_rules,
    write_rules,
)
from ..rules.models import MODELS, propose, write_names
from ..rules.models.names import UNKNOWN
from .options import Force, read_names, say, takes_model_options, takes_read_options

SECRET = (
    "Rules read off a log tell about its cases: unless the log is public, the file is secret too, "
    "and giving it to `anonymize` for the same log is refused by certified: nobody paid for them."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules)


@takes_read_options
@takes_model_options("deviations")
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
    match: Annotated[
        bool,
        typer.Option("--match", help="Propose a map of names; needs --from-model, --activities."),
    ] = False,
    activities: Annotated[
        Path | None,
        typer.Option("--activities", help="Names of all activities: a text file, one a line."),
    ] = None,
    *,
    model: ModelOptions,
    show: Annotated[
        bool, typer.Option("--show", help="Show rules as text; with -o, as a picture.")
    ] = False,
    options: ReadOptions,
    public: Annotated[
        bool, typer.Option("--public", help="The log is public, and so are its rules.")
    ] = False,
    force: Force = False,
) -> None:
    """Read the rules that every case of a log or a model keeps, into a file to edit, or show them.

    Rules of a log are as secret as the log is.
    """
    file = from_model if log is None else Path(log)
    if file is None or None not in (log, from_model):
        must = "left out with --from-model" if log is not None else "given: a log, rules or a model"
        raise SettingError("FILE", log, must)
    if from_model is not None and from_model.suffix.lower() not in MODELS:
        raise SettingError("from_model", from_model, f"one of {', '.join(MODELS)}")
    if output is not None:
        read = {"what is read": file, "the names": activities}
        given = {what: path for what, path in read.items() if path is not None}
        check_apart({"the output": output}, given)
    declared = None if activities is None else read_names(activities)
    if show:
        if output is not None:
            if output.suffix.lower() != ".svg":
                raise SettingError("output", output, "an .svg file, where rules are shown")
            check_target(output, force)
        _show(open_rules(file, model, activities=declared, notify=say), output, force)
        return
    if output is None or output.suffix.lower() != ".toml":
        raise SettingError("output", output, "a .toml file")
    check_target(output, force)
    if match:
        _match(from_model, declared, output, force)
    elif from_model is not None:
        found = open_rules(from_model, model, activities=declared, notify=say)
        _write(found, output, force)
    else:
        model.refuse_given("it is for models (--from-model)")
        _write(_learn(str(log), options, public), output, force)
        if not public:
            say(SECRET)


def _learn(log: str, options: ReadOptions, public: bool) -> Rules:
    variants = count_variants(open_log(log, options))
    if not variants.cases:
        raise ReadError(log, "has no cases")
    return learn_rules(variants, (FromPublicLog if public else FromSecretLog)(Path(log).name))


def _write(found: Rules, output: Path, force: bool) -> None:
    write_rules(found, output, force)
    typer.echo(
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
    from ..report.rules_picture import draw_rules  # Only a picture needs the templates.

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
