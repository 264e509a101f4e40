"""The program: its commands, and how an error becomes one line and an exit status."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from .._version import __version__
from ..errors import RequestError, SacofaError, SettingError, Statement, plain
from ..messages import render
from .grouped import CommandList, GroupedCommand
from .interrupts import INTERRUPTED, end_interrupted
from .streams import write_anywhere

NOT_COMMANDS = {"app", "grouped", "interrupts", "options", "show", "streams"}
# Typer brings its own copy of click or uses the installed one; its public classes tell which.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
ClickException: type[Exception] = UsageError.__mro__[1]

VERSION = "--version"


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sacofa {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(VERSION, callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Anonymize event logs under differential privacy and keep them useful for process mining."""


def command_names() -> list[str]:
    """Every command: each has a module of its name next to this one."""
    beside = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return [name for name in beside if name not in NOT_COMMANDS]


def make_app(names: Iterable[str] | None = None) -> typer.Typer:
    """The program with the commands of these names, all if none are given; others stay unloaded."""
    app = typer.Typer(
        name="sacofa",
        cls=CommandList,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_program)
    for name in command_names() if names is None else names:
        _add_command(app, name)
    return app


def _add_command(app: typer.Typer, name: str) -> None:
    """Add the function, or the group of commands, that the module of this name has."""
    from .options import expanded

    found = getattr(importlib.import_module(f"{__package__}.{name}"), name)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name, cls=GroupedCommand)(expanded(found))


def _needed(words: list[str]) -> list[str]:
    """The commands that a line needs: the one that it begins with, or all to list them."""
    if words and words[0] in command_names():
        return words[:1]
    return [] if words == [VERSION] else command_names()


def run_program(arguments: list[str] | None = None) -> None:
    """Run a command; an error is a line on stderr, never a traceback."""
    write_anywhere()
    words = sys.argv[1:] if arguments is None else arguments
    command: Any = typer.main.get_command(make_app(_needed(words)))
    command.invoke = partial(_invoke, command.invoke)
    try:
        status = command.main(args=words, prog_name="sacofa", standalone_mode=False)
    except Exception as error:
        _end(error, partial(_explain, flags=_flags(command, words)))
    if status == INTERRUPTED:
        end_interrupted(KeyboardInterrupt())
    sys.exit(status if isinstance(status, int) else 0)


def _end(error: Exception, explain: Callable[[SacofaError], str]) -> NoReturn:
    """End with one line for each thing that is wrong."""
    if isinstance(error, SacofaError):
        several = error.errors if isinstance(error, RequestError) else (error,)
        _fail(map(explain, several), error.exit_status)
    if isinstance(error, ClickException):
        _fail_usage(error)
    if isinstance(error, _CarriedError):
        end_interrupted(error.interrupt)
    if isinstance(error, typer.Abort):
        end_interrupted(error)
    if isinstance(error, BrokenPipeError):
        sys.exit(1)
    _fail([str(_explain_unexpected(error))], 1)


def _explain(error: SacofaError, flags: Mapping[str, str]) -> str:
    """A refusal, with the options of the command in place of Python's arguments."""
    from .show import as_option

    if isinstance(error, SettingError):
        # A setting without an option, such as a column of a file, keeps its own name.
        flags = {error.name: error.name, **flags}
    return render(error.statement, wording=partial(as_option, flags=flags))


def _explain_unexpected(error: Exception) -> Statement:
    if isinstance(error, MemoryError):
        return Statement("error.memory")
    if isinstance(error, OSError):
        # A full disk, a missing right, a name that is too long: not ours.
        why = (error.strerror or type(error).__name__).lower()
        return Statement.plain(why if error.filename is None else f"{error.filename}: {why}")
    # A mistake of ours. Its text and its traceback may hold what stands in the log.
    return Statement("error.internal", place=_place(error))


def _fail_usage(error: Exception) -> NoReturn:
    """Report a command line that Typer refuses."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(str(error))
        sys.exit(2)
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    _fail([message + hint], 2 if isinstance(error, UsageError) else 1)


def _flags(command: object, words: list[str]) -> dict[str, str]:
    """The options of a command, by the names of their arguments and of the settings they set."""
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    parameters = getattr(command, "params", ())
    options = [each for each in parameters if each.param_type_name == "option"]
    flags = {str(option.name): max(option.opts, key=len) for option in options}
    if "epsilon" in flags and "mechanism" in flags:
        from ..mechanisms.registry import option_names

        names = option_names().items()
        flags |= {name: flags[option] for name, option in names if option in flags}
    return flags


class _CarriedError(Exception):
    """An interrupt on its way past Typer, which would make an exit status of it and no more."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        super().__init__()
        self.interrupt = interrupt


def _invoke(invoke: Callable[[object], object], context: object) -> object:
    try:
        return invoke(context)
    except KeyboardInterrupt as error:
        raise _CarriedError(error) from None


def _place(error: Exception) -> str:
    """Say what kind of error was raised and where in the package, and nothing of its text."""
    root = Path(__file__).parents[1]
    inside = [
        f"{Path(frame.filename).relative_to(root)} line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(root)
    ]
    return f"{type(error).__name__} in {inside[-1] if inside else 'the program'}"


def _fail(messages: Iterable[str], status: int) -> NoReturn:
    with suppress(OSError):
        for message in messages:
            typer.echo(f"sacofa: {plain(' '.join(message.splitlines()))}", err=True)
    sys.exit(status)
