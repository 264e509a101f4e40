"""Logs in a PostgreSQL database (extra `postgres`), whose rows are brought here (see `staging`).

The query runs in a transaction that may only read. User and password are kept out of everything
that is shown or stored.
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
"""What types are called by DuckDB; all others are text."""


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
    """The columns that the query gives, with their types."""
    with _session(source) as session:
        return {name: _TYPES.get(it, "VARCHAR") for name, it in _describe(session, source).items()}


def rows(source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
    """Give these columns of all rows as lines of CSV."""
    with _session(source) as session:
        types = _describe(session, source)
        text = {name: _text(quoted(name), types[name]) for name in names}
        for name in columns.times:
            if types[name] in MOMENTS:
                text[name] = f"(({_known_time(name)})::timestamptz)::text"
        query = f"SELECT {', '.join(text.values())} FROM {_asked(source)}"
        with (
            session.cursor() as cursor,
            cursor.copy(
                f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *, ENCODING 'UTF8')".encode()
            ) as copy,
        ):
            yield from map(bytes, copy)


def _text(column: str, kind: int) -> str:
    """A column as text, without zeros at the end of decimal numbers (see `cells`)."""
    if kind != DECIMAL:
        return f"{column}::float8::text" if kind in FLOATING else f"{column}::text"
    digits = f"rtrim(rtrim({column}::text, '0'), '.')"
    return (
        f"(CASE WHEN {column} = 'NaN' THEN NULL WHEN {column}::text LIKE '%.%' THEN {digits} "
        f"ELSE replace({column}::text, 'Infinity', 'inf') END)"
    )


@contextmanager
def _session(source: Source) -> Iterator[Connection]:
    """Open a connection that only reads; what it complains of becomes one clear line."""
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
            # What stands in quotes is the value that the server stumbled upon.
            said = re.sub('".*', "…", said)
        raise ReadError(source.name, said) from None


def _without_credentials(message: str, address: str) -> str:
    """Take the first line of a message, and out of it all that the address says of the user."""
    from psycopg.conninfo import conninfo_to_dict

    line, *_ = message.strip().splitlines() or [str(Statement("read.database.lost"))]
    try:
        said = conninfo_to_dict(address)
    except Exception:  # An address that cannot be read may hold anything.
        return str(Statement("read.database.address"))
    secret = ("user", "password", "passfile", "sslpassword", "sslkey", "options")
    for text in sorted((str(said[key]) for key in secret if said.get(key)), key=len, reverse=True):
        line = line.replace(text, "…")
    return line


def _describe(session: Connection, source: Source) -> dict[str, int]:
    """The columns that the query gives, with the numbers of their types."""
    found = session.execute(f"SELECT * FROM {_asked(source)} LIMIT 0").description
    return {column.name: column.type_code for column in found or ()}


def _asked(source: Source) -> str:
    # A line break before the bracket, because the query may end with a comment.
    return f"(\n{(source.query or '').strip().rstrip(';')}\n) AS asked"


def _known_time(column: str) -> str:
    """A time that has an end, and can be told in microseconds; the server knows later dates."""
    time = quoted(column)
    return f"CASE WHEN isfinite({time}) AND {time} < '294247-01-01' THEN {time} END"
