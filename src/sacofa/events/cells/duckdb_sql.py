"""The rule for cells in the SQL of DuckDB (see `cells`), for columns of each type."""

from __future__ import annotations

from . import INEXACT_FROM, LENGTHS_OF_TIME, NESTED, CellError, Use, is_exact

SHORT_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
LONG_WHOLE = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")
FLOATING = ("FLOAT", "DOUBLE")
INSTANT = "TIMESTAMP WITH TIME ZONE"
STRUCTURED = ("BLOB", "STRUCT", "MAP", "UNION", "BIT")
"""Prefixes of the types without a text form."""


def is_text(kind: str) -> bool:
    """Whether a type is text; enumerations are, because their codes depend on all values."""
    return kind == "VARCHAR" or kind.startswith("ENUM")


def is_number(kind: str) -> bool:
    """Whether a type is a number."""
    return kind in (*SHORT_WHOLE, *LONG_WHOLE, *FLOATING) or kind.startswith("DECIMAL")


def is_moment(kind: str) -> bool:
    """Whether a type is a date or a time stamp."""
    return kind == "DATE" or kind.startswith("TIMESTAMP")


def value_type(kind: str) -> str:
    """Return the XES type of the values of a column."""
    if kind in (*SHORT_WHOLE, *LONG_WHOLE):
        return "int"
    if is_number(kind) or is_moment(kind):
        return "float" if is_number(kind) else "date"
    return "boolean" if kind == "BOOLEAN" else "string"


def check_type(kind: str) -> None:
    """Refuse a type whose values have no text, with a `CellError`."""
    if kind.startswith(("INTERVAL", *STRUCTURED)) or kind.endswith("]"):
        raise CellError(LENGTHS_OF_TIME if kind.startswith("INTERVAL") else NESTED)


def canonical(column: str, kind: str) -> tuple[str, str]:
    """Return a column and its type in a form that does not depend on how its values are stored.

    Enumerations become text, short floating point numbers doubles, NaN missing, and moments of any
    resolution are cut to the microsecond.
    """
    if kind != "VARCHAR" and is_text(kind):
        return f"CAST({column} AS VARCHAR)", "VARCHAR"
    if kind in FLOATING:
        return f"(CASE WHEN NOT isnan({column}) THEN {column}::DOUBLE END)", "DOUBLE"
    if kind == "TIMESTAMP_NS":
        # A cast would round; text is cut, and so are moments in memory.
        nanos = f"epoch_ns({column})"
        micros = f"({nanos} - ({nanos} % 1000 + 1000) % 1000) // 1000"
        return f"make_timestamp({micros})", "TIMESTAMP"
    if kind in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return f"try_cast({column} AS TIMESTAMP)", "TIMESTAMP"
    return column, kind


def text(column: str, kind: str, use: Use = "value") -> str:
    """Return the text of a canonical column, as SQL."""
    if kind == "VARCHAR":
        return column
    written = f"CAST({column} AS VARCHAR)"
    if kind in LONG_WHOLE and use != "id":
        double = _double_text(f"{column}::DOUBLE")
        return f"(CASE WHEN {is_exact(column)} THEN {written} ELSE {double} END)"
    if kind in FLOATING:
        return _double_text(column)
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"rtrim(rtrim({written}, '0'), '.')"
    return written


def too_large(column: str, kind: str, use: Use) -> str | None:
    """Return SQL that tests for ambiguous large numbers; None if the type has none."""
    if use != "value" and kind in FLOATING:
        return f"abs({column}) >= {INEXACT_FROM}"
    if use == "name" and kind in LONG_WHOLE:
        return f"NOT ({is_exact(column)})"
    return None


def _double_text(column: str) -> str:
    whole = f"{column} = trunc({column}) AND abs({column}) < {INEXACT_FROM}"
    digits = f"CAST(CAST({column} AS BIGINT) AS VARCHAR)"
    # DuckDB takes the shortest digits, as Python does.
    shortest = f"regexp_replace(CAST({column} AS VARCHAR), '[.]0$', '')"
    return f"(CASE WHEN {whole} THEN {digits} ELSE {shortest} END)"
