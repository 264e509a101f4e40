"""How the program ends early: Ctrl-C, and a request to end or a lost terminal just the same."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class Interrupted(KeyboardInterrupt):
    """A signal that asks the program to end; whatever is open cleans up, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_status = 128 + number


def _signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@contextmanager
def catching_signals() -> Iterator[None]:
    """Let signals that ask for the end raise `Interrupted`; one that is ignored stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _signals()}
    for number, handler in before.items():
        if handler in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Once is enough: another signal must not break off the cleaning up.
    for other in _signals():
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


def end_interrupted(error: BaseException) -> NoReturn:
    """Report that the program was interrupted, and what was written by then; and end."""
    from ..kernel.statements import Statement
    from ..messages import render

    said = str(error) if isinstance(error, KeyboardInterrupt) else ""
    written = Statement.plain(said) if said else Statement("cli.nothing_written")
    sys.stderr.write(f"sacofa: {render(Statement('cli.interrupted', written=written))}\n")
    sys.exit(getattr(error, "exit_status", INTERRUPTED))
