"""Output that every terminal takes, whatever letters it knows."""

from __future__ import annotations

import codecs
import io
import sys

HANDLER = "sacofa-spell"
SPELT = {
    "ε": "epsilon",
    "δ": "delta",
    "…": "...",
    "–": "-",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "±": "+/-",
}
"""What is said in other letters where these cannot be shown."""


def write_anywhere() -> None:
    """Let letters that a terminal or a file cannot take be spelt out, instead of failing."""
    codecs.register_error(HANDLER, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell out letters; what has no other name is written as JSON does it."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(SPELT.get(letter) or _escaped(letter) for letter in letters), error.end


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
