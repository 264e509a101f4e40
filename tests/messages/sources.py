"""The statements that the sources make, read from their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sacofa

ROOT = Path(sacofa.__file__).parent


@dataclass(frozen=True)
class Made:
    """A place in the sources that makes a statement."""

    where: str
    code: str
    """The code, or its beginning if the rest is computed."""
    whole: bool
    """Whether `code` is all of it."""
    values: frozenset[str]
    """The names of its values."""
    open: bool
    """Whether there may be more values, from a mapping."""


def made_statements() -> Iterator[Made]:
    """Every call of `Statement` in the sources."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Signed statements of other formats have a class of the same name, without a code.
            if not isinstance(node, ast.Call) or not node.args:
                continue
            if getattr(node.func, "id", "") != "Statement" or path.name == "content.py":
                continue
            code, whole = _code(node.args[0])
            names = frozenset(word.arg for word in node.keywords if word.arg is not None)
            yield Made(
                where=f"{path.relative_to(ROOT)}:{node.lineno}",
                code=code,
                whole=whole,
                values=names,
                open=any(word.arg is None for word in node.keywords),
            )


def _code(node: ast.expr) -> tuple[str, bool]:
    """A constant code, or the constant beginning of one."""
    if isinstance(node, ast.Constant):
        return str(node.value), True
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value), False
    return "", False
