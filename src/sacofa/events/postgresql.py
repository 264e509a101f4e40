"""Logs in a PostgreSQL database (extra `postgres`): counted there, so that only variants travel.

The query gives one row for each event, as a table file would. It runs in a transaction that may
only read and that sees one state of the data. A database promises no order, and how it breaks ties
of an ORDER BY can change with every other row: so events are ordered by time, those without any
last, and ties by the activity's name, whatever the query says. The user and the password are kept
out of everything that is shown or stored.

The server counts where time stamps are of a type of times. Where they are text or numbers, and
where cases are asked for with their times, rows are brought here to be read like a table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ..errors import MissingExtraError, ReadError, Statement
from ..kernel.variants import VariantCounts
from .attributes import column_of, resolve_attributes, table_lookup
from .bounded_file import Progress
from .brought import BroughtReader, Remote
from .case_store import StoredCases
from .cells import TOO_LARGE, Use, postgresql_sql
from .cells.postgresql_sql import MOMENTS
from .columns import Columns, resolve_columns
from .frames import in_column
from .lifecycle import START
from .notices import Notify, notify_counts
from .options import JOINER, ReadOptions
from .source import Log, Source
from .variant_counter import check_unique

if TYPE_CHECKING:
    from psycopg import Connection

AT_ONCE = 5_000
"""How many rows are fetched at a time."""

_BLANK = r"E' \t\n\r\f\x0b'"
"""Letters that name nobody, as in `notices`."""

_YES = "('true', 't', 'yes', 'y', 'on', '1')"
"""Words that say yes, in small letters."""

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
    columns = resolve_columns(source.name, list(types), options)
    lookup = table_lookup(types)
    attributes = resolve_attributes(source.name, options, lookup, list(types), columns.roles)
    for name in (*columns.roles, *(column_of(each, types) for each in attributes)):
        if name is not None:
            with in_column(source.name, name):
                postgresql_sql.check_type(codes[name])
    return replace(columns, attributes=attributes)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants in the database."""
    complete: dict[tuple[str, ...], int] = {}
    truncated: dict[tuple[str, ...], int] = {}
    dropped = varying = 0
    with _session(log.source) as session:
        rows = _rows(session, log)
        untimed = _check(session, log, rows)
        with session.cursor(name="variants") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(_counting(log, rows))
            for variant, is_truncated, number, varying_cases in cursor:
                if variant is None:
                    dropped, varying = number, varying_cases
                else:
                    (truncated if is_truncated else complete)[tuple(variant)] = number
    if progress is not None:
        progress(1.0)
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return VariantCounts.of(complete, truncated=truncated, unit=log.unit)


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Bring the rows here, and give the cases with their times: each event travels anyway."""
    return BroughtReader(cast(Remote, sys.modules[__name__])).cases(log, progress, notify)


def rows(log: Log, names: list[str]) -> Iterator[list[str | None]]:
    """Give these columns of all rows as text, times in ISO 8601, ordered by what rows say."""
    columns = log.columns
    assert columns is not None
    with _session(log.source) as session:
        types = _describe(session, log.source)
        _refuse_too_large(session, log, columns, types)
        text = {name: _text(name, types[name], columns.uses.get(name, "value")) for name in names}
        for name in columns.times:
            if types[name] in MOMENTS:
                text[name] = f"(({_known_time(name)})::timestamptz)::text"
        with session.cursor(name="rows") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(
                f"SELECT {', '.join(text.values())} FROM {_asked(log.source)} "
                f"ORDER BY {', '.join(_order_of_rows(columns, types, text))}"
            )
            yield from map(list, cursor)


def _order_of_rows(
    columns: Columns, types: Mapping[str, int], text: Mapping[str, str]
) -> Iterator[str]:
    """Order rows by time unless that is text, then by case, activity, start, and all else."""
    stamp = columns.timestamp
    if stamp in columns.times and types[stamp] in MOMENTS:
        yield f"{_known_time(stamp)} NULLS LAST"
    elif stamp in columns.times and types[stamp] in _KINDS:
        yield f"{_quoted(stamp)} NULLS LAST"
    keys = [text[name] for name in (columns.case, *columns.activity)]
    if columns.lifecycle is not None:
        word = f"lower(btrim(coalesce({text[columns.lifecycle]}, '')))"
        keys.append(f"CASE WHEN {word} = '{START}' THEN '0' ELSE '1' END")
    yield from (f'{key} COLLATE "C" NULLS LAST' for key in (*keys, *text.values()))


def _text(name: str, kind: int, use: Use = "value") -> str:
    return postgresql_sql.text(_quoted(name), kind, use)


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


def _first_row(session: Connection, query: str) -> Sequence[object]:
    return session.execute(query).fetchone() or ()


def _asked(source: Source) -> str:
    # A line break before the bracket, because the query may end with a comment.
    return f"(\n{(source.query or '').strip().rstrip(';')}\n) AS asked"


def _known_time(column: str) -> str:
    """A time that has an end, and can be told in microseconds; the server knows later dates."""
    time = _quoted(column)
    return f"CASE WHEN isfinite({time}) AND {time} < '294247-01-01' THEN {time} END"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What is asked of each row, as SQL."""

    sql: str
    """case_id, part_0, …, lone, time_key, person and truncated of each row."""
    parts: tuple[str, ...]
    """The columns part_0, part_1, … that make up the activity."""
    order: str
    """What the rows of a case are ordered by: nothing but what they say."""


def _rows(session: Connection, log: Log) -> _Rows:
    columns, types = log.columns, _describe(session, log.source)
    assert columns is not None and columns.timestamp is not None
    _refuse_too_large(session, log, columns, types)

    def text(name: str, use: Use) -> str:
        # The collation C compares bytes: equal is equal, and order is the same everywhere.
        return f'{_text(name, types[name], use)} COLLATE "C"'

    parts = tuple(f"part_{i}" for i in range(len(columns.activity)))
    named = zip(columns.activity, parts, strict=True)
    unsaid = (*columns.activity, columns.timestamp)
    lone = " AND ".join(f"{_quoted(name)} IS NULL" for name in unsaid)
    person = text(columns.person, "name") if columns.person else "NULL::text"
    # A word that is neither yes nor no would make the server refuse all rows.
    truncated = f"coalesce(lower({_quoted(columns.truncated or '')}::text) IN {_YES}, false)"
    fields = [
        f"{text(columns.case, 'id')} AS case_id",
        *(f"{text(column, 'name')} AS {part}" for column, part in named),
        f"({lone}) AS lone",
        f"{_known_time(columns.timestamp)} AS time_key",
        f"(CASE WHEN btrim({person}, {_BLANK}) <> '' THEN {person} END) COLLATE \"C\" AS person",
        f"{truncated if columns.truncated else 'false'} AS truncated",
    ]
    # Rows that tie in all of this are the same, so nothing is left for the server to decide.
    order = ", ".join(f"{key} NULLS LAST" for key in ("time_key", *parts, "person"))
    sql = f"SELECT {', '.join(fields)} FROM {_asked(log.source)}"
    return _Rows(sql=sql, parts=parts, order=order)


def _refuse_too_large(
    session: Connection, log: Log, columns: Columns, types: Mapping[str, int]
) -> None:
    """Refuse columns of numbers of which two names may have become one."""
    tests = {
        name: test
        for name, use in columns.uses.items()
        if name and (test := postgresql_sql.too_large(_quoted(name), types[name], use))
    }
    if not tests:
        return
    asked = ", ".join(f"bool_or({test})" for test in tests.values())
    found = _first_row(session, f"SELECT {asked} FROM {_asked(log.source)}")
    for name, is_large in zip(tests, found, strict=True):
        if is_large:
            raise ReadError(log.name, Statement("read.cell.column", column=name, what=TOO_LARGE))


def _check(session: Connection, log: Log, rows: _Rows) -> int:
    """Refuse rows that cannot be counted, and activities that would run together.

    Gives the number of events without a time.
    """
    missing = " OR ".join(f"{part} IS NULL" for part in rows.parts)
    untimed, no_case, no_activity = _first_row(
        session,
        "SELECT count(*) FILTER (WHERE NOT lone AND time_key IS NULL), "
        f"bool_or(case_id IS NULL), bool_or(({missing}) AND NOT lone) FROM ({rows.sql}) AS events",
    )
    if no_case:
        raise ReadError(log.name, Statement("read.table.no_case"))
    if no_activity:
        raise ReadError(log.name, Statement("read.table.no_activity"))
    if len(rows.parts) > 1:
        names = session.execute(
            f"SELECT DISTINCT {', '.join(rows.parts)} FROM ({rows.sql}) AS events WHERE NOT lone"
        ).fetchall()
        check_unique(log.name, [JOINER.join(name) for name in names])
    return untimed if isinstance(untimed, int) else 0


def _cases(log: Log, rows: _Rows) -> str:
    """Write the part of a query that finds the cases, each with its variant and whether it counts.

    Which cases of a person count is decided by that person's cases alone: the first by time, and
    among those by case id. No two have the same id.
    """
    activity = f" || '{JOINER}' || ".join(rows.parts)
    persons, place = "", "1"
    if log.max_cases is not None:
        persons = f"""
            (array_agg(person ORDER BY {rows.order}) FILTER (WHERE person IS NOT NULL))[1]
                AS person,
            coalesce(min(person) <> max(person), false) AS varies, min(time_key) AS first_time,"""
        place = """CASE WHEN person IS NULL THEN 1 ELSE row_number() OVER (
            PARTITION BY person ORDER BY first_time NULLS LAST, case_id) END"""
    return f"""
        WITH events AS MATERIALIZED ({rows.sql}),
        cases AS (
            SELECT case_id, bool_or(truncated) AS truncated,{persons}
                coalesce(array_agg({activity} ORDER BY {rows.order}) FILTER (WHERE NOT lone),
                         ARRAY[]::text[]) AS variant
            FROM events GROUP BY case_id
        ),
        placed AS (SELECT *, {place} <= {log.max_cases or 1} AS counted FROM cases)
    """


def _counting(log: Log, rows: _Rows) -> str:
    """Write the query that counts: variants, and a row without one for what the holder is told."""
    told = ""
    if log.max_cases is not None:
        told = """UNION ALL SELECT NULL, NULL, count(*) FILTER (WHERE NOT counted),
                                   count(*) FILTER (WHERE varies) FROM placed"""
    return f"""{_cases(log, rows)}
        SELECT variant, truncated, count(*) AS number, 0 AS varying FROM placed WHERE counted
        GROUP BY variant, truncated {told}
    """
