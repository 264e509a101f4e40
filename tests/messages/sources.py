"""The statements that the sources make, read from their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sacofa

ROOT = Path(sacofa.__file__).parent
TREES = {
    path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
}


@dataclass(frozen=True)
class Made:
    """A place in the sources that makes a statement with a code that stands there."""

    where: str
    code: str
    """The code."""
    values: frozenset[str]
    """The names of its values."""
    open: bool
    """Whether there may be more values, from a mapping."""


def made_statements() -> Iterator[Made]:
    """Every call of `Statement` with a literal code, also through a function that adds a prefix."""
    for path, tree in TREES.items():
        prefixes = {"Statement": "", "RefusedError": "", **_prefixes(tree)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            prefix = prefixes.get(getattr(node.func, "id", ""))
            if prefix is None:
                continue
            names = frozenset(word.arg for word in node.keywords if word.arg is not None)
            more = any(word.arg is None for word in node.keywords)
            for code in _codes(node.args[0]):
                yield Made(f"{path}:{node.lineno}", prefix + code, names, more)


def used_codes() -> tuple[set[str], tuple[str, ...]]:
    """Every string that may be a code, and the tables of codes that are computed."""
    words = {made.code for made in made_statements()}
    tables = set()
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                beginning = str(node.values[0].value)
                if beginning.endswith(".") and " " not in beginning and len(beginning) > 1:
                    tables.add(beginning)
    tables -= {prefix for tree in TREES.values() for prefix in _prefixes(tree).values()}
    return words, tuple(tables)


def _codes(node: ast.expr) -> list[str]:
    """The codes that an expression may be, as far as they stand there."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return [*_codes(node.body), *_codes(node.orelse)]
    return []


def _prefixes(tree: ast.Module) -> dict[str, str]:
    """Functions of a module that return `Statement(f"prefix.{code}", **values)`, by name."""
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not isinstance(node.body[-1], ast.Return):
            continue
        call = node.body[-1].value
        if len(node.body) > 2 or not isinstance(call, ast.Call) or not node.args.kwarg:
            continue
        code = call.args[0] if call.args else None
        if getattr(call.func, "id", "") == "Statement" and isinstance(code, ast.JoinedStr):
            found[node.name] = str(getattr(code.values[0], "value", ""))
    return found
