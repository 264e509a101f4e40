"""Messages as pages show them: people who use a browser know no options of a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction

from ..errors import Argument, SacofaError
from ..messages import render
from ..report.promise import say_number

HINTS = (
    # The page has a button for it.
    (re.compile(r"[:;,]? ?(?:or )?say that (?:it|the file) is trusted \(“trusted”\).*"), ""),
    (re.compile(r"\bmax_length\b"), "the greatest length"),
    (re.compile(r"\border=(time|file)\b"), r"the order by \1"),
    (re.compile(r"\s*\(--[a-z][a-z-]*(?:[ =][^)]*)?\)"), ""),
    (re.compile(r"`?sacofa [a-z]+`?(?: writes?)?"), "the program"),
)
"""Parts of messages that speak of the command line, and what pages say instead."""
FRACTION = re.compile(r"\b[0-9]{1,15}/[1-9][0-9]{0,14}\b")
OPTION = re.compile(r"--([a-z][a-z-]*)")


def as_field(argument: Argument) -> str:
    """An argument that a message advises, as the page calls its field."""
    name = f"“{argument.name.replace('_', ' ')}”"
    if argument.value in (None, True):
        return name
    return f"{name}: {'no' if argument.value is False else argument.value}"


def in_fields(error: SacofaError, paths: Mapping[str, str]) -> str:
    """The message of an error with the fields of a request, given the path of each argument."""

    def wording(argument: Argument) -> str:
        path = paths.get(argument.name, argument.name)
        return path if argument.value is None else f"{path}: {json.dumps(argument.value)}"

    return render(error.statement, wording=wording)


def plain_numbers(message: str) -> str:
    """Write fractions as decimal numbers where those are exact: 13/10 is 1.3."""
    return FRACTION.sub(lambda found: say_number(Fraction(found[0])), message)


def plain_words(message: str) -> str:
    """Say the same without options; one that is named is called as the page calls it."""
    for pattern, words in HINTS:
        message = pattern.sub(words, message)
    return OPTION.sub(lambda found: f"“{found[1].replace('-', ' ')}”", message)
