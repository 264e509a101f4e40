"""Statements in JSON: code and values for programs, and next to them an English text for people.

The text is never read back. A plain string is read as a statement that is its own wording, as
certificates of format 2 have them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from ..kernel.statements import Argument, Statement, Value
from .catalogue import render

FRACTION = re.compile(r"-?[0-9]{1,60}(/[0-9]{1,60})?", re.ASCII)


def to_content(statement: Statement) -> dict[str, object]:
    """A statement as JSON holds it."""
    return {**_content(statement), "text": render(statement)}


def from_content(content: object) -> Statement:
    """Read a statement; anything else raises `ValueError`, `KeyError` or `TypeError`."""
    if isinstance(content, str):
        return Statement.plain(content)
    if not isinstance(content, Mapping) or not isinstance(content["code"], str):
        raise TypeError(content)
    values = {str(name): _read(value) for name, value in content.get("values", {}).items()}
    return Statement(content["code"], **values)


def _content(statement: Statement) -> dict[str, object]:
    values = {name: _write(value) for name, value in statement.items}
    return {"code": statement.code, **({"values": values} if values else {})}


def _write(value: Value) -> object:
    if isinstance(value, Statement):
        return _content(value)
    if isinstance(value, Argument):
        return {"argument": value.name, "value": value.value}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, tuple):
        return [_write(each) for each in value]
    return value


def _read(content: object) -> Value:
    if isinstance(content, str | bool | int | float):
        return content
    if isinstance(content, list):
        return tuple(_read(each) for each in content)
    if not isinstance(content, Mapping):
        raise TypeError(content)
    if "code" in content:
        return from_content(content)
    if "argument" in content:
        return Argument(str(content["argument"]), content["value"])
    if not FRACTION.fullmatch(content["fraction"]):
        raise ValueError(content)
    return Fraction(content["fraction"])
