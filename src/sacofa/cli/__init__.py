"""The command line: thin, with no logic of its own.

A command is a module with a function of its name. A parameter of it is one option, or a dataclass
whose fields are options with the help texts of its docstring (`options`). Lines and tables for the
terminal come from the message catalogue (`show`).
"""

from __future__ import annotations

from .interrupts import catching_signals, end_interrupted


def main(arguments: list[str] | None = None) -> None:
    """Run the program; an error is one line on stderr, never a traceback."""
    with catching_signals():
        try:
            # Loading takes a moment, in which people press Ctrl-C, too.
            from .app import run_program

            run_program(arguments)
        except KeyboardInterrupt as error:
            end_interrupted(error)


__all__ = ["main"]
