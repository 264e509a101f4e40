"""The rule for cells in the SQL of PostgreSQL (see `cells`), for types by their number.

The session writes dates as ISO 8601, moments in UTC and floating point numbers with all digits.
"""

from __future__ import annotations

from . import EXACT, Use, is_exact, refuse_type

SESSION = (
    "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 3"
)
"""What a session is told before any cell is converted."""

BOOLEAN = 16
LONG_WHOLE = 20
WHOLE = (20, 21, 23)
FLOATING = (700, 701)
DECIMAL = 1700
MOMENTS = (1082, 1114, 1184)
"""Date, timestamp and timestamptz."""
TEXT = (25, 1042, 1043)
INTERVAL = 1186
BYTES = 17


def check_type(kind: int) -> None:
    """Refuse a type whose values have no text, with a `CellError`."""
    refuse_type(lengths=kind == INTERVAL, nested=kind == BYTES)


def text(column: str, kind: int, use: Use = "value") -> str:
    """Give the text of a column, as SQL."""
    written = f"{column}::text"
    if kind == LONG_WHOLE and use != "id":
        double = _double_text(f"{column}::float8")
        return f"(CASE WHEN {is_exact(column)} THEN {written} ELSE {double} END)"
    if kind in FLOATING:
        return _double_text(f"{column}::float8")
    if kind == DECIMAL:
        short = f"CASE WHEN {written} LIKE '%.%' THEN rtrim(rtrim({written}, '0'), '.')"
        return f"(CASE WHEN {column} <> 'NaN' THEN {short} ELSE {_short_infinity(written)} END END)"
    return written


def too_large(column: str, kind: int, use: Use) -> str | None:
    """Tell, as SQL, whether a cell may stand for another number; None: no cell of the type does."""
    if use != "value" and kind in FLOATING:
        return f"(abs({column}) >= {EXACT} AND {column} <> 'NaN')"
    if use == "name" and kind == LONG_WHOLE:
        return f"NOT ({is_exact(column)})"
    return None


def _double_text(column: str) -> str:
    return (
        f"(CASE WHEN {column} = 'NaN' THEN NULL WHEN {column} = 0 THEN '0' "
        # The server takes exponents from 1e15 on, and not from 1e16 on.
        f"WHEN abs({column}) >= 1e-4 AND abs({column}) < 1e16 THEN {column}::text::numeric::text "
        f"ELSE {_short_infinity(f'{column}::text')} END)"
    )


def _short_infinity(written: str) -> str:
    return f"replace({written}, 'Infinity', 'inf')"
