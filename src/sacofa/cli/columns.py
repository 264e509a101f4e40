"""`sacofa columns`: a file to start from that declares the values of attributes."""

from __future__ import annotations

from ..base.files import check_apart, check_target, write_text
from ..events.profile import starting_file
from .options import Force, LogPath, Output, Reading
from .show import notify, say_written


def columns(log: LogPath, output: Output, options: Reading, force: Force = False) -> None:
    """Write a file of columns to start from: names and types of the log, for you to complete.

    It contains no value of the log. Columns that look like identifiers or copies of times are left
    out, and listed on the terminal.
    """
    check_target(output, force)
    check_apart({"the output": output}, {"the log": log})
    text, notes = starting_file(log, options)
    write_text(output, text, force)
    for note in notes:
        notify(note)
    say_written("columns", output)
