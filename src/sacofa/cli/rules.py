"""`sacofa rules`: rules of a log or of a model, as a file that a person can edit, or shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_text
from ..errors import Argument, ReadError, SettingError, Statement
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
from ..rules.models import MODELS, UNKNOWN, propose, write_names
from .grouped import RULES
from .options import Fields, Reading, read_names
from .show import notify, say


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is done with rules.

    Attributes:
        output: The file to write: .toml; with --show, .svg.
        from_model: Read a model instead of a log: .bpmn, .pnml or .decl.
        match: Propose a map of names. Requires --from-model and --activities.
        activities: Names of all activities: a text file with one name per line.
        show: Show rules as text; with -o, as a picture.
        public: The log is public, and so are its rules.
        force: Overwrite files that exist.
    """

    output: Path | None = None
    from_model: Path | None = None
    match: bool = False
    activities: Path | None = None
    show: bool = False
    public: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        model = self.from_model
        if model is not None and model.suffix.lower() not in MODELS:
            raise SettingError("from_model", model, Statement("must.one_of", choices=tuple(MODELS)))
        if self.match and None in (model, self.activities):
            others = (Argument("from_model"), Argument("activities"))
            raise SettingError("match", True, Statement("must.given_with_all", arguments=others))

    def file(self, log: str | None) -> Path:
        """What is read: a log, rules or a model; one of them is given."""
        model = Argument("from_model")
        if log is None and self.from_model is None:
            raise SettingError("FILE", None, Statement("must.log_or_model", argument=model))
        if log is not None and self.from_model is not None:
            raise SettingError("FILE", log, Statement("must.left_out_with", argument=model))
        return Path(log or self.from_model or "")

    def check_files(self, file: Path) -> None:
        """Refuse an output that cannot be written, or that is what is read."""
        suffix = ".svg" if self.show else ".toml"
        if self.output is None:
            if not self.show:
                raise SettingError("output", None, Statement("must.suffix", suffix=suffix))
            return
        read = {"what is read": file}
        if self.activities is not None:
            read["the names"] = self.activities
        check_apart({"the output": self.output}, read)
        if self.output.suffix.lower() != suffix:
            raise SettingError("output", self.output, Statement("must.suffix", suffix=suffix))
        check_target(self.output, self.force)


def rules(
    log: Annotated[
        str | None,
        typer.Argument(help="The event log; with --show, a rules file or a model.", metavar="FILE"),
    ] = None,
    *,
    task: Annotated[Task, Fields(flags={"output": ("-o", "--output")})],
    model: Annotated[ModelOptions, Fields(leave_out=("deviations",), panel=RULES)],
    options: Reading,
) -> None:
    """Write the rules that every case of a log or a model satisfies to a file, or show them.

    Rules of a log are as confidential as the log is.
    """
    file = task.file(log)
    task.check_files(file)
    activities = None if task.activities is None else read_names(task.activities)
    if task.match and not task.show:
        _match(file, activities or [], task)
    elif task.show or task.from_model is not None:
        found = open_rules(file, model, activities=activities, notify=notify)
        (_show if task.show else _write)(found, task.output, task.force)
    else:
        model.refuse_given(Statement("must.left_out_no_model"))
        _write(_learn(str(log), options, task.public), task.output, task.force)
        if not task.public:
            notify(Statement("cli.rules.confidential"))


def _learn(log: str, options: ReadOptions, public: bool) -> Rules:
    variants = count_variants(open_log(log, options))
    if not variants.cases:
        raise ReadError(log, Statement("log.no_cases"))
    return learn_rules(variants, (FromPublicLog if public else FromSecretLog)(Path(log).name))


def _write(found: Rules, output: Path | None, force: bool) -> None:
    assert output is not None
    write_rules(found, output, force)
    say(
        Statement(
            "cli.rules.written",
            path=str(output),
            activities=len(found.activities),
            starts=int(found.starts.sum()),
            follow=int(found.always_follows.sum()),
            precede=int(found.always_precedes.sum()),
            never=int(found.never_follows.sum()),
        )
    )


def _show(found: Rules, output: Path | None, force: bool) -> None:
    if output is None:
        typer.echo(show_rules(found), nl=False)
    else:
        # Only this needs the templates of pages.
        from ..report.rules_picture import draw_rules

        write_text(output, draw_rules(found), force)
        say(Statement("cli.rules.drawn", path=str(output), activities=len(found.activities)))


def _match(model: Path, activities: list[str], task: Task) -> None:
    """Propose pairs from the declared names alone, whatever a log calls things."""
    assert task.output is not None
    pairs = propose(read_model(model).names, activities)
    write_names(pairs, task.output, task.force)
    missing = sum(activity == UNKNOWN for activity in pairs.values())
    counts = {"proposed": len(pairs) - missing, "missing": missing}
    say(Statement("cli.rules.matched", path=str(task.output), argument=Argument("names"), **counts))
