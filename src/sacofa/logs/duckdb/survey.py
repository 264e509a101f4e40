"""A first look at all rows of a table: which activities there are, and whether rows can be counted.

What is found here decides how rows are put in order, never in which order: that is the same for
every way that it is done, so that a row more cannot change the order of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import ReadError
from ..attributes import column_of
from ..columns import Columns
from ..notices import BLANK, unreadable_times
from ..options import JOINER
from ..variant_counter import check_unique
from .ordering import PLACE_BITS, Ordering, TimeKey, microseconds
from .source import ROW_BITS, Table, literal

TOGETHER = 100_000
"""So many texts are handed over at a time."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What is asked of each row, as SQL."""

    table: Table
    """Where the rows are."""
    case: str
    """The case."""
    parts: tuple[str, ...]
    """The columns that make up the activity."""
    stamp: str
    """The time stamp as it stands there; something that is never missing if there is none."""
    key: TimeKey | None
    """What events are ordered by, or nothing for the order of the source."""
    person: str | None
    """The person, missing where it is blank."""
    truncated: str | None
    """Whether the case went on."""
    time_us: str
    """The time in microseconds, missing where a stamp is no time: a number may count anything."""
    values: tuple[str, ...] = ()
    """The texts of the attributes that are read."""

    @classmethod
    def of(cls, table: Table, columns: Columns, *, timed: bool) -> Rows:
        """Find out what is asked of the rows of a table."""
        stamp = columns.timestamp
        person = table.text(columns.person) if columns.person else None
        truncated = table.text(columns.truncated) if columns.truncated else None
        return cls(
            table=table,
            case=table.text(columns.case),
            parts=tuple(table.text(part) for part in columns.activity),
            stamp=table.columns[stamp][0] if stamp else "0",
            key=TimeKey.of(*table.columns[stamp]) if stamp and timed else None,
            person=_unless_blank(person) if person else None,
            truncated=f"coalesce(try_cast({truncated} AS BOOLEAN), false)" if truncated else None,
            time_us=microseconds(*table.columns[stamp]) if stamp else "NULL::BIGINT",
            values=tuple(table.text(column_of(each, table.columns)) for each in columns.attributes),
        )

    @property
    def lone(self) -> str:
        """Whether a row says no more than that there is such a case."""
        return " AND ".join(f"{part} IS NULL" for part in (*self.parts, self.stamp))

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What makes a row impossible to count, and what to say of it."""
        yield f"{self.case} IS NULL", "has no case"
        missing = " OR ".join(f"{part} IS NULL" for part in self.parts)
        # Without a time column no row is lone: one without an activity is taken for a mistake.
        yield f"({missing}) AND NOT ({self.lone})", "has no activity"


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What a first look at all rows tells."""

    rows: int
    """How many rows there are."""
    names: list[str]
    """The activities; ids are places here."""
    sql: str
    """case and activity ids, time_key, number_key, row_number,
    person, truncated, time_us, and values."""
    code: str
    """The type of activity ids."""
    truncated: bool
    """Whether rows say that their case was truncated."""
    order: Ordering
    """How events are put in order."""
    untimed: int
    """How many events have no time stamp that can be read, where that is needed."""
    texts: list[list[str]]
    """The different texts of each attribute; value_0, value_1, … are places here."""


def survey(database: Any, name: str, columns: Columns, rows: Rows) -> Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    table, wrong, key = rows.table, list(rows.wrong()), rows.key
    parts = ", ".join(rows.parts)
    unread = f"({key.missing}) AND NOT ({rows.lone})" if key else "false"
    asked = {
        "size": "count(*)",
        "lone": f"bool_or({rows.lone})",
        "unpackable": f"bool_or({key.unpackable})" if key else "false",
        "untimed": f"count_if({unread})" if key else "0",
        "unread": f"bool_or({unread} AND {rows.stamp} IS NOT NULL)" if key else "false",
        **{what: f"bool_or({test})" for test, what in wrong},
    }
    answers = database.execute(
        f"SELECT {', '.join(asked.values())}, {parts} FROM {table.sql} GROUP BY {parts}"
    ).fetchall()
    found = [dict(zip(asked, row, strict=False)) for row in answers]
    for test, what in wrong:
        if any(group[what] for group in found):
            raise ReadError(name, f"row {_first_row(database, table, test)} {what}")
    activities = [row[len(asked) :] for row in answers if row[len(asked)] is not None]
    names = [JOINER.join(activity) for activity in activities]
    check_unique(name, names)
    names.sort()
    lone = not names or any(group["lone"] for group in found)
    untimed = sum(group["untimed"] for group in found)
    events = sum(group["size"] for group in found if not group["lone"])
    text = key is not None and key.number is not None
    if text and events and untimed == events and any(group["unread"] for group in found):
        raise ReadError(name, unreadable_times(columns.timestamp or ""))
    bits = max(len(names) - 1, 1).bit_length()
    code = "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "INTEGER"
    packable = key is None or not any(group["unpackable"] for group in found)
    if packable and table.row_bits + bits <= PLACE_BITS:
        time = key.moment if key else None
        order = Ordering.packed(
            code, bits=bits, timed=key is not None, lone=lone, untimed=untimed > 0
        )
    else:
        time = key.time if key else None
        order = Ordering.plain(timed=key is not None, lone=lone, text=text)
    sql = (
        f"SELECT {rows.case} AS case_id, {_number(database, rows, names, code)} AS activity_id, "
        f"{time or '0'} AS time_key, {key.number if key and key.number else 'NULL'} AS number_key, "
        f"{table.row} AS row_number, {rows.person or 'NULL::VARCHAR'} AS person, "
        f"{rows.truncated or 'false'} AS truncated, {rows.time_us} AS time_us"
    )
    texts = []
    for place, value in enumerate(rows.values):
        listed, number = _number_texts(database, table, value, place)
        texts.append(listed)
        sql += f", {number} AS value_{place}"
    sql += f" FROM {table.sql}"
    return Survey(
        rows=sum(group["size"] for group in found),
        names=names,
        sql=f"({sql})",
        code=code,
        truncated=rows.truncated is not None,
        order=order,
        untimed=untimed,
        texts=texts,
    )


def _unless_blank(text: str) -> str:
    """Give text as SQL, missing where it is blank."""
    # All blanks come before the exclamation mark, so that few texts need to be looked at closely.
    closely = f"trim({text}, {literal(BLANK)}) <> ''"
    return f"CASE WHEN {text} >= '!' THEN {text} WHEN {closely} THEN {text} END"


def _first_row(database: Any, table: Table, test: str) -> int:
    """Give the number, in its file and from 1, of the first row of which something is true."""
    (row,) = database.execute(
        f"SELECT min(row_number) FROM (SELECT {table.row} AS row_number, {test} AS wrong "
        f"FROM {table.sql}) WHERE wrong"
    ).fetchone()
    return int(row & ((1 << ROW_BITS) - 1)) + 1


def _number(database: Any, rows: Rows, names: list[str], code: str) -> str:
    """Number activities in the order of their names, as SQL; missing where a row is no event."""
    if not names:
        return f"NULL::{code}"
    # An enumeration numbers names faster than a join does.
    database.execute("CREATE TABLE names (name VARCHAR)")
    database.execute("INSERT INTO names SELECT unnest(?)", [names])
    database.execute("CREATE TYPE activity AS ENUM (SELECT name FROM names ORDER BY rowid)")
    activity = f" || '{JOINER}' || ".join(rows.parts)
    return f"enum_code(({activity})::activity)::{code}"


def _number_texts(database: Any, table: Table, value: str, place: int) -> tuple[list[str], str]:
    """The texts of an attribute, and the place of a row's own among them, as SQL."""
    found = database.execute(
        f"SELECT DISTINCT {value} AS text FROM {table.sql} WHERE {value} IS NOT NULL ORDER BY text"
    ).fetchall()
    texts = [text for (text,) in found]
    if not texts:
        return [], "-1"
    database.execute(f"CREATE TABLE texts_{place} (text VARCHAR)")
    for start in range(0, len(texts), TOGETHER):
        part = texts[start : start + TOGETHER]
        database.execute(f"INSERT INTO texts_{place} SELECT unnest(?)", [part])
    database.execute(
        f"CREATE TYPE value_{place} AS ENUM (SELECT text FROM texts_{place} ORDER BY rowid)"
    )
    return texts, f"coalesce(enum_code(({value})::value_{place})::INTEGER, -1)"
