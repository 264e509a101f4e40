"""How the values of a column are written as text, as SQL.

What is written depends on the value alone, not on the type that its column happens to have: where
one value is missing, or has more digits, libraries choose another type for the whole column.
"""

from __future__ import annotations

EXACT = 1 << 53
"""Whole numbers from here on are not told apart by floats."""


def is_text(kind: str) -> bool:
    """Whether a type is text: enumerations are, too, as their codes depend on all values."""
    return kind == "VARCHAR" or kind.startswith("ENUM")


def is_float(kind: str) -> bool:
    """Whether a type is one of numbers that are not exact."""
    return kind in ("DOUBLE", "FLOAT")


def as_text(column: str, kind: str) -> str:
    """Give a column of some type as text: numbers without zeros that say nothing."""
    if kind == "VARCHAR":
        return column
    text = f"CAST({column} AS VARCHAR)"
    if is_float(kind):
        whole = f"{column} = trunc({column}) AND abs({column}) < {EXACT}"
        return f"(CASE WHEN {whole} THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) ELSE {text} END)"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"rtrim(rtrim({text}, '0'), '.')"
    return text


def is_inexact(column: str) -> str:
    """Whether a float, as SQL, may stand for several whole numbers."""
    return f"isfinite({column}) AND abs({column}) >= {EXACT}"
