"""Logs in a PostgreSQL database (extra `postgres`), whose rows are brought here (see `brought`).

The query gives one row for each event, as a table file would. It runs in a transaction that may
only read and that sees one state of the data. A database promises no order, and how it breaks ties
of an ORDER BY can change with every other row: so rows are ordered by nothing but what they say.
The user and the password are kept out of everything that is shown or stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import MissingExtraError, ReadError, Statement
from .cells import TOO_LARGE, postgresql_sql
from .cells.postgresql_sql import MOMENTS
from .columns import Columns
from .duckdb.sql import quoted
from .lifecycle import START
from .options import ReadOptions
from .source import Log, Source, resolve_table

if TYPE_CHECKING:
    from psycopg import Connection

_KINDS = {
    postgresql_sql.BOOLEAN: "boolean",
    **dict.fromkeys(postgresql_sql.WHOLE, "int"),
    **dict.fromkeys((*postgresql_sql.FLOATING, postgresql_sql.DECIMAL), "float"),
    **dict.fromkeys(MOMENTS, "date"),
}
"""What attributes of a type are, in the words of XES."""


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


def list_columns(source: Source) -> list[str]:
    """List the columns that the query gives."""
    return list(_codes(source))


def kinds(source: Source) -> dict[str, str]:
    """List the columns that the query gives with their types."""
    return {name: _KINDS.get(code, "string") for name, code in _codes(source).items()}


def _codes(source: Source) -> dict[str, int]:
    with _session(source) as session:
        return _describe(session, source)


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns that the query gives."""
    codes = _codes(source)
    types = {name: _KINDS.get(code, "string") for name, code in codes.items()}
    return resolve_table(
        source.name, options, types, lambda name: postgresql_sql.check_type(codes[name])
    )


def rows(log: Log, names: list[str]) -> Iterator[bytes]:
    """Give these columns of all rows as lines of CSV, ordered by what they say."""
    columns = log.columns
    assert columns is not None
    with _session(log.source) as session:
        types = _describe(session, log.source)
        _refuse_too_large(session, log, types)
        text = {
            name: postgresql_sql.text(quoted(name), types[name], columns.uses.get(name, "value"))
            for name in names
        }
        for name in columns.times:
            if types[name] in MOMENTS:
                text[name] = f"(({_known_time(name)})::timestamptz)::text"
        query = (
            f"SELECT {', '.join(text.values())} FROM {_asked(log.source)} "
            f"ORDER BY {', '.join(_order(columns, types, text))}"
        )
        with (
            session.cursor() as cursor,
            cursor.copy(
                f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *, ENCODING 'UTF8')".encode()
            ) as copy,
        ):
            yield from map(bytes, copy)


def _order(columns: Columns, types: Mapping[str, int], text: Mapping[str, str]) -> Iterator[str]:
    """Order rows by time unless that is text, then by case, activity, start, and all else."""
    stamp = columns.timestamp
    if stamp in columns.times and types[stamp] in _KINDS:
        yield f"{_known_time(stamp) if types[stamp] in MOMENTS else quoted(stamp)} NULLS LAST"
    keys = [text[name] for name in (columns.case, *columns.activity)]
    if columns.lifecycle is not None:
        word = f"lower(btrim(coalesce({text[columns.lifecycle]}, '')))"
        keys.append(f"CASE WHEN {word} = '{START}' THEN '0' ELSE '1' END")
    # The collation C compares bytes: order is the same everywhere. Rows that tie are the same.
    yield from (f'{key} COLLATE "C" NULLS LAST' for key in (*keys, *text.values()))


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
            session.execute(postgresql_sql.SESSION)
            yield session
    except (psycopg.Error, UnicodeError) as error:
        said = _without_credentials(str(error), source.content)
        if isinstance(error, psycopg.DataError):
            # What stands in quotes is the value that the server stumbled upon.
            said = re.sub('".*', "…", said)
        raise ReadError(source.name, said) from None


def _without_credentials(message: str, address: str) -> str:
    """Take the first line of a message, and out of it all that the address says of the user."""
    lines = message.strip().splitlines() or [str(Statement("read.database.lost"))]
    line = lines[0]
    try:
        from psycopg.conninfo import conninfo_to_dict

        secrets = [
            str(value)
            for key, value in conninfo_to_dict(address).items()
            if key in ("user", "password", "passfile", "sslpassword", "sslkey", "options")
        ]
    except Exception:  # An address that cannot be read may hold anything.
        return str(Statement("read.database.address"))
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        line = line.replace(secret, "…")
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


def _refuse_too_large(session: Connection, log: Log, types: Mapping[str, int]) -> None:
    """Refuse columns of numbers of which two names may have become one."""
    uses = {} if log.columns is None else log.columns.uses
    tests = {
        name: test
        for name, use in uses.items()
        if name and (test := postgresql_sql.too_large(quoted(name), types[name], use))
    }
    if not tests:
        return
    asked = ", ".join(f"bool_or({test})" for test in tests.values())
    found = session.execute(f"SELECT {asked} FROM {_asked(log.source)}").fetchone() or ()
    for name, is_large in zip(tests, found, strict=False):
        if is_large:
            raise ReadError(log.name, Statement("read.cell.column", column=name, what=TOO_LARGE))
