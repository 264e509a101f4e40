"""The rule for cells in the SQL of Spark, from version 3.5 on (see `cells`)."""

from __future__ import annotations

from . import INEXACT_FROM, Use, is_exact
from .duckdb_sql import INSTANT

WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")
FLOATING = ("float", "double")
MOMENTS = ("date", "timestamp", "timestamp_ntz")
NESTED = ("binary", "array", "map", "struct", "variant")
"""Prefixes of the types without a text form."""

ZONED = r":.*(Z|[+-][0-9]{2}:?[0-9]{2})\\s*$"
"""A pattern in SQL for the end of a time with a zone."""

DAY = 86_400_000_000
"""A day in microseconds."""


_DUCKDB = {
    **dict.fromkeys(WHOLE_TYPES, "BIGINT"),
    **dict.fromkeys(FLOATING, "DOUBLE"),
    **dict.fromkeys(MOMENTS, INSTANT),
    "boolean": "BOOLEAN",
}


def duckdb_type(kind: str) -> str:
    """Return the DuckDB type for the purpose of cells; all other types are text."""
    if kind.startswith(NESTED):
        return "BLOB"
    if kind.startswith(("interval", "decimal")):
        return "INTERVAL" if kind.startswith("interval") else "DECIMAL"
    return _DUCKDB.get(kind, "VARCHAR")


def text(column: str, kind: str, use: Use = "value") -> str:
    """Return the text of a column, as SQL."""
    written = f"cast({column} AS string)"
    if kind == "bigint" and use != "id":
        double = _double_text(f"double({column})")
        return f"CASE WHEN {is_exact(column)} THEN {written} ELSE {double} END"
    if kind in FLOATING:
        return _double_text(f"double({column})")
    if kind.startswith("decimal"):
        return written if kind.endswith(",0)") else _decimal_text(written)
    return _instant_text(column) if kind == "timestamp" else written


def too_large(column: str, kind: str, use: Use) -> str | None:
    """Return SQL that tests for ambiguous large numbers; None if the type has none."""
    if use != "value" and kind in FLOATING:
        return f"(abs({column}) >= {INEXACT_FROM} AND NOT isnan({column}))"
    if use == "name" and kind == "bigint":
        return f"NOT ({is_exact(column)})"
    return None


def stamp(column: str, kind: str) -> tuple[str, str, str]:
    """Return a time stamp, its time, and the number that its text is if it is not a time."""
    if kind in MOMENTS:
        return column, column, "NULL"
    if kind in (*WHOLE_TYPES, *FLOATING) or kind.startswith("decimal"):
        known = f"CASE WHEN NOT isnan({column}) THEN {column} END" if kind in FLOATING else column
        double = f"CASE WHEN abs(double({column})) < 1e29D THEN double({column}) END"
        return known, column if kind.startswith("decimal") else double, "NULL"
    sql = text(column, kind)
    # Spark parses 2020 as a year, but a number is not a date in any other reader.
    number = f"try_cast({sql} AS decimal(38, 9))"
    read = f"CASE WHEN {sql} RLIKE '{ZONED}' THEN try_to_timestamp({sql}) ELSE {in_utc(sql)} END"
    return sql, f"CASE WHEN {number} IS NULL THEN {read} END", number


def micros(column: str, kind: str) -> str:
    """Return a date or a moment as microseconds since 1970, as SQL."""
    return f"unix_micros({column if kind == 'timestamp' else in_utc(column)})"


def in_utc(column: str) -> str:
    """Interpret text or a moment without a zone in UTC, as all readers do, as SQL."""
    # Text that names its zone does not depend on the zone of the session.
    return f"try_to_timestamp(concat(cast(try_cast({column} AS timestamp_ntz) AS string), 'Z'))"


def _double_text(column: str) -> str:
    """Write a double as Python does; Java has other limits for exponents."""
    java = f"cast({column} AS string)"
    mantissa = _short(f"substring_index({java}, 'E', 1)")
    # A failing cast must return NULL: Spark may evaluate it for cells of another branch.
    power = f"try_cast(substring_index({java}, 'E', -1) AS int)"
    digits = f"CASE WHEN abs({power}) < 10 THEN '0' ELSE '' END, abs({power})"
    sign = f"CASE WHEN {power} < 0 THEN 'e-' ELSE 'e+' END"
    return (
        f"CASE WHEN isnan({column}) THEN NULL "
        f"WHEN abs({column}) = double('Infinity') THEN CASE WHEN {column} > 0 THEN 'inf' "
        "ELSE '-inf' END "
        f"WHEN abs({column}) < {INEXACT_FROM} AND {column} = floor({column}) "
        f"THEN cast(try_cast({column} AS bigint) AS string) "
        f"WHEN abs({column}) >= 1e-4D AND abs({column}) < 1e16D "
        f"THEN {_short(f'cast(try_cast({column} AS decimal(38, 22)) AS string)')} "
        f"ELSE concat({mantissa}, {sign}, {digits}) END"
    )


def _decimal_text(written: str) -> str:
    """Write a decimal number without the exponent that Spark 3.5 uses for small ones."""
    mantissa, power = f"substring_index({written}, 'E', 1)", f"substring_index({written}, 'E', -1)"
    zeros = f"repeat('0', -try_cast({power} AS int) - 1)"
    sign = f"CASE WHEN {written} LIKE '-%' THEN '-' ELSE '' END"
    plain = f"concat({sign}, '0.', {zeros}, translate({mantissa}, '-.', ''))"
    return _short(f"CASE WHEN {written} LIKE '%E%' THEN {plain} ELSE {written} END")


def _short(digits: str) -> str:
    """Remove trailing zeros after a decimal point."""
    return f"regexp_replace(regexp_replace({digits}, '0+$', ''), '[.]$', '')"


def _instant_text(column: str) -> str:
    """Write a moment in UTC, independently of the time zone of the session."""
    micros = f"unix_micros({column})"
    of_day = f"pmod({micros}, {DAY})"
    day = f"date_add(DATE'1970-01-01', int(({micros} - {of_day}) div {DAY}))"
    second, rest = f"({of_day} div 1000000)", f"({of_day} % 1000000)"
    clock = ", ':', ".join(
        f"lpad(string({part}), 2, '0')"
        for part in (f"{second} div 3600", f"{second} % 3600 div 60", f"{second} % 60")
    )
    fraction = f"concat('.', {_short(f'''lpad(string({rest}), 6, '0')''')})"
    return (
        f"concat(string({day}), ' ', {clock}, "
        f"CASE WHEN {rest} = 0 THEN '' ELSE {fraction} END, '+00')"
    )
