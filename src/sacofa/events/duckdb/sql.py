"""How names and texts are written in SQL, so that none of them is taken for more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


def literal(text: object) -> str:
    """Give text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """Name a file literally: DuckDB takes `[1]`, `*` and `?` for patterns of other files."""
    return literal(re.sub(r"[\[\]*?]", r"[\g<0>]", str(path)))


def files_literal(paths: Iterable[Path]) -> str:
    """Name several files, as a list."""
    return f"[{', '.join(map(file_literal, paths))}]"


def quoted(column: str) -> str:
    """Give the name of a column as SQL has it."""
    return '"' + column.replace('"', '""') + '"'
