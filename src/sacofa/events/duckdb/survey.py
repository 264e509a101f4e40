"""A first look at all rows of a table: which activities there are, and whether rows can be counted.

What is found here decides how rows are put in order, never in which order: that is the same for
every way that it is done, so that a row more cannot change the order of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

from ...errors import ReadError
from ..attributes import column_of
from ..cells import TOO_LARGE, duckdb_sql
from ..columns import Columns
from ..notices import BLANK
from ..options import JOINER
from ..time_format import (
    NUMBERS,
    both_orders,
    mixed_times,
    open_order,
    unknown_numbers,
    unreadable_times,
)
from ..variant_counter import check_unique
from .instances import stage_of
from .joining import TWO_WAYS
from .ordering import (
    DATES,
    MILLISECONDS,
    PLACE_BITS,
    PLAIN_NUMBERS,
    SCALE,
    SECONDS,
    Ordering,
    TimeKey,
    with_scale,
)
from .source import ROW_BITS, Table
from .sql import literal
from .stamps import DAY_FIRST, MONTH_FIRST, OPEN, DayMonth, day_month, odd_text, read_time

TOGETHER = 100_000
"""So many texts are handed over at a time."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What is asked of each row, as SQL."""

    table: Table
    """Where the rows are; where time stamps are text, with the times that were read from them."""
    source: Table
    """The same, as it stands there."""
    case: str
    """The case."""
    parts: tuple[str, ...]
    """The columns that make up the activity."""
    stamp: str
    """The time stamp as it stands there; something that is never missing if there is none."""
    key: TimeKey | None
    """What events are ordered by, or nothing for the order of the source."""
    times: TimeKey | None
    """How time stamps are read, where anything is asked of them."""
    kind: str
    """The type of the time stamps."""
    form: str | None
    """How they are written, where that was declared."""
    person: str | None
    """The person, missing where it is blank."""
    truncated: str | None
    """Whether the case went on."""
    began: str | None
    """When the work on an event began, as it stands there, where there is a column for it."""
    began_kind: str
    """The type of that column."""
    with_times: bool
    """Whether times are asked for beside the order."""
    like: str | None = None
    """A time stamp as most of them look, which makes reading them quick."""
    stage: str | None
    """Whether an event is the start or the end of work; missing where nothing was done."""
    values: tuple[str, ...] = ()
    """The texts of the attributes that are read."""
    too_large: Mapping[str, str] = field(default_factory=dict)
    """For columns of numbers that name something, when two names may have become one, as SQL."""
    two_ways: tuple[str, ...] = ()
    """Whether a time of day can be read in two ways, for each joined time stamp that is read."""

    @classmethod
    def of(
        cls,
        table: Table,
        columns: Columns,
        *,
        timed: bool,
        with_times: bool = False,
        form: str | None = None,
    ) -> Rows:
        """Find out what is asked of the rows of a table.

        `timed` if they are ordered by time, `with_times` if times are asked for beside the order.
        """
        stamp = columns.timestamp
        times = None
        if stamp and (timed or with_times):
            times = TimeKey.of(*_stamp(table, stamp, form), form)
        person = table.text(columns.person, "name") if columns.person else None
        truncated = table.text(columns.truncated) if columns.truncated else None
        read = filter(None, (stamp if times else None, columns.start if with_times else None))
        rows = cls(
            table=table,
            source=table,
            case=table.text(columns.case, "id"),
            parts=tuple(table.text(part, "name") for part in columns.activity),
            stamp=_stamp(table, stamp, form)[0] if stamp else "0",
            key=times if timed else None,
            times=times,
            with_times=with_times,
            kind=_stamp(table, stamp, form)[1] if stamp else "",
            form=form,
            person=_unless_blank(person) if person else None,
            truncated=f"coalesce(try_cast({truncated} AS BOOLEAN), false)" if truncated else None,
            began=_stamp(table, columns.start, form)[0] if columns.start and with_times else None,
            began_kind=_stamp(table, columns.start, form)[1] if columns.start else "",
            stage=stage_of(table.text(columns.lifecycle)) if columns.lifecycle else None,
            values=tuple(table.text(column_of(each, table.columns)) for each in columns.attributes),
            too_large={
                name: test
                for name, use in columns.uses.items()
                if name and (test := duckdb_sql.too_large(*table.columns[name], use))
            },
            two_ways=tuple(table.two_ways[name] for name in read if name in table.two_ways),
        )
        return rows.read_as("either") if rows.texts and form is not None else rows

    @property
    def texts(self) -> dict[str, str]:
        """The columns of text that hold times that are asked for, with where they are read into."""
        if self.form in NUMBERS:
            return {}
        found = {}
        if self.times is not None and self.kind == "VARCHAR":
            found[READ] = self.stamp
        if self.began is not None and self.began_kind == "VARCHAR":
            found[BEGAN_READ] = self.began
        return found

    @property
    def is_plain(self) -> bool:
        """Whether stamps are read as ISO 8601 alone, which is quick, because nobody knows more."""
        return bool(self.texts) and self.table is self.source

    @property
    def is_open(self) -> bool:
        """Whether stamps may leave open which of day and month comes first."""
        return bool(self.texts) and self.form is None

    @property
    def has_scales(self) -> bool:
        """Whether time stamps are text that may hold dates and numbers."""
        return self.times is not None and self.times.date is not None

    def read_as(self, order: DayMonth, like: str | None = None) -> Rows:
        """The same, with time stamps read in their form, or in any; most look `like` this one."""
        texts = self.texts
        times = self.times
        if READ in texts:
            times = TimeKey.of(self.stamp, self.kind, self.form, READ)
        table = _with_times(self.source, texts, self.form, order, like)
        return replace(self, like=like, table=table, times=times, key=times if self.key else None)

    @property
    def start_us(self) -> str | None:
        """When the work on an event began, in microseconds."""
        if self.began is None:
            return None
        read = BEGAN_READ if BEGAN_READ in self.texts and not self.is_plain else None
        return TimeKey.of(self.began, self.began_kind, self.form, read).micros

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
        for two_ways in self.two_ways:
            yield two_ways, TWO_WAYS


def _stamp(table: Table, column: str, form: str | None) -> tuple[str, str]:
    """Give a column of time stamps with its type; what is neither time nor number is text.

    So are numbers where a form of text is declared: 20251231 may be written as %Y%m%d says.
    """
    kind = table.columns[column][1]
    counts = duckdb_sql.is_number(kind) and (form is None or form in NUMBERS)
    if duckdb_sql.is_moment(kind) or counts or kind == "TIME":
        return table.columns[column]
    return table.text(column), "VARCHAR"


READ, BEGAN_READ = '"sacofa:moment"', '"sacofa:began"'
"""The columns of the times that text is read as. They are made once, as reading takes long."""


def _with_times(
    table: Table,
    columns: Mapping[str, str],
    form: str | None,
    order: DayMonth,
    like: str | None,
) -> Table:
    """Add the times that text is read as: each new column with the one it comes from."""
    more = ", ".join(
        f"{read_time(old, form, order, like)} AS {new}" for new, old in columns.items()
    )
    row = table.row
    if table.numbered:
        # What a file says of a row beside its columns must be asked for where the file is read.
        row = '"sacofa:row"'
        more += f", {table.row} AS {row}"
    return replace(table, sql=f"(SELECT *, {more} FROM {table.sql})", row=row)


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
    staged: bool = False
    """Whether rows say that they are the start or the end of work."""
    undone: int = 0
    """How many rows tell of no work."""


def survey(
    database: Any, name: str, columns: Columns, rows: Rows, *, with_times: bool = False
) -> Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    table, wrong, key = rows.table, list(rows.wrong()), rows.times
    parts = ", ".join(rows.parts)
    sql, missing = table.sql, key.missing if key else "false"
    if key and key.date:
        sql, missing = with_scale(sql, key.date, rows.stamp), f"{SCALE} = 0"
    unread = f"({missing}) AND NOT ({rows.lone})"
    no_time = f"{key.micros} IS NULL AND NOT ({rows.lone})" if key and with_times else "false"
    asked = {
        "size": "count(*)",
        "lone": f"bool_or({rows.lone})",
        "unpackable": f"bool_or({key.unpackable})" if key else "false",
        "untimed": f"count_if({unread})" if key else "0",
        "unread": f"bool_or({unread} AND {rows.stamp} IS NOT NULL)" if key else "false",
        "timeless": f"count_if({no_time})",
        "scales": f"bit_or({SCALE})" if rows.has_scales else "0",
        "odd": "false",
        "day_month": "0",
        **{what: f"bool_or({test})" for test, what in wrong},
        **{test: f"bool_or({test})" for test in rows.too_large.values()},
    }
    if rows.is_plain:
        odd = " OR ".join(map(odd_text, rows.texts.values()))
        if list(rows.texts) == [READ]:
            odd = f"CASE WHEN {SCALE} IN ({SECONDS}, {MILLISECONDS}) THEN false ELSE {odd} END"
        asked["odd"] = f"bool_or({odd})"
    elif rows.is_open:
        asked["day_month"] = f"bit_or({' | '.join(map(day_month, rows.texts.values()))})"
    if rows.stage is not None:
        asked["undone"] = f"count_if({rows.stage} IS NULL AND NOT ({rows.lone}))"
    answers = database.execute(
        f"SELECT {', '.join(asked.values())}, {parts} FROM {sql} GROUP BY {parts}"
    ).fetchall()
    found = [dict(zip(asked, row, strict=False)) for row in answers]
    if rows.is_plain and any(group["odd"] for group in found):
        stamp = next(iter(rows.texts.values()))
        like = database.execute(
            f"SELECT {stamp} FROM {table.sql} WHERE {odd_text(stamp)} LIMIT 1"
        ).fetchone()
        rows = rows.read_as("either", like[0] if like else None)
        return survey(database, name, columns, rows, with_times=with_times)
    for column_name, test in rows.too_large.items():
        if any(group[test] for group in found):
            raise ReadError(name, f'column "{column_name}" {TOO_LARGE}')
    for test, what in wrong:
        if any(group[what] for group in found):
            raise ReadError(name, f"row {_first_row(database, table, test)} {what}")
    scales = reduce(or_, (group["scales"] or 0 for group in found), 0)
    if rows.key and scales > PLAIN_NUMBERS:
        row = _first_row(database, table, _plain_number(rows.key))
        raise ReadError(name, mixed_times(columns.timestamp or "", row))
    activities = [row[len(asked) :] for row in answers if row[len(asked)] is not None]
    names = [JOINER.join(activity) for activity in activities]
    check_unique(name, names)
    names.sort()
    # Starts that are joined with their end leave rows that are no events.
    lone = not names or rows.stage is not None or any(group["lone"] for group in found)
    untimed = sum(group["untimed"] for group in found)
    events = sum(group["size"] for group in found if not group["lone"])
    column = columns.timestamp or ""
    some_unread = rows.kind == "VARCHAR" and any(group["unread"] for group in found)
    if rows.key and key and some_unread and untimed == events:
        shown = _first_stamp(
            database, rows, f"{rows.stamp} IS NOT NULL AND ({key.missing}) AND NOT ({rows.lone})"
        )
        raise ReadError(name, unreadable_times(column, shown or "", rows.form))
    timeless = sum(group["timeless"] for group in found)
    if with_times and rows.form != "number" and untimed < timeless == events:
        shown = _first_stamp(database, rows, f"NOT ({key.missing if key else 'false'})")
        raise ReadError(name, unknown_numbers(column, shown or ""))
    if rows.is_open and not rows.is_plain:
        told = 0
        for group in found:
            told |= group["day_month"] or 0
        where = column if READ in rows.texts else columns.start or ""
        rows = rows.read_as(_day_month(database, name, where, rows, told), rows.like)
        table = rows.table
    key = rows.key
    text = key is not None and key.number is not None
    bits = max(len(names) - 1, 1).bit_length()
    code = "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "INTEGER"
    one_scale = scales in (0, DATES, SECONDS, MILLISECONDS)
    packable = key is None or (one_scale and not any(group["unpackable"] for group in found))
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
        f"{rows.stage or 'NULL::TINYINT'} AS stage, {rows.start_us or 'NULL::BIGINT'} AS began_us, "
        f"{time or '0'} AS time_key, {key.number if key and key.number else 'NULL'} AS number_key, "
        f"{table.row} AS row_number, {rows.person or 'NULL::VARCHAR'} AS person, "
        f"{rows.truncated or 'false'} AS truncated, "
        f"{rows.times.micros if rows.times and rows.with_times else 'NULL::BIGINT'} AS time_us"
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
        staged=rows.stage is not None,
        undone=sum(group.get("undone", 0) for group in found),
    )


def _plain_number(key: TimeKey) -> str:
    """Whether text is a number, and none that stands for a time."""
    return f"({key.time} IS NULL AND {key.number} IS NOT NULL)"


def _day_month(database: Any, name: str, column: str, rows: Rows, told: int) -> DayMonth:
    """Say which of day and month comes first; refuse a column that tells both, or nothing."""

    def first(what: int) -> str:
        for column in rows.texts.values():
            shown = _first_stamp(database, rows, f"{day_month(column)} = {what}", column)
            if shown is not None:
                return shown
        return ""

    if told & DAY_FIRST and told & MONTH_FIRST:
        raise ReadError(name, both_orders(column, first(DAY_FIRST), first(MONTH_FIRST)))
    if told == OPEN:
        raise ReadError(name, open_order(column, first(OPEN)))
    return "month" if told & MONTH_FIRST else "day"


def _first_stamp(database: Any, rows: Rows, test: str, column: str | None = None) -> str | None:
    """Give the smallest time stamp of which something is true, as text to be shown."""
    (value,) = database.execute(
        f"SELECT min({column or rows.stamp})::VARCHAR FROM {rows.table.sql} WHERE {test}"
    ).fetchone()
    return None if value is None else str(value)


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
    number = f"enum_code(({activity})::activity)::{code}"
    return number if rows.stage is None else f"CASE WHEN {rows.stage} IS NOT NULL THEN {number} END"


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
