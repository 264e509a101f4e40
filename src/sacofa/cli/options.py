"""Options that several commands share, built from what the library says of its settings.

A command that reads a log takes one `ReadOptions`, one that makes mechanisms one mapping of
settings; the decorators here turn these parameters into an option for each field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ..base.described import field_docs
from ..errors import ReadError, SettingError
from ..events import ReadOptions
from ..mechanisms.registry import DEFAULT, choices
from ..mechanisms.settings import Kind
from ..rules import ModelOptions
from ..rules.models import read_names_map
from .grouped import LOG, OUTPUT, PAPER, PROMISE, RULES, WHAT

LogPath = Annotated[
    str,
    typer.Argument(
        help="The event log: XES, CSV, TSV, Parquet, xlsx, ods or JSON lines (a file, a pattern or "
        "a folder), - for standard input, or postgresql://… with --query.",
        metavar="LOG",
    ),
]
LogPaths = Annotated[
    list[str],
    typer.Argument(
        help="The event log: XES, CSV, TSV, Parquet, xlsx, ods or JSON lines (a file, several, a "
        "pattern or a folder), - for standard input, or postgresql://… with --query.",
        metavar="LOG",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that exist.", rich_help_panel=OUTPUT)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Where to write.")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Repeatable noise, for tests; such a release is not private.",
        rich_help_panel=PROMISE,
    ),
]

_READ_TYPES: dict[str, Any] = {
    "activity": list[str],
    "timestamp": list[str],
    "start": list[str],
    "attribute": list[str],
    "pair": list[str],
    "columns": Path,
    "max_cases": int,
    "skip_rows": int,
    "employees": bool,
    "personal": bool,
    "accept_other": bool,
    "trusted": bool,
}
_OTHER_NAMES = {"accept_other": ("--yes",)}
"""More names of options that read a log."""
_MODEL_TYPES: dict[str, Any] = {"names": Path, "deviations": int}
_KIND_TYPES: dict[Kind, Any] = {"whole": int, "flag": bool, "rules": Path}
_METAVARS: dict[Kind, str] = {
    "epsilon": "NUMBER",
    "number": "NUMBER",
    "whole or inf": "INTEGER|inf",
}


def takes_read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for each field of `ReadOptions`, as its parameter `options`."""
    docs = field_docs(ReadOptions)
    names = [entry.name for entry in fields(ReadOptions)]

    def collect(given: dict[str, Any]) -> ReadOptions:
        said = {name: given.pop(name) for name in names}
        # What is left out is empty; a header is one text, which is divided at its commas.
        many = ("activity", "header", "attribute", "pair")
        return ReadOptions(**{**said, **{name: said[name] or () for name in many}})

    added = []
    for name in names:
        kind, flags = _READ_TYPES.get(name, str), (_flag(name), *_OTHER_NAMES.get(name, ()))
        panel = PROMISE if name in ("person", "max_cases") else LOG
        option = typer.Option(*flags, help=docs[name], rich_help_panel=panel)
        if kind is bool:
            added.append(_parameter(name, Annotated[bool, option], False))
        else:
            added.append(_parameter(name, Annotated[kind | None, option], None))
    return _with(command, "options", added, collect)


def refuse_read_options(options: ReadOptions, must: str) -> None:
    """Refuse what is said about reading a log where none is read."""
    for entry in fields(ReadOptions):
        value = getattr(options, entry.name)
        if value != entry.default:
            raise SettingError(entry.name, value, must)


def takes_model_options(*left_out: str) -> Callable[..., Any]:
    """Give a command an option for each field of `ModelOptions`, as its parameter `model`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        docs = field_docs(ModelOptions)
        names = [e.name for e in fields(ModelOptions) if e.name not in left_out]

        def collect(given: dict[str, Any]) -> ModelOptions:
            said = {name: given.pop(name) for name in names}
            if said["names"] is not None:
                said["names"] = read_names_map(said["names"])
            return ModelOptions(**said)

        added = []
        for name in names:
            option = typer.Option(_flag(name), help=docs[name], rich_help_panel=RULES)
            if name == "closed":
                added.append(_parameter(name, Annotated[bool, option], False))
            else:
                kind = _MODEL_TYPES.get(name, str)
                added.append(_parameter(name, Annotated[kind | None, option], None))
        return _with(command, "model", added, collect)

    return decorate


def takes_settings(*left_out: str, required: Sequence[str] = ("epsilon",)) -> Callable[..., Any]:
    """Give a command an option for each setting of the mechanisms, as its parameter `settings`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        wanted = [choice for choice in choices() if choice.option not in left_out]

        def collect(given: dict[str, Any]) -> dict[str, Any]:
            return {choice.option: given.pop(choice.option) for choice in wanted}

        added = []
        for choice in wanted:
            flag = _flag(choice.option)
            if choice.kind == "flag":
                # What is not pruned is kept; anything else is simply not done.
                pruned = flag.startswith("--prune")
                flag += f"/{flag.replace('--prune', '--keep') if pruned else f'--no-{flag[2:]}'}"
            panel = WHAT if DEFAULT in choice.mechanisms else PAPER
            option = typer.Option(
                flag,
                help=choice.help,
                metavar=_METAVARS.get(choice.kind),
                rich_help_panel=PROMISE if choice.option == "epsilon" else panel,
            )
            kind = _KIND_TYPES.get(choice.kind, str)
            if choice.option in required:
                added.append(_parameter(choice.option, Annotated[kind, option]))
            else:
                added.append(_parameter(choice.option, Annotated[kind | None, option], None))
        return _with(command, "settings", added, collect)

    return decorate


def read_names(path: Path) -> list[str]:
    """Read public names of activities, one a line."""
    try:
        names = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ReadError(path, "is not written in utf-8: save it so") from None
    return [name for name in names if name]


def one_or_all(logs: list[str]) -> str | list[str]:
    """A log that is one path, or several files that make up one."""
    return logs[0] if len(logs) == 1 else logs


def say(note: object) -> None:
    """Tell a person something beside the answer."""
    typer.echo(note, err=True)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _with(
    command: Callable[..., Any],
    replaced: str,
    added: Iterable[inspect.Parameter],
    collect: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Replace one parameter of a command by several, which are collected into it again."""

    @wraps(command)
    def wrapper(**given: Any) -> Any:
        given[replaced] = collect(given)
        return command(**given)

    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == replaced:
            parameters += added
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {
        "return": None
    }
    del wrapper.__wrapped__
    return wrapper
