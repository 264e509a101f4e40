"""Options of commands, from declared fields.

A parameter of a command that is annotated with `Fields` or `Settings` stands for several options:
their names, types, defaults and help texts are those of the fields of its class. `expanded`
replaces such a parameter by these options, and collects what was given into its value again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Literal, Union, get_args, get_origin
from typing import get_type_hints as hints_of

import typer

from ..base.described import field_docs
from ..errors import Part, ReadError, SettingError, Statement
from ..events import ReadOptions
from ..mechanisms.registry import DEFAULT, MECHANISMS, choices
from ..mechanisms.settings import Kind
from ..rules import ModelOptions
from ..rules.models import read_names_map
from .grouped import LOG, OUTPUT, PAPER, PROMISE, RULES, WHAT

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Given = dict[str, object]
"""What the command line gave, by the names of parameters."""
LOG_HELP = (
    "The event log: XES, CSV, TSV, Parquet, xlsx, ods or JSON lines (a file, a pattern or a "
    "folder), - for standard input, or postgresql://… with --query."
)
LogPath = Annotated[str, typer.Argument(help=LOG_HELP, metavar="LOG")]
LogPaths = Annotated[
    list[str],
    typer.Argument(help=LOG_HELP.replace("a file, a", "a file, several, a"), metavar="LOG"),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that exist.", rich_help_panel=OUTPUT)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write.")]
ReleasedFile = Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")]

_TYPES: dict[str, object] = {
    "header": str, "columns": Path, "names": Path, "log": str, "ledger": Path,
}  # fmt: skip
"""Types on the command line of fields whose own types it cannot take."""
_KIND_TYPES: dict[Kind, type] = {"whole": int, "flag": bool, "rules": Path}
_METAVARS: dict[Kind, str] = {
    "epsilon": "NUMBER", "number": "NUMBER", "whole or inf": "INTEGER|inf",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Options for the fields of a class; for `partial[…]` of one, all of them are optional.

    Attributes:
        only: The fields with an option. Default: all.
        leave_out: Fields without an option.
        panel: Heading in the help.
        panels: Headings of single fields.
        flags: Names of options, if they are not those of their fields.
        help: Help texts, if they are not those of the class.
    """

    only: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    panel: str | None = None
    panels: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)

    def options(self, kind: type) -> Iterator[inspect.Parameter]:
        """One parameter for each field."""
        (declaring,) = get_args(kind) or (kind,)
        docs, hints = {**field_docs(declaring), **self.help}, hints_of(declaring)
        for entry in self._fields(declaring):
            name, default = entry.name, entry.default
            required = default is MISSING and entry.default_factory is MISSING and kind is declaring
            dated = date in (hints[name], *get_args(hints[name]))
            option = typer.Option(
                *self.flags.get(name, (f"--{name.replace('_', '-')}",)),
                help=docs[name],
                rich_help_panel=self.panels.get(name, self.panel),
                parser=date.fromisoformat if dated else None,
                metavar="YYYY-MM-DD" if dated else None,
            )
            taken = _TYPES.get(name, hints[name])
            yield _parameter(name, taken, option, inspect.Parameter.empty if required else default)

    def _fields(self, declaring: type) -> list[Field[object]]:
        """The fields with an option."""
        names = self.only or [entry.name for entry in fields(declaring)]
        return [e for e in fields(declaring) if e.name in names and e.name not in self.leave_out]

    def collect(self, kind: type, given: Given) -> object:
        """The value of the options; the class decides about those that were left out."""
        (declaring,) = get_args(kind) or (kind,)
        said = {entry.name: given.pop(entry.name) for entry in self._fields(declaring)}
        if isinstance(path := said.get("names"), Path):
            said["names"] = read_names_map(path)
        said = {name: value for name, value in said.items() if value not in (None, [])}
        return partial(declaring, **said) if declaring is not kind else declaring(**said)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A mechanism, and what was given for each setting, by option."""

    mechanism: str
    settings: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options for the name of a mechanism and for the settings of all mechanisms."""

    leave_out: tuple[str, ...] = ()

    def options(self, kind: type) -> Iterator[inspect.Parameter]:
        """One parameter for each setting."""
        names = typer.Option(help=", ".join(MECHANISMS) + ".", rich_help_panel=WHAT)
        yield _parameter("mechanism", str, names, DEFAULT)
        for choice in choices():
            if choice.option in self.leave_out:
                continue
            flag, required = f"--{choice.option.replace('_', '-')}", choice.option == "epsilon"
            if choice.kind == "flag":
                # The opposite of pruning is keeping.
                pruned = flag.startswith("--prune")
                flag += f"/{flag.replace('--prune', '--keep') if pruned else f'--no-{flag[2:]}'}"
            panel = WHAT if DEFAULT in choice.mechanisms else PAPER
            option = typer.Option(
                flag,
                help=choice.help,
                metavar=_METAVARS.get(choice.kind),
                rich_help_panel=PROMISE if required else panel,
            )
            taken = _KIND_TYPES.get(choice.kind, str)
            default = inspect.Parameter.empty if required else None
            yield _parameter(choice.option, taken, option, default)

    def collect(self, kind: type, given: Given) -> Chosen:
        """The mechanism and its settings."""
        names = [choice.option for choice in choices() if choice.option not in self.leave_out]
        mechanism = str(given.pop("mechanism"))
        return Chosen(mechanism=mechanism, settings={name: given.pop(name) for name in names})


Reading = Annotated[
    ReadOptions,
    Fields(
        panel=LOG,
        panels={"person": PROMISE, "max_cases": PROMISE},
        flags={"accept_other": ("--accept-other", "--yes")},
    ),
]
Modelling = Annotated[ModelOptions, Fields(panel=RULES)]


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each declared field."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Callable[[Given], object]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        kind, *marks = get_args(parameter.annotation) or (None,)
        group = next((mark for mark in marks if isinstance(mark, Fields | Settings)), None)
        if group is None or kind is None:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            groups[parameter.name] = partial(group.collect, kind)
            parameters += group.options(kind)
    if not groups:
        return command

    def collected(**given: object) -> None:
        values = {name: collect(given) for name, collect in groups.items()}
        command(**given, **values)

    collected.__doc__ = command.__doc__
    collected.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    collected.__annotations__ = {each.name: each.annotation for each in parameters}
    return collected


def _parameter(name: str, hint: object, option: object, default: object) -> inspect.Parameter:
    kind = _taken(hint)
    if default is not inspect.Parameter.empty and not isinstance(default, bool | int | float | str):
        kind, default = kind | None, None  # type: ignore[operator]
    taken, keyword = Annotated[kind, option], inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=taken)


def _taken(hint: object) -> object:
    """The type that the command line takes for the type of a field."""
    union = isinstance(hint, UnionType) or get_origin(hint) is Union
    parts = [part for part in get_args(hint) if part is not NoneType] if union else [hint]
    origins = {get_origin(part): part for part in parts}
    if list in origins:
        return origins[list]
    if origins.keys() & {tuple, Sequence}:
        return list[str]
    return str if Literal in origins else parts[0]


def refuse_given(value: DataclassInstance, must: Part) -> None:
    """Refuse whatever was given for a dataclass where it means nothing."""
    for entry in fields(value):
        given = getattr(value, entry.name)
        if given != entry.default:
            raise SettingError(entry.name, given, must)


def one_or_all(logs: list[str]) -> str | list[str]:
    """A log that is one path, or several files that make up one."""
    return logs[0] if len(logs) == 1 else logs


def read_names(path: Path) -> list[str]:
    """Read public names of activities, one a line."""
    try:
        names = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ReadError(path, Statement("file.unreadable", why=error.strerror or "")) from None
    except UnicodeDecodeError:
        raise ReadError(path, Statement("file.encoding", encoding="utf-8")) from None
    return [name for name in names if name]
