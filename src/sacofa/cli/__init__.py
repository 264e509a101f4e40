"""The command line: thin, with no logic of its own.

`app.COMMANDS` lists the commands with their modules. A parameter of a command is one option, or a
dataclass whose fields are options with the help texts of its docstring (`options`). Lines and
tables for the terminal come from the message catalogue (`show`).
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """A signal that asks the program to end; whatever is open cleans up, as after Ctrl-C."""

    exit_status = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the program; an error is one line on stderr, never a traceback."""
    with catching_signals():
        try:
            # Loading takes a moment, in which people press Ctrl-C, too.
            from .app import run_program

            run_program(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt as error:
            from ..errors import Statement

            nothing = Statement("cli.nothing_written")
            written = Statement.plain(str(error)) if str(error) else nothing
            sys.stderr.write(f"sacofa: {Statement('cli.interrupted', written=written)}\n")
            sys.exit(getattr(error, "exit_status", Interrupted.exit_status))


@contextmanager
def catching_signals() -> Iterator[None]:
    """Let signals that ask for the end raise `Interrupted`; one that is ignored stays so."""
    in_main = threading.current_thread() is threading.main_thread()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if in_main and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in (getattr(signal, n) for n in names)}

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Once is enough: another signal must not break off the cleaning up.
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        interrupted = Interrupted()
        interrupted.exit_status = 128 + number
        raise interrupted

    for number, handler in before.items():
        if handler in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


__all__ = ["main"]
