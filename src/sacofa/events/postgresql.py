"""Logs in a PostgreSQL database (extra `postgres`), whose rows are copied (see `staging`).

The query runs in a read-only transaction. User and password never appear in messages or files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import MissingExtraError, ReadError, Statement
from .cells.duckdb_sql import INSTANT
from .columns import Columns
from .duckdb.database import quoted
from .source import Source

if TYPE_CHECKING:
    from psycopg import Connection

SESSION = (
    "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 3"
)
"""Dates are written as ISO 8601, moments in UTC, and floating point numbers with all digits."""

FLOATING, DECIMAL, MOMENTS = (700, 701), 1700, (1082, 1114, 1184)
"""The numbers of types; moments are date, timestamp and timestamptz."""

_TYPES = {
    16: "BOOLEAN",
    **dict.fromkeys((20, 21, 23), "BIGINT"),
    **dict.fromkeys(FLOATING, "DOUBLE"),
    DECIMAL: "DECIMAL",
    **dict.fromkeys(MOMENTS, INSTANT),
    1186: "INTERVAL",
    17: "BLOB",
}
"""The types in DuckDB; all other types are text."""


def public_name(address: str) -> str:
    """Name a database without user, password and options."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "postgresql://"
    if ":" in host:
        host = f"[{host}]"
    return f"postgresql://{host}{f':{port}' if port else ''}{parts.path}"


def types(source: Source) -> dict[str, str]:
    """Return the columns of the query and their types."""
    with _session(source) as session:
        return {name: _TYPES.get(it, "VARCHAR") for name, it in _describe(session, source).items()}


def rows(source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
    """Yield these columns of all rows as lines of CSV."""
    with _session(source) as session:
        types = _describe(session, source)
        text = {name: _text(quoted(name), types[name]) for name in names}
        for name in columns.times:
            if types[name] in MOMENTS:
                # Finite and in the range of microseconds: the server supports later dates.
                time = quoted(name)
                is_known = f"isfinite({time}) AND {time} < '294247-01-01'"
                text[name] = f"((CASE WHEN {is_known} THEN {time} END)::timestamptz)::text"
        query = f"SELECT {', '.join(text.values())} FROM {_asked(source)}"
        with (
            session.cursor() as cursor,
            cursor.copy(
                f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *, ENCODING 'UTF8')".encode()
            ) as copy,
        ):
            yield from map(bytes, copy)


def _text(column: str, kind: int) -> str:
    """Return a column as text, without trailing zeros of decimal numbers (see `cells`)."""
    if kind != DECIMAL:
        return f"{column}::float8::text" if kind in FLOATING else f"{column}::text"
    digits = f"rtrim(rtrim({column}::text, '0'), '.')"
    return (
        f"(CASE WHEN {column} = 'NaN' THEN NULL WHEN {column}::text LIKE '%.%' THEN {digits} "
        f"ELSE replace({column}::text, 'Infinity', 'inf') END)"
    )


@contextmanager
def _session(source: Source) -> Iterator[Connection]:
    """Open a read-only connection; its errors become one clear line."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "postgres") from None
    try:
        with psycopg.connect(source.content, connect_timeout=10) as session:
            session.read_only = True
            session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            session.execute(SESSION)
            yield session
    except (psycopg.Error, UnicodeError) as error:
        said = _without_credentials(str(error), source.content)
        if isinstance(error, psycopg.DataError):
            # Text in quotes is the value that caused the error.
            said = re.sub('".*', "…", said)
        raise ReadError(source.name, said) from None


def _without_credentials(message: str, address: str) -> str:
    """Return the first line of a message without the user data of the address."""
    from psycopg.conninfo import conninfo_to_dict

    line, *_ = message.strip().splitlines() or [str(Statement("read.database.lost"))]
    try:
        said = conninfo_to_dict(address)
    except Exception:  # An address that cannot be parsed may contain anything.
        return str(Statement("read.database.address"))
    secret = ("user", "password", "passfile", "sslpassword", "sslkey", "options")
    for text in sorted((str(said[key]) for key in secret if said.get(key)), key=len, reverse=True):
        line = line.replace(text, "…")
    return line


def _describe(session: Connection, source: Source) -> dict[str, int]:
    """Return the columns of the query with their type numbers."""
    found = session.execute(f"SELECT * FROM {_asked(source)} LIMIT 0").description
    return {column.name: column.type_code for column in found or ()}


def _asked(source: Source) -> str:
    # The line break protects the bracket, because the query may end with a comment.
    return f"(\n{(source.query or '').strip().rstrip(';')}\n) AS asked"
