"""Logs in a PostgreSQL database (extra `postgres`): counted there, so that only variants travel.

The query gives one row for each event, as a table file would. It runs in a transaction that may
only read and that sees one state of the data. The order of rows is that of the query if it ends
with ORDER BY. If it does not, a database promises no order: events are then ordered by time, and
ties by the activity's name. The user and the password are kept out of everything that is shown or
stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ..errors import MissingExtraError, ReadError
from ..variants import VariantCounts
from .bounded_file import Progress
from .columns import Columns, resolve_columns
from .options import JOINER, ReadOptions
from .source import Log, Notify, Source
from .variant_counter import check_unique

AT_ONCE = 5_000
"""How many variants are fetched at a time."""

_TEXT = {25, 1042, 1043}
"""The types of PostgreSQL that hold text, by number."""


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
    with _session(source) as session:
        return [column.name for column in _describe(session, source)]


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns that the query gives."""
    return resolve_columns(source.name, list_columns(source), options)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants in the database."""
    columns = log.columns
    assert columns is not None
    done: dict[tuple[str, ...], int] = {}
    cut: dict[tuple[str, ...], int] = {}
    with _session(log.source) as session:
        kinds = {column.name: column.type_code for column in _describe(session, log.source)}
        rows = _rows(log, columns, kinds)
        _check(session, log, columns, rows)
        with session.cursor(name="variants") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(_counting(log, columns, rows))
            for variant, truncated, number in cursor:
                (cut if truncated else done)[tuple(variant)] = number
    if progress is not None:
        progress(1.0)
    return VariantCounts.of(done, truncated=cut, unit=log.unit)


@contextmanager
def _session(source: Source) -> Iterator[Any]:
    """Open a connection that only reads; what it complains of becomes one clear line."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "postgres") from None
    try:
        with psycopg.connect(source.content, connect_timeout=10) as session:
            session.read_only = True
            session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            session.execute("SET LOCAL TimeZone = 'UTC'")
            yield session
    except (psycopg.Error, UnicodeError) as error:
        raise ReadError(source.name, _without_credentials(str(error), source.content)) from None


def _without_credentials(message: str, address: str) -> str:
    """Take the first line of a message, and out of it all that the address says of the user."""
    line = message.strip().splitlines()[0] if message.strip() else "the connection was lost"
    try:
        from psycopg.conninfo import conninfo_to_dict

        secrets = [
            str(value)
            for key, value in conninfo_to_dict(address).items()
            if key in ("user", "password", "passfile", "sslpassword", "sslkey", "options")
        ]
    except Exception:  # An address that cannot be read may hold anything.
        return "the address of the database cannot be read"
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        line = line.replace(secret, "…")
    return line


def _describe(session: Any, source: Source) -> Any:
    return session.execute(f"SELECT * FROM {_asked(source)} LIMIT 0").description


def _asked(source: Source) -> str:
    # A line break before the bracket, because the query may end with a comment.
    return f"(\n{(source.query or '').strip().rstrip(';')}\n) AS asked"


def _is_ordered(query: str) -> bool:
    """Tell whether a query ends with its own ORDER BY, not with that of a part in brackets."""
    places = [match.end() for match in re.finditer(r"\border\s+by\b", query, re.IGNORECASE)]
    if not places:
        return False
    depth = 0
    for letter in query[places[-1] :]:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return True


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _rows(log: Log, columns: Columns, kinds: dict[str, int]) -> str:
    """Give what is asked of each row: case c, parts a0, a1, …, time k, place r, p and cut."""
    stamp = _quoted(columns.timestamp) if columns.timestamp else None
    key = "0"
    if log.timed and stamp:
        text = kinds[columns.timestamp or ""] in _TEXT
        key = f"{stamp}::timestamptz" if text else stamp
    fields = [f"{_quoted(columns.case)}::text AS c"]
    fields += [f"{_quoted(part)}::text AS a{i}" for i, part in enumerate(columns.activity)]
    nothing = " AND ".join(
        f"{part} IS NULL" for part in (*map(_quoted, columns.activity), stamp or "0")
    )
    fields.append(f"({nothing}) AS lone")
    fields.append(f"{key} AS k")
    fields.append(f"{_quoted(columns.person)}::text AS p" if columns.person else "NULL AS p")
    cut = f"coalesce({_quoted(columns.truncated or '')}::boolean, false)"
    fields.append(f"{cut if columns.truncated else 'false'} AS cut")
    fields.append("row_number() OVER () AS r")
    return f"SELECT {', '.join(fields)} FROM {_asked(log.source)}"


def _check(session: Any, log: Log, columns: Columns, rows: str) -> None:
    """Refuse rows that cannot be counted, and activities that would run together."""
    parts = [f"a{i}" for i in range(len(columns.activity))]
    missing = " OR ".join(f"{part} IS NULL" for part in parts)
    wrong = {"case": "c IS NULL", "activity": f"{missing}", "timestamp": "k IS NULL"}
    tests = ", ".join(
        f"bool_or(({test}) AND NOT (lone AND c IS NOT NULL))" for test in wrong.values()
    )
    found = session.execute(f"SELECT {tests} FROM ({rows}) AS events").fetchone()
    for what, is_wrong in zip(wrong, found, strict=True):
        if is_wrong:
            raise ReadError(log.name, f"the query gives a row without {what}")
    if len(parts) > 1:
        names = session.execute(
            f"SELECT DISTINCT {', '.join(parts)} FROM ({rows}) AS events WHERE NOT lone"
        ).fetchall()
        check_unique(log.name, [JOINER.join(name) for name in names])


def _counting(log: Log, columns: Columns, rows: str) -> str:
    """Write the query that counts."""
    activity = f" || '{JOINER}' || ".join(f"a{i}" for i in range(len(columns.activity)))
    tie = "r" if _is_ordered(log.source.query or "") else f'({activity}) COLLATE "C", r'
    kept = "true"
    if log.max_cases is not None:
        kept = f"p IS NULL OR place <= {log.max_cases}"
    return f"""
        WITH events AS MATERIALIZED ({rows}),
        cases AS (
            SELECT coalesce(array_agg({activity} ORDER BY k, {tie}) FILTER (WHERE NOT lone),
                            ARRAY[]::text[]) AS v,
                   bool_or(cut) AS cut, min(r) AS r, (array_agg(p ORDER BY r))[1] AS p
            FROM events GROUP BY c
        ),
        placed AS (
            SELECT v, cut, p, row_number() OVER (PARTITION BY p ORDER BY r) AS place FROM cases
        )
        SELECT v, cut, count(*) FROM placed WHERE {kept} GROUP BY v, cut
    """
