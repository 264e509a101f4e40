"""Puts statements into words: templates are filled with values as a language writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from string import Formatter

from ..kernel.statements import TEXT, Argument, Statement, Value
from .catalogue import ENGLISH, Catalogue, load_catalogue

BETWEEN = {"clauses": "; ", "joined": " "}
"""What stands between the entries of a list, if it is not a comma."""
NUMBER_FORMAT = re.compile(r"\.[0-9][efg]")


def render(
    statement: Statement,
    language: str = ENGLISH,
    *,
    wording: Callable[[Argument], str] = str,
) -> str:
    """Put a statement into words.

    Args:
        statement: What to say.
        language: The language of the catalogue, such as `en` or `de`.
        wording: What to call an argument that the statement names: Python, the command line and
            the web app have different names for the same setting.

    Returns:
        One text. A code that the catalogue does not have, such as one that a later version wrote,
        is given as it is, with its values.
    """
    return _Renderer(load_catalogue(language), wording).statement(statement)


def printable(text: str) -> str:
    """Text for one line of a terminal: characters that would move its cursor are spelt out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def arguments_of(value: Value) -> Iterator[Argument]:
    """Every argument that a statement names, however deep."""
    if isinstance(value, Argument):
        yield value
    elif isinstance(value, Statement):
        yield from arguments_of(tuple(value.values.values()))
    elif isinstance(value, tuple):
        for part in value:
            yield from arguments_of(part)


@dataclass(frozen=True)
class _Renderer:
    """Words statements in one language."""

    catalogue: Catalogue
    wording: Callable[[Argument], str]

    def statement(self, statement: Statement) -> str:
        values = statement.values
        if statement.code == TEXT:
            return self._joined(values["text"], "")
        entry = self.catalogue.wordings.get(statement.code)
        if entry is None:
            listed = ", ".join(f"{name}={self.value(value)}" for name, value in values.items())
            return f"{statement.code}({listed})"
        return "".join(
            text if name is None else text + self.value(values.get(name, f"{{{name}}}"), form)
            for text, name, form in parsed(entry.choose(values))
        )

    def value(self, value: Value, form: str = "") -> str:
        """A value as the language writes it, in the form that its place asks for."""
        if form == "sentence":
            text = self.value(value)
            return f"{text[:1].upper()}{text[1:].rstrip('.')}."
        if form == "capital":
            text = self.value(value)
            return f"{text[:1].upper()}{text[1:]}"
        if isinstance(value, tuple):
            return self._list(value, form)
        if isinstance(value, Argument):
            return self.wording(value)
        if isinstance(value, Statement):
            return self.statement(value)
        if isinstance(value, str):
            # Names of columns and files may hold line breaks; a message is one line.
            return " ".join(value.splitlines())
        return self._number(value, form)

    def _number(self, value: bool | int | float | Fraction, form: str) -> str:
        if isinstance(value, bool):
            return self.catalogue.conventions["yes" if value else "no"]
        if form == "percent":
            return self._local(f"{float(value):.0%}")
        if form == "plain":
            return str(value)
        if NUMBER_FORMAT.fullmatch(form):
            return self._local(format(float(value), form))
        if isinstance(value, int):
            return self._local(f"{value:,}")
        short = f"{float(value):.6g}"
        if isinstance(value, float) or Fraction(short) == value:
            return self._local(short)
        return f"({value})" if form == "exponent" else str(value)

    def _local(self, number: str) -> str:
        """A number that Python wrote, with the marks of the language."""
        conventions = self.catalogue.conventions
        marks = str.maketrans(",.", conventions["thousands"] + conventions["decimal"])
        return number.translate(marks).replace("%", conventions["percent"])

    def _list(self, values: tuple[Value, ...], form: str) -> str:
        """A list: `and` and `or` stand before its last entry."""
        if form in ("and", "or") and len(values) > 1:
            first = self._joined(values[:-1], ", ")
            return f"{first} {self.catalogue.conventions[form]} {self.value(values[-1])}"
        return self._joined(values, BETWEEN.get(form, ", "))

    def _joined(self, value: Value, between: str) -> str:
        values = value if isinstance(value, tuple) else (value,)
        return between.join(self.value(each) for each in values)


@cache
def parsed(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """The parts of a template: text, then the name and form of the place after it, if any."""
    return tuple((text, name, form or "") for text, name, form, _ in Formatter().parse(template))
