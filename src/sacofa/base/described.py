"""What the fields of a class mean: read off the docstring under each, so that it is said once."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import lru_cache
from itertools import pairwise


@lru_cache
def field_docs(cls: type) -> dict[str, str]:
    """Read the docstring under each field of a class; those of its bases come first."""
    docs: dict[str, str] = {}
    for part in reversed(cls.__mro__[:-1]):
        for entry, below in pairwise(_definition(part).body):
            if (
                isinstance(entry, ast.AnnAssign)
                and isinstance(entry.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                docs[entry.target.id] = " ".join(str(below.value.value).split())
    return docs


def _definition(cls: type) -> ast.ClassDef:
    """Where a class is defined. The library's own way parses a module twice for each class."""
    node: ast.AST = _parsed(cls.__module__)
    for word in cls.__qualname__.replace("<locals>.", "").split("."):
        node = next(found for found in ast.walk(node) if getattr(found, "name", None) == word)
    assert isinstance(node, ast.ClassDef)
    return node


@lru_cache(maxsize=8)
def _parsed(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))
