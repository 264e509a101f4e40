"""Options of commands, from declared fields, and their help in groups.

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
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from typing import get_type_hints as hints_of

import typer
from typer.core import TyperCommand, TyperGroup

from ..base.described import field_docs
from ..base.files import unreadable
from ..errors import ReadError, Statement
from ..events import ReadOptions
from ..mechanisms.registry import DEFAULT, MECHANISMS, choices
from ..mechanisms.settings import Kind, Setting
from ..rules import ModelOptions
from ..rules.models import read_names_map

WHAT, PROMISE, LOG = "What is released", "The promise", "How the log is read"
RULES, PAPER, OUTPUT = "Rules", "The mechanisms of the papers", "Output"
ORDER = (WHAT, PROMISE, LOG, RULES, PAPER, OUTPUT)
"""The groups of options, in the order in which they are shown."""
MAX_UNGROUPED = 20
"""The options that fit on a screen without groups."""
Given = dict[str, object]
"""The values given on the command line, by parameter."""
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
_EMPTY = inspect.Parameter.empty


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
        declaring, chosen = self._declared(kind)
        docs, hints = {**field_docs(declaring), **self.help}, hints_of(declaring)
        for entry in chosen:
            name, hint, default = entry.name, hints[entry.name], entry.default
            required = default is MISSING and entry.default_factory is MISSING and kind is declaring
            dated = date in (hint, *get_args(hint))
            flag = ("-o", "--output") if name == "output" else (f"--{name.replace('_', '-')}",)
            option = typer.Option(
                *self.flags.get(name, flag),
                help=docs[name],
                rich_help_panel=self.panels.get(name, self.panel),
                parser=date.fromisoformat if dated else None,
                metavar="YYYY-MM-DD" if dated else None,
            )
            yield _parameter(name, _TYPES.get(name, hint), option, _EMPTY if required else default)

    def collect(self, kind: type, given: Given) -> object:
        """The value of the options; the class decides about those that were left out."""
        declaring, chosen = self._declared(kind)
        said = {entry.name: given.pop(entry.name) for entry in chosen}
        if isinstance(path := said.get("names"), Path):
            said["names"] = read_names_map(path)
        said = {name: value for name, value in said.items() if value not in (None, [])}
        return partial(declaring, **said) if declaring is not kind else declaring(**said)

    def _declared(self, kind: type) -> tuple[type, list[Field[object]]]:
        """The class, and its fields with an option."""
        (declaring,) = get_args(kind) or (kind,)
        listed = [each for each in fields(declaring) if each.name not in self.leave_out]
        return declaring, [each for each in listed if not self.only or each.name in self.only]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A mechanism and the values given for its settings, by option."""

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
        for choice in self._offered():
            flag, required = f"--{choice.option.replace('_', '-')}", choice.option == "epsilon"
            promised = choice.option in ("epsilon", "delta")
            if choice.kind == "flag":
                # The opposite of pruning is keeping.
                pruned = flag.startswith("--prune")
                flag += f"/{flag.replace('--prune', '--keep') if pruned else f'--no-{flag[2:]}'}"
            panel = WHAT if DEFAULT in choice.mechanisms else PAPER
            option = typer.Option(
                flag,
                help=choice.help,
                metavar=_METAVARS.get(choice.kind),
                rich_help_panel=PROMISE if promised else panel,
            )
            hint, default = _KIND_TYPES.get(choice.kind, str), _EMPTY if required else None
            yield _parameter(choice.option, hint, option, default)

    def collect(self, kind: type, given: Given) -> Chosen:
        """The mechanism and its settings."""
        settings = {choice.option: given.pop(choice.option) for choice in self._offered()}
        return Chosen(mechanism=str(given.pop("mechanism")), settings=settings)

    def _offered(self) -> list[Setting]:
        return [choice for choice in choices() if choice.option not in self.leave_out]


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

    def collected(**given: object) -> None:
        values = {name: collect(given) for name, collect in groups.items()}
        command(**given, **values)

    collected.__doc__ = command.__doc__
    collected.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    collected.__annotations__ = {each.name: each.annotation for each in parameters}
    return collected


def _parameter(name: str, hint: object, option: object, default: object) -> inspect.Parameter:
    """A parameter of the type that the command line takes for the type of a field."""
    union = isinstance(hint, UnionType) or get_origin(hint) is Union
    parts = [part for part in get_args(hint) if part is not NoneType] if union else [hint]
    origins = {get_origin(part): part for part in parts}
    kind = origins.get(list, str if Literal in origins else parts[0])
    if origins.keys() & {tuple, Sequence}:
        kind = list[str]
    if default is not _EMPTY and not isinstance(default, bool | int | float | str):
        kind, default = kind | None, None  # type: ignore[operator]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=Annotated[kind, option])


class GroupedCommand(TyperCommand):
    """A command whose help shows options by group, if they do not fit on a screen."""

    @property
    def grouped(self) -> bool:
        """Whether there are enough options to group them."""
        return len(self.params) > MAX_UNGROUPED

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group with a heading."""
        if not self.grouped:
            super().format_options(ctx, formatter)
            return
        groups: dict[str, list[object]] = {t: [] for t in ("Arguments", *ORDER, "Options")}
        for parameter in self.get_params(ctx):
            groups[group_of(parameter)].append(parameter.get_help_record(ctx))
        for title, records in groups.items():
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)


def group_of(parameter: Any) -> str:
    """The heading that an option stands under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


class CommandList(TyperGroup):
    """A command with subcommands, whose help lists one unbroken line for each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with the first sentence of its help, however long it is."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(1_000)) for name, each in self.commands.items()]
            )


def make_group(help: str) -> typer.Typer:
    """A command that has others."""
    return typer.Typer(cls=CommandList, no_args_is_help=True, rich_markup_mode=None, help=help)


def one_or_all(logs: list[str]) -> str | list[str]:
    """A log that is one path, or several files that make up one."""
    return logs[0] if len(logs) == 1 else logs


def read_names(path: Path | None) -> list[str] | None:
    """Read public names of activities, one a line, if a file of them was given."""
    if path is None:
        return None
    try:
        names = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise ReadError(path, Statement("file.encoding", encoding="utf-8")) from None
    return [name for name in names if name]
