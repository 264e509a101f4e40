"""TOML files, and the lines of their entries, which TOML readers do not report."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from .refusal import RefusedError, decode, read_file

Table = tuple[str, ...]
"""Names in the heading of a table: ("rules", "A") for [rules."A"]; none above the first one."""


def quoted(text: str) -> str:
    """Write text as a TOML string."""
    # JSON's escapes are TOML's too; only DEL must be escaped in addition.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_toml(path: str | Path) -> tuple[str, dict[str, object]]:
    """Read a TOML file and return its text and its content."""
    text = decode(read_file(path))
    try:
        return text, tomllib.loads(text)
    except RecursionError:
        raise RefusedError("rules.toml.depth", None) from None
    except ValueError as error:
        reason, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1 if place else None
        raise RefusedError("rules.toml.broken", line, reason=reason) from None


def find_line(
    text: str, table: Table, key: str | None = None, name: str | None = None, time: int = 1
) -> int | None:
    """Find the line of a table, of a key in it, or of a name listed there for the nth time.

    For text that is written in an unusual way this is a line that mentions the entry, if any does.
    """
    lines = text.split("\n")
    first, end = _section(lines, table)
    if first is not None:
        entry = None if key is None else _entry(lines[:end], max(first, 1), key, name, time)
        if entry or first:
            return entry or first
    return _mentioned(lines, name, key, *reversed(table))


def _section(lines: list[str], table: Table) -> tuple[int | None, int]:
    """Find the line of a table's heading, 0 above the first one, and the line after its end."""
    first = None if table else 0
    for number, line in enumerate(lines, start=1):
        if (heading := _heading(line)) is not None:
            if first is not None:
                return first, number - 1
            if heading == table:
                first = number
    return first, len(lines)


def _entry(lines: list[str], first: int, key: str, name: str | None, time: int) -> int | None:
    """Find a key between some lines, or a name that is listed behind it."""
    found: int | None = None
    for number, line in enumerate(lines[first - 1 :], start=first):
        if found is None and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            found = number
        if found is not None and name is not None:
            time -= _mentions(line, name)
            if time <= 0:
                return number
    return found


def _heading(line: str) -> Table | None:
    """The table whose heading a line is, if it is one."""
    if not line.lstrip().startswith("["):
        return None
    try:
        opened = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names: list[str] = []
    while isinstance(opened, dict) and opened:
        name, opened = next(iter(opened.items()))
        names.append(name)
    return tuple(names)


def _mentions(line: str, name: str) -> int:
    return line.count(quoted(name)) + line.count(f"'{name}'")


def _mentioned(lines: list[str], *names: str | None) -> int | None:
    for name in names:
        for number, line in enumerate(lines, start=1):
            if name and (_mentions(line, name) or re.search(rf"\b{re.escape(name)}\b", line)):
                return number
    return None
