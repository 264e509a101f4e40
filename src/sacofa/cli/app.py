"""The program: its commands, and how an error becomes one line and an exit status."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from .._version import __version__
from ..errors import SacofaError

NOT_COMMANDS = {"app", "options", "show"}
# Typer brings its own copy of click or uses the installed one; its public classes tell which.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
ClickException: type[Exception] = UsageError.__mro__[1]

app = typer.Typer(
    name="sacofa",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sacofa {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Release event logs under differential privacy and keep them useful for process mining."""


def register_commands(app: typer.Typer) -> None:
    """Add every command: each module beside this one has a `register` function."""
    for module in sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)])):
        if module not in NOT_COMMANDS:
            importlib.import_module(f"{__package__}.{module}").register(app)


register_commands(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the program; an error is one line on stderr, never a traceback."""
    command = typer.main.get_command(app)
    try:
        status = command.main(args=arguments, prog_name="sacofa", standalone_mode=False)
    except SacofaError as error:
        _fail(str(error), error.exit_status)
    except ClickException as error:
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        _fail(message + hint, 2 if isinstance(error, UsageError) else 1)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted: nothing was written", 130)
    except BrokenPipeError:
        sys.exit(1)
    except MemoryError:
        _fail("there is not enough memory for this log", 1)
    except Exception as error:
        # A mistake of ours. Its text and its traceback may hold what stands in the log.
        _fail(f"internal error ({_place(error)}): please report this line", 1)
    sys.exit(status if isinstance(status, int) else 0)


def _place(error: Exception) -> str:
    """Say what kind of error was raised and where in the package, and nothing of what it says."""
    root = Path(__file__).parents[1]
    inside = [
        f"{Path(frame.filename).relative_to(root)} line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(root)
    ]
    return f"{type(error).__name__} in {inside[-1] if inside else 'the program'}"


def _fail(message: str, status: int) -> None:
    typer.echo(f"sacofa: {' '.join(message.splitlines())}", err=True)
    sys.exit(status)
