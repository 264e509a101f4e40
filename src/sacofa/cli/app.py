"""The program: its commands, and how an error becomes one line and an exit status."""

from __future__ import annotations

import codecs
import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .._version import __version__
from ..errors import RequestError, SacofaError, SettingError, Statement, plain
from ..messages import render

COMMANDS = {
    name: module
    for module, names in {
        "anonymize": ("anonymize", "combine", "demo"),
        "audit": ("audit", "plan"),
        "certificates": ("certificate", "key", "sign", "verify"),
        "ledger": ("ledger",),
        "logs": ("columns", "generate", "inspect"),
        "measure": ("compare", "evaluate", "report", "reproduce"),
        "rules": ("rules",),
        "serve": ("serve",),
    }.items()
    for name in names
}
"""The module of each command: it has a function, or a group of commands, of that name."""
VERSION = "--version"
SPELT = {
    "ε": "epsilon", "δ": "delta", "…": "...", "–": "-", "≤": "<=", "≥": ">=", "×": "x", "±": "+/-",
}  # fmt: skip
"""Replacements for characters that the terminal cannot show."""
# Typer brings its own copy of click or uses the installed one; its public classes tell which.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
ClickException: type[Exception] = UsageError.__mro__[1]


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The program with the commands of these names; others stay unloaded."""
    from .options import CommandList, GroupedCommand, expanded

    app = typer.Typer(
        name="sacofa",
        cls=CommandList,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_program)
    for name in sorted(names):
        found = getattr(importlib.import_module(f"{__package__}.{COMMANDS[name]}"), name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, cls=GroupedCommand)(expanded(found))
    return app


def _program(
    version: Annotated[bool, typer.Option(VERSION, help="Show the version.")] = False,
) -> None:
    """Anonymize event logs under differential privacy and keep them useful for process mining."""


def run_program(words: list[str]) -> None:
    """Run a command; an error is a line on stderr, never a traceback."""
    write_anywhere()
    if words[:1] == [VERSION]:
        typer.echo(f"sacofa {__version__}")
        sys.exit(0)
    # A line needs the command that it begins with, or all to list them.
    command: Any = typer.main.get_command(make_app({*words[:1]} & COMMANDS.keys() or COMMANDS))
    if "_SACOFA_COMPLETE" in os.environ:
        command.main(prog_name="sacofa")
    try:
        # Without the `main` of Typer, which would make an exit status of an interrupt.
        with command.make_context("sacofa", list(words)) as context:
            command.invoke(context)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        # Output that is still buffered is discarded.
        sys.stdout = sys.stderr = io.StringIO()
        sys.exit(1)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
            sys.exit(2)
        lines, status = _explain(error, command, words)
        with suppress(OSError):
            for line in lines:
                typer.echo(f"sacofa: {plain(' '.join(line.splitlines()))}", err=True)
        sys.exit(status)
    sys.exit(0)


def write_anywhere() -> None:
    """Let letters that a terminal or a file cannot take be spelt out, instead of failing."""

    def spell(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        letters = error.object[error.start : error.end]
        # JSON notation for values without a name of their own.
        return "".join(SPELT.get(one) or json.dumps(one)[1:-1] for one in letters), error.end

    codecs.register_error("sacofa-spell", spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sacofa-spell")


def _explain(error: Exception, command: object, words: list[str]) -> tuple[list[str], int]:
    """One line for each thing that is wrong, and the exit status."""
    if isinstance(error, SacofaError):
        from .show import as_option

        options, lines = _flags(command, words), []
        for each in error.errors if isinstance(error, RequestError) else (error,):
            # A setting without an option, such as a column of a file, keeps its own name.
            own = {each.name: each.name} if isinstance(each, SettingError) else {}
            lines.append(render(each.statement, wording=partial(as_option, flags=own | options)))
        return lines, error.exit_status
    if isinstance(error, ClickException):
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return [message + hint], 2 if isinstance(error, UsageError) else 1
    return [_explain_unexpected(error)], 1


def _explain_unexpected(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return str(Statement("error.memory"))
    if isinstance(error, OSError):
        # A full disk, a missing right, a name that is too long: not ours.
        why = (error.strerror or type(error).__name__).lower()
        return why if error.filename is None else f"{error.filename}: {why}"
    # A bug in sacofa. Its message and traceback may contain confidential values.
    root, place = Path(__file__).parents[1], "the program"
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(root):
            place = f"{Path(frame.filename).relative_to(root)} line {frame.lineno}"
    return str(Statement("error.internal", place=f"{type(error).__name__} in {place}"))


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
