"""Reading of rules files and models: refusals with a line, and the lines of TOML entries."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..base.files import unreadable
from ..errors import ReadError, RulesError, Statement, advised

Table = tuple[str, ...]
"""Keys in the heading of a table: ("rules", "A") for [rules."A"]; empty before the first one."""


class RefusedError(Exception):
    """A file that cannot be used. Readers raise it without knowing which file they read."""

    def __init__(self, what: str | Statement, line: int | None, /, **values: object) -> None:
        super().__init__(what, line)
        self.line, self.what = line, Statement(what, **values) if isinstance(what, str) else what

    def advise(self, word: str, choices: Iterable[str]) -> RefusedError:
        """Add the closest valid choice to the message, if there is one."""
        self.what = advised(self.what, word, choices)
        return self


@contextmanager
def refusing(path: str | Path) -> Iterator[None]:
    """Turn a refusal inside into an error that names the file."""
    try:
        yield
    except RefusedError as refusal:
        raise RulesError(path, refusal.line, refusal.what) from None


def read_file(path: str | Path, max_bytes: int | None = None) -> bytes:
    """Read a whole file that is not larger than a bound."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(-1 if max_bytes is None else max_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if max_bytes is not None and len(content) > max_bytes:
        raise ReadError(path, Statement("rules.too_many_bytes", megabytes=max_bytes >> 20))
    return content


def decode(content: bytes) -> str:
    """Return the text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError("rules.not_utf8", None) from None


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


def quoted(text: str) -> str:
    """Write text as a TOML string."""
    # JSON's escapes are TOML's too; only DEL must be escaped in addition.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def find_line(
    text: str, table: Table, key: str | None = None, name: str | None = None, time: int = 1
) -> int | None:
    """Find the line of a table, of a key in it, or of a name listed there for the nth time.

    If the notation is unusual, the result is a line that mentions the entry, if any.
    """
    lines = text.split("\n")
    section = list(_section(lines, table))
    heading = section[0][0] if table and section else None
    found = None if key is None else _entry(section, key, name, time)
    return found or heading or _mentioned(lines, name, key, *reversed(table))


def _section(lines: list[str], table: Table) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table with their numbers; the table before the first heading is ()."""
    here: Table = ()
    for number, line in enumerate(lines, start=1):
        here = _heading(line) or here
        if here == table:
            yield number, line


def _entry(section: list[tuple[int, str]], key: str, name: str | None, time: int) -> int | None:
    """Find a key in some lines, or a name that is listed after it."""
    found: int | None = None
    for number, line in section:
        if found is None and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            found = number
        if found is not None and name is not None:
            time -= _mentions(line, name)
            if time <= 0:
                return number
    return found


def _mentioned(lines: list[str], *names: str | None) -> int | None:
    for name in filter(None, names):
        for number, line in enumerate(lines, start=1):
            if _mentions(line, name) or re.search(rf"\b{re.escape(name)}\b", line):
                return number
    return None


def _heading(line: str) -> Table | None:
    """Return the table that a line is the heading of; None for other lines."""
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
