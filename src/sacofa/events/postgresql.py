"""Logs in a PostgreSQL database (extra `postgres`): counted there, so that only variants travel.

The query gives one row for each event, as a table file would. It runs in a transaction that may
only read and that sees one state of the data. A database promises no order, and how it breaks ties
of an ORDER BY can change with every other row: so events are ordered by time, those without any
last, and ties by the activity's name, whatever the query says. The user and the password are kept
out of everything that is shown or stored.

Text is read as times where it can be; up to version 15 the server knows no way to try that, and
text that is no time is then an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ..errors import MissingExtraError, ReadError
from ..kernel.variants import VariantCounts
from .attributes import column_of, resolve_in_table, table_lookup, values_of
from .bounded_file import Progress
from .case_by_case import Case
from .case_store import CaseStore, StoredCases
from .cells import TOO_LARGE, Use, postgresql_sql
from .cells.postgresql_sql import MOMENTS, TEXT
from .columns import Columns, resolve_columns
from .frames import in_column
from .lifecycle import START
from .notices import notify_counts
from .options import JOINER, ReadOptions
from .source import Log, Notify, Source
from .variant_counter import check_unique

AT_ONCE = 5_000
"""How many variants are fetched at a time."""

VALIDATING = 160_000
"""The version from which on a server can tell whether text is a time."""

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
    with _session(source) as session:
        return [column.name for column in _describe(session, source)]


def kinds(source: Source) -> dict[str, str]:
    """List the columns that the query gives with their types."""
    return {name: _KINDS.get(code, "string") for name, code in _codes(source).items()}


def _codes(source: Source) -> dict[str, int]:
    with _session(source) as session:
        return {column.name: column.type_code for column in _describe(session, source)}


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns that the query gives."""
    codes = _codes(source)
    types = {name: _KINDS.get(code, "string") for name, code in codes.items()}
    columns = resolve_columns(source.name, list(types), options)
    lookup = table_lookup(types)
    attributes = resolve_in_table(source.name, options, lookup, list(types), columns.roles)
    for name in (*columns.roles, *(column_of(each, types) for each in attributes)):
        if name is not None:
            with in_column(source.name, name):
                postgresql_sql.check_type(codes[name])
    return replace(columns, attributes=attributes)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants in the database."""
    columns = log.columns
    assert columns is not None
    complete: dict[tuple[str, ...], int] = {}
    truncated: dict[tuple[str, ...], int] = {}
    dropped = varying = 0
    with _session(log.source) as session:
        rows = _rows(session, log, columns)
        untimed = _check(session, log, columns, rows)
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
    """Give the cases in the database with their times."""
    columns = log.columns
    assert columns is not None
    store = CaseStore(log.name, log.unit, log.attributes)
    dropped = varying = 0
    with _session(log.source) as session:
        rows = _rows(session, log, columns)
        untimed = _check(session, log, columns, rows)
        with session.cursor(name="cases") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(_case_by_case(log, rows))
            for counted, varies, variant, truncated, times, *values in cursor:
                dropped += not counted
                varying += varies
                if counted:
                    values = values_of(log.attributes, values)
                    store.add(Case(variant, truncated, times=times, values=values))
    if progress is not None:
        progress(1.0)
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return store.close()


def rows(log: Log, names: list[str]) -> Iterator[list[str | None]]:
    """Give these columns of all rows as text, times in ISO 8601, ordered by what rows say."""
    columns = log.columns
    assert columns is not None
    with _session(log.source) as session:
        types = {column.name: column.type_code for column in _describe(session, log.source)}
        _refuse_too_large(session, log, columns, types)
        uses = columns.uses
        text = {
            name: postgresql_sql.text(_quoted(name), types[name], uses.get(name, "value"))
            for name in names
        }
        for name in columns.times:
            if types[name] in MOMENTS:
                time = _quoted(name)
                text[name] = f"(CASE WHEN {_is_time(time)} THEN {time}::timestamptz END)::text"
        order = [f'{text[name]} COLLATE "C" NULLS LAST' for name in (*columns.activity, *names)]
        if columns.lifecycle is not None:
            word = f"lower(btrim(coalesce({text[columns.lifecycle]}, '')))"
            order.insert(len(columns.activity), f"({word} <> '{START}')")
        if columns.timestamp in columns.times and types[columns.timestamp] in MOMENTS:
            order.insert(0, f"{_quoted(columns.timestamp)} NULLS LAST")
        with session.cursor(name="rows") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(
                f"SELECT {', '.join(text.values())} FROM {_asked(log.source)} "
                f"ORDER BY {', '.join(order)}"
            )
            yield from map(list, cursor)


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


def _is_time(time: str) -> str:
    """Whether a time has an end, and can be told in microseconds; the server knows later dates."""
    return f"isfinite({time}) AND {time} < '294247-01-01'"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What is asked of each row, as SQL."""

    sql: str
    """case_id, part_0, …, lone, stamped, time_key, person and truncated of each row."""
    parts: tuple[str, ...]
    """The columns part_0, part_1, … that make up the activity."""
    order: str
    """What the rows of a case are ordered by: nothing but what they say."""
    microseconds: str
    """The time since 1970; missing where the stamp is no time, or endless."""
    values: tuple[str, ...] = ()
    """The columns value_0, value_1, … that hold attributes."""


def _rows(session: Any, log: Log, columns: Columns) -> _Rows:
    kinds = {column.name: column.type_code for column in _describe(session, log.source)}
    assert columns.timestamp is not None
    _refuse_too_large(session, log, columns, kinds)

    def text(name: str, use: Use = "value") -> str:
        # The collation C compares bytes: equal is equal, and order is the same everywhere.
        return f'{postgresql_sql.text(_quoted(name), kinds[name], use)} COLLATE "C"'

    values = tuple(f"value_{i}" for i in range(len(columns.attributes)))
    stamp = _quoted(columns.timestamp)
    key = stamp
    if kinds[columns.timestamp] in TEXT:
        key = f"{stamp}::timestamptz"
        if session.info.server_version >= VALIDATING:
            key = f"CASE WHEN pg_input_is_valid({stamp}::text, 'timestamptz') THEN {key} END"
    parts = tuple(f"part_{i}" for i in range(len(columns.activity)))
    named = zip(columns.activity, parts, strict=True)
    lone = " AND ".join(f"{part} IS NULL" for part in (*map(_quoted, columns.activity), stamp))
    person = text(columns.person, "name") if columns.person else "NULL::text"
    # A word that is neither yes nor no would make the server refuse all rows.
    truncated = f"coalesce(lower({_quoted(columns.truncated or '')}::text) IN {_YES}, false)"
    fields = [
        f"{text(columns.case, 'id')} AS case_id",
        *(f"{text(column, 'name')} AS {part}" for column, part in named),
        f"({lone}) AS lone",
        f"({stamp} IS NOT NULL) AS stamped",
        f"{key} AS time_key",
        f"(CASE WHEN btrim({person}, {_BLANK}) <> '' THEN {person} END) COLLATE \"C\" AS person",
        f"{truncated if columns.truncated else 'false'} AS truncated",
        *(
            f"{text(column_of(each, kinds))} AS {value}"
            for each, value in zip(columns.attributes, values, strict=True)
        ),
    ]
    # Rows that tie in all of this are the same, so nothing is left for the server to decide.
    order = ", ".join(f"{key} NULLS LAST" for key in ("time_key", *parts, "person", *values))
    microseconds = "NULL::bigint"
    if kinds[columns.timestamp] in (*MOMENTS, *TEXT):
        # Whole seconds would do with floats, microseconds would not: this is a numeric.
        microseconds = f"""(CASE WHEN {_is_time("time_key")}
            THEN extract(epoch FROM time_key::timestamptz) * 1000000 END)::bigint"""
    return _Rows(
        sql=f"SELECT {', '.join(fields)} FROM {_asked(log.source)}",
        parts=parts,
        order=order,
        microseconds=microseconds,
        values=values,
    )


def _refuse_too_large(session: Any, log: Log, columns: Columns, kinds: Mapping[str, int]) -> None:
    """Refuse columns of numbers of which two names may have become one."""
    tests = {
        name: test
        for name, use in columns.uses.items()
        if name and (test := postgresql_sql.too_large(_quoted(name), kinds[name], use))
    }
    if not tests:
        return
    asked = ", ".join(f"bool_or({test})" for test in tests.values())
    found = session.execute(f"SELECT {asked} FROM {_asked(log.source)}").fetchone()
    for name, is_large in zip(tests, found, strict=True):
        if is_large:
            raise ReadError(log.name, f'column "{name}" {TOO_LARGE}')


def _check(session: Any, log: Log, columns: Columns, rows: _Rows) -> int:
    """Refuse rows that cannot be counted, and activities that would run together.

    Gives the number of events that have no time stamp that can be read.
    """
    missing = " OR ".join(f"{part} IS NULL" for part in rows.parts)
    wrong = {"case": "case_id IS NULL", "activity": f"({missing}) AND NOT lone"}
    unread = "NOT lone AND time_key IS NULL"
    asked = [
        "count(*) FILTER (WHERE NOT lone)",
        f"count(*) FILTER (WHERE {unread})",
        f"bool_or({unread} AND stamped)",
        *(f"bool_or({test})" for test in wrong.values()),
    ]
    events, untimed, unreadable, *found = session.execute(
        f"SELECT {', '.join(asked)} FROM ({rows.sql}) AS events"
    ).fetchone()
    for what, is_wrong in zip(wrong, found, strict=True):
        if is_wrong:
            raise ReadError(log.name, f"the query gives a row without {what}")
    if unreadable and untimed == events:
        raise ReadError(
            log.name,
            f'no time stamp in column "{columns.timestamp}" can be read: '
            "make times of them in the query, with to_timestamp",
        )
    if len(rows.parts) > 1:
        names = session.execute(
            f"SELECT DISTINCT {', '.join(rows.parts)} FROM ({rows.sql}) AS events WHERE NOT lone"
        ).fetchall()
        check_unique(log.name, [JOINER.join(name) for name in names])
    return int(untimed)


def _case_by_case(log: Log, rows: _Rows) -> str:
    """Write the query that gives every case, with its times."""
    times = f"""coalesce(array_agg({rows.microseconds} ORDER BY {rows.order})
        FILTER (WHERE NOT lone), ARRAY[]::bigint[]) AS times,"""
    for value in rows.values:
        times += f"""coalesce(array_agg({value} ORDER BY {rows.order})
            FILTER (WHERE NOT lone), ARRAY[]::text[]) AS {value},"""
    varies = "false" if log.max_cases is None else "varies"
    values = "".join(f", {value}" for value in rows.values)
    return f"""{_cases(log, rows, times)}
        SELECT counted, {varies}, variant, truncated, times{values} FROM placed"""


def _cases(log: Log, rows: _Rows, more: str = "") -> str:
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
            SELECT case_id, bool_or(truncated) AS truncated,{persons}{more}
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
