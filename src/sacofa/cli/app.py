"""The program: its commands, and how an error becomes one line and an exit status."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from .._version import __version__
from ..errors import Argument, RequestError, SacofaError, SettingError, plain
from ..messages import render
from .grouped import CommandList
from .interrupts import end_interrupted
from .streams import write_anywhere

INTERRUPTED = 130
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
    """Every command: each has a module of its name beside this one, with a `register` function."""
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
        importlib.import_module(f"{__package__}.{name}").register(app)
    return app


def _needed(words: list[str]) -> list[str]:
    """The commands that a line needs: the one that it begins with, or all to tell of them."""
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
    except RequestError as several:
        _fail([_explain(error, command, words) for error in several.errors], several.exit_status)
    except SacofaError as error:
        _fail([_explain(error, command, words)], error.exit_status)
    except ClickException as error:
        _fail_usage(error)
    except _CarriedError as error:
        end_interrupted(error.interrupt)
    except (KeyboardInterrupt, typer.Abort) as error:
        end_interrupted(error)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        _fail([_explain_unexpected(error)], 1)
    if status == INTERRUPTED:
        end_interrupted(KeyboardInterrupt())
    sys.exit(status if isinstance(status, int) else 0)


def _explain(error: SacofaError, command: Any, words: list[str]) -> str:
    """A refusal, with the options of the command in place of Python's arguments."""
    flags = _flags(command, words)
    if isinstance(error, SettingError):
        # A setting without an option, such as a column of a file, keeps its own name.
        flags.setdefault(error.name, error.name)
    return render(error.statement, wording=partial(_as_option, flags))


def _explain_unexpected(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this log"
    if isinstance(error, OSError):
        # A disk that is full, a right that is missing, a name that is too long: not ours.
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{(error.strerror or type(error).__name__).lower()}"
    # A mistake of ours. Its text and its traceback may hold what stands in the log.
    return f"internal error ({_place(error)}): please report this line"


def _fail_usage(error: Exception) -> NoReturn:
    """Report a command line that Typer refuses."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(str(error))
        sys.exit(2)
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    _fail([message + hint], 2 if isinstance(error, UsageError) else 1)


def _flags(command: Any, words: list[str]) -> dict[str, str]:
    """The options of a command, by the names of their arguments."""
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    flags = {
        parameter.name: max(parameter.opts, key=len)
        for parameter in command.params
        if parameter.param_type_name == "option"
    }
    if "epsilon" in flags:
        flags["level_epsilon"] = flags["epsilon"]
    return flags


def _as_option(flags: dict[str, str], argument: Argument) -> str:
    """An argument that a message advises, as an option of the command."""
    flag = flags.get(argument.name, f"--{argument.name.replace('_', '-')}")
    if argument.value is False:
        return flag.replace("--", "--no-", 1)
    return flag if argument.value in (None, True) else f"{flag} {argument.value}"


class _CarriedError(Exception):
    """An interrupt on its way past Typer, which would make an exit status of it and no more."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        super().__init__()
        self.interrupt = interrupt


def _invoke(invoke: Callable[[Any], Any], context: Any) -> Any:
    try:
        return invoke(context)
    except KeyboardInterrupt as error:
        raise _CarriedError(error) from None


def _place(error: Exception) -> str:
    """Say what kind of error was raised and where in the package, and nothing of what it says."""
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
