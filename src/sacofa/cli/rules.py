"""`sacofa rules`: rules of a log or of a model, as a file that a person can edit, or shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_text
from ..errors import Argument, ReadError, SettingError, Statement, refuse_given
from ..events import count_variants, open_log
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
from .options import RULES, Fields, Reading, read_names
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

    def check(self, log: str | None) -> Path:
        """Check the input, which is a log, rules or a model; an output must be another file."""
        model = Argument("from_model")
        if log is None and self.from_model is None:
            raise SettingError("FILE", None, Statement("must.log_or_model", argument=model))
        if log is not None and self.from_model is not None:
            raise SettingError("FILE", log, Statement("must.left_out_with", argument=model))
        file = Path(log or self.from_model or "")
        self._check_output(file)
        return file

    def _check_output(self, file: Path) -> None:
        suffix = ".svg" if self.show else ".toml"
        if self.output is not None:
            names = {} if self.activities is None else {"the names": self.activities}
            check_apart({"the output": self.output}, {"what is read": file, **names})
        if self.output is not None or not self.show:
            if self.output is None or self.output.suffix.lower() != suffix:
                raise SettingError("output", self.output, Statement("must.suffix", suffix=suffix))
            check_target(self.output, self.force)


def rules(
    log: Annotated[
        str | None,
        typer.Argument(help="The event log; with --show, a rules file or a model.", metavar="FILE"),
    ] = None,
    *,
    task: Annotated[Task, Fields()],
    model: Annotated[ModelOptions, Fields(leave_out=("deviations",), panel=RULES)],
    options: Reading,
) -> None:
    """Write the rules that every case of a log or a model satisfies to a file, or show them.

    Rules of a log are as confidential as the log is.
    """
    file, activities = task.check(log), read_names(task.activities)
    if task.match and not task.show:
        _match(file, activities or [], task)
    elif task.show or task.from_model is not None:
        found = open_rules(file, model, activities=activities, notify=notify)
        (_show if task.show else _write)(found, task)
    else:
        refuse_given(model, Statement("must.left_out_no_model"))
        variants = count_variants(open_log(str(log), options))
        if not variants.cases:
            raise ReadError(str(log), Statement("log.no_cases"))
        source = (FromPublicLog if task.public else FromSecretLog)(file.name)
        _write(learn_rules(variants, source), task)
        if not task.public:
            notify(Statement("cli.rules.confidential"))


def _write(found: Rules, task: Task) -> None:
    assert task.output is not None
    write_rules(found, task.output, task.force)
    counts = {
        "starts": found.starts,
        "follow": found.always_follows,
        "precede": found.always_precedes,
        "never": found.never_follows,
    }
    values = {name: int(rule.sum()) for name, rule in counts.items()}
    activities = len(found.activities)
    say(Statement("cli.rules.written", path=str(task.output), activities=activities, **values))


def _show(found: Rules, task: Task) -> None:
    if task.output is None:
        typer.echo(show_rules(found), nl=False)
        return
    # Only this needs the templates of pages.
    from ..report.rules_picture import draw_rules

    write_text(task.output, draw_rules(found), task.force)
    values = {"path": str(task.output), "activities": len(found.activities)}
    say(Statement("cli.rules.drawn", **values))


def _match(model: Path, activities: list[str], task: Task) -> None:
    """Propose pairs from the declared names alone, never from names in a log."""
    assert task.output is not None
    pairs = propose(read_model(model).names, activities)
    write_names(pairs, task.output, task.force)
    missing = sum(activity == UNKNOWN for activity in pairs.values())
    counts = {"proposed": len(pairs) - missing, "missing": missing}
    say(Statement("cli.rules.matched", path=str(task.output), argument=Argument("names"), **counts))
