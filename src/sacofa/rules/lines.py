"""Lines of entries in a TOML text, which TOML readers do not report."""

from __future__ import annotations

import json
import re
import tomllib

Table = tuple[str, ...]
"""Names in the heading of a table: ("rules", "A") for [rules."A"]; none above the first one."""


def quoted(text: str) -> str:
    """Write text as a TOML string."""
    # JSON's escapes are TOML's too; only DEL must be escaped in addition.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def find_line(
    text: str, table: Table, key: str | None = None, name: str | None = None, time: int = 1
) -> int | None:
    """Find the line of a table, of a key in it, or of a name listed there for the nth time.

    For text that is written in an unusual way this is a line that mentions the entry, if any does.
    """
    lines = text.split("\n")
    here: Table = ()
    found: int | None = None
    inside = False
    for number, line in enumerate(lines, start=1):
        heading = _heading(line)
        if heading is not None:
            if inside:
                break
            here = heading
            if here == table:
                found = number
        if here != table or key is None:
            continue
        if not inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            inside, found = True, number
        if inside and name is not None:
            times = _mentions(line, name)
            if times >= time:
                return number
            time -= times
    return found or _mentioned(lines, name, key, *reversed(table))


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
