"""What the fields of a class mean: read off the docstring under each, so that it is said once."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache


@lru_cache
def field_docs(cls: type) -> dict[str, str]:
    """Read the docstring under each field of a class; those of its bases come first."""
    docs: dict[str, str] = {}
    for part in reversed(cls.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        assert isinstance(tree, ast.ClassDef)
        for entry, below in zip(tree.body, tree.body[1:], strict=False):
            if (
                isinstance(entry, ast.AnnAssign)
                and isinstance(entry.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                docs[entry.target.id] = " ".join(str(below.value.value).split())
    return docs
