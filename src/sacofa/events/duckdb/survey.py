"""A first look at all rows of a table: which activities there are, and whether rows can be counted.

What is found here decides how rows are put in order, never in which order: that is the same for
every way that it is done, so that a row more cannot change the order of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ...errors import ReadError
from ...kernel.statements import Statement
from ..cells import TOO_LARGE
from ..options import JOINER
from ..time_format import (
    both_orders,
    mixed_times,
    open_order,
    unknown_numbers,
    unreadable_times,
)
from ..variant_counter import check_unique
from .database import first_row
from .ordering import (
    DATES,
    MILLISECONDS,
    PLACE_BITS,
    PLAIN_NUMBERS,
    SCALE,
    SECONDS,
    Ordering,
    with_scale,
)
from .rows import Rows
from .source import ROW_BITS
from .stamps import DAY_FIRST, MONTH_FIRST, OPEN, DayMonth, day_month, odd_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TOGETHER = 100_000
"""This many texts are handed over at a time."""


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
    staged: bool
    """Whether rows say that they are the start or the end of work."""
    undone: int
    """How many rows tell of no work."""


def survey(database: DuckDBPyConnection, name: str, rows: Rows) -> Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    view = _View(database=database, name=name, rows=rows)
    answers = _ask(view)
    if answers.some("odd"):
        return survey(database, name, rows.read_as("either", view.first_odd()))
    _refuse_rows(view, answers)
    names = sorted(map(JOINER.join, answers.activities))
    check_unique(name, names)
    _refuse_times(view, answers)
    if rows.is_open:
        rows = rows.read_as(_day_month(view, answers.bits("day_month")), rows.like)
    code = _code_type(len(names))
    order, time = _choose_order(rows, answers, len(names))
    values = [_number_texts(view, value, place) for place, value in enumerate(rows.values)]
    listed = {
        "case_id": rows.case,
        "activity_id": _number_activities(view, names, code),
        "stage": rows.stage or "NULL::TINYINT",
        "began_us": rows.start_us,
        "time_key": time,
        "number_key": rows.key.number or "NULL",
        "row_number": rows.table.row,
        "person": rows.person,
        "truncated": rows.truncated,
        "time_us": rows.time_us,
        **{f"value_{place}": number for place, (_, number) in enumerate(values)},
    }
    sql = ", ".join(f"{what} AS {column}" for column, what in listed.items())
    return Survey(
        rows=answers.total("size"),
        names=names,
        sql=f"(SELECT {sql} FROM {rows.table.sql})",
        code=code,
        truncated=rows.columns.truncated is not None,
        order=order,
        untimed=answers.total("untimed"),
        texts=[texts for texts, _ in values],
        staged=rows.columns.lifecycle is not None,
        undone=answers.total("undone"),
    )


@dataclass(frozen=True, kw_only=True)
class _View:
    """The rows that are looked at, and where."""

    database: DuckDBPyConnection
    name: str
    """The log, in errors."""
    rows: Rows

    def first_row(self, test: str) -> int:
        """The number, in its file and from 1, of the first row of which something is true."""
        table = self.rows.table
        (row,) = first_row(
            self.database,
            f"SELECT min(row_number) FROM (SELECT {table.row} AS row_number, {test} AS wrong "
            f"FROM {table.sql}) WHERE wrong",
        )
        return int(row & ((1 << ROW_BITS) - 1)) + 1

    def first_stamp(self, test: str, column: str | None = None) -> str:
        """The smallest time stamp of which something is true, as text to be shown."""
        shown = column or self.rows.stamp_sql
        (value,) = first_row(
            self.database, f"SELECT min({shown})::VARCHAR FROM {self.rows.table.sql} WHERE {test}"
        )
        return "" if value is None else str(value)

    def first_odd(self) -> str | None:
        """Some text that is odd, if there is any in the first column of text."""
        stamp = self.rows.texts[0].sql
        sql = f"SELECT {stamp} FROM {self.rows.table.sql} WHERE {odd_text(stamp)} LIMIT 1"
        return next(iter(first_row(self.database, sql)), None)


@dataclass(frozen=True)
class _Answers:
    """What was asked of all rows, for each combination of texts that is an activity, or none."""

    groups: list[dict[str, Any]]
    activities: list[tuple[str, ...]]

    def some(self, what: str) -> bool:
        return any(group[what] for group in self.groups)

    def total(self, what: str) -> int:
        return sum(group[what] for group in self.groups)

    def bits(self, what: str) -> int:
        return reduce(or_, (group[what] or 0 for group in self.groups), 0)

    @property
    def events(self) -> int:
        """How many rows are events."""
        return sum(group["size"] for group in self.groups if not group["lone"])


def _ask(view: _View) -> _Answers:
    """Ask everything at once, in one pass over the rows."""
    rows, times, no_event = view.rows, view.rows.times, f"NOT ({view.rows.lone})"
    sql, missing, scales = rows.table.sql, times.missing, "0"
    if times.date is not None:
        sql = with_scale(sql, times.date, rows.stamp_sql)
        missing, scales = f"{SCALE} = 0", f"bit_or({SCALE})"
    unread = f"({missing}) AND {no_event}"
    no_time = f"{times.micros} IS NULL AND {no_event}" if _must_know(rows) else "false"
    undone = f"{rows.stage} IS NULL AND {no_event}" if rows.stage else "false"
    asked = {
        "size": "count(*)",
        "lone": f"bool_or({rows.lone})",
        "unpackable": f"bool_or({times.unpackable})",
        "untimed": f"count_if({unread})",
        "unread": f"bool_or({unread} AND {rows.stamp_sql} IS NOT NULL)",
        "timeless": f"count_if({no_time})",
        "scales": scales,
        "odd": f"bool_or({_odd(rows)})",
        "day_month": f"bit_or({_day_months(rows)})",
        "undone": f"count_if({undone})",
        **{test: f"bool_or({test})" for test, _ in (*rows.wrong(), *rows.too_large())},
    }
    parts = ", ".join(rows.parts)
    answers = view.database.execute(
        f"SELECT {', '.join(asked.values())}, {parts} FROM {sql} GROUP BY {parts}"
    ).fetchall()
    groups = [dict(zip(asked, row, strict=False)) for row in answers]
    activities = [row[len(asked) :] for row in answers]
    return _Answers(groups, [parts for parts in activities if parts[0] is not None])


def _must_know(rows: Rows) -> bool:
    """Whether the log is refused if no time is known."""
    return rows.with_times and rows.strict and rows.stamp is not None


def _odd(rows: Rows) -> str:
    """Whether a stamp is text that may be a time, but not in ISO 8601, as long as that is open."""
    if rows.order is not None or not rows.texts:
        return "false"
    odd = " OR ".join(odd_text(stamp.sql) for stamp in rows.texts)
    if rows.texts != (rows.stamp,):
        return odd
    return f"CASE WHEN {SCALE} IN ({SECONDS}, {MILLISECONDS}) THEN false ELSE {odd} END"


def _day_months(rows: Rows) -> str:
    """What stamps tell of the order of day and month, as long as that is open."""
    told = [day_month(stamp.sql) for stamp in rows.texts] if rows.is_open else []
    return " | ".join(["0", *told])


def _refuse_rows(view: _View, answers: _Answers) -> None:
    """Refuse rows that cannot be counted."""
    rows = view.rows
    for test, column in rows.too_large():
        if answers.some(test):
            raise ReadError(view.name, Statement("read.cell.column", column=column, what=TOO_LARGE))
    for test, code in rows.wrong():
        if answers.some(test):
            raise ReadError(view.name, Statement(code, row=view.first_row(test)))
    if rows.timed and answers.bits("scales") > PLAIN_NUMBERS:
        # A number that stands for no time, next to times.
        row = view.first_row(f"({rows.key.time} IS NULL AND {rows.key.number} IS NOT NULL)")
        raise ReadError(view.name, mixed_times(rows.columns.timestamp or "", row))


def _refuse_times(view: _View, answers: _Answers) -> None:
    """Refuse a column in which no time stamp is a time."""
    rows, stamp, missing = view.rows, view.rows.stamp, view.rows.times.missing
    if stamp is None:
        return
    column, events = rows.columns.timestamp or "", answers.events
    untimed, timeless = answers.total("untimed"), answers.total("timeless")
    if rows.timed and stamp.kind == "VARCHAR" and answers.some("unread") and untimed == events:
        test = f"{stamp.sql} IS NOT NULL AND ({missing}) AND NOT ({rows.lone})"
        raise ReadError(view.name, unreadable_times(column, view.first_stamp(test), rows.form))
    if rows.form != "number" and untimed < timeless == events:
        shown = view.first_stamp(f"NOT ({missing})")
        raise ReadError(view.name, unknown_numbers(column, shown))


def _day_month(view: _View, told: int) -> DayMonth:
    """Which of day and month comes first; a column that tells both, or nothing, is refused."""
    rows, columns = view.rows, view.rows.columns
    column = (columns.timestamp if rows.stamp in rows.texts else columns.start) or ""

    def first(what: int) -> str:
        shown = (view.first_stamp(f"{day_month(s.sql)} = {what}", s.sql) for s in rows.texts)
        return next(filter(None, shown), "")

    if told & DAY_FIRST and told & MONTH_FIRST:
        raise ReadError(view.name, both_orders(column, first(DAY_FIRST), first(MONTH_FIRST)))
    if told == OPEN:
        raise ReadError(view.name, open_order(column, first(OPEN)))
    return "month" if told & MONTH_FIRST else "day"


def _code_type(activities: int) -> str:
    """The smallest type that holds the ids of activities."""
    bits = _bits(activities)
    return "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "INTEGER"


def _bits(activities: int) -> int:
    return max(activities - 1, 1).bit_length()


def _choose_order(rows: Rows, answers: _Answers, activities: int) -> tuple[Ordering, str]:
    """How events are put in order, and what of a stamp that needs: packed numbers if all fit."""
    key, bits = rows.key, _bits(activities)
    one_scale = answers.bits("scales") in (0, DATES, SECONDS, MILLISECONDS)
    packable = not rows.timed or (one_scale and not answers.some("unpackable"))
    if not packable or key.moment is None or rows.table.row_bits + bits > PLACE_BITS:
        return Ordering.plain(timed=rows.timed), key.time
    return Ordering.packed(_code_type(activities), bits=bits, timed=rows.timed), key.moment


def _number_activities(view: _View, names: list[str], code: str) -> str:
    """Number activities in the order of their names, as SQL; missing where a row is no event."""
    if not names:
        return f"NULL::{code}"
    _make_type(view.database, "activity", names)
    name = f" || '{JOINER}' || ".join(view.rows.parts)
    number, stage = f"enum_code(({name})::activity)::{code}", view.rows.stage
    return number if stage is None else f"CASE WHEN {stage} IS NOT NULL THEN {number} END"


def _number_texts(view: _View, value: str, place: int) -> tuple[list[str], str]:
    """The texts of an attribute, and the place of a row's own among them, as SQL."""
    found = view.database.execute(
        f"SELECT DISTINCT {value} AS text FROM {view.rows.source.sql} WHERE {value} IS NOT NULL "
        "ORDER BY text"
    ).fetchall()
    texts = [text for (text,) in found]
    if not texts:
        return [], "-1"
    _make_type(view.database, f"value_{place}", texts)
    return texts, f"coalesce(enum_code(({value})::value_{place})::INTEGER, -1)"


def _make_type(database: DuckDBPyConnection, name: str, texts: Sequence[str]) -> None:
    """Make an enumeration of texts, which numbers them faster than a join does."""
    database.execute(f"CREATE TABLE names_of_{name} (text VARCHAR)")
    for start in range(0, len(texts), TOGETHER):
        part = list(texts[start : start + TOGETHER])
        database.execute(f"INSERT INTO names_of_{name} SELECT unnest(?)", [part])
    database.execute(
        f"CREATE TYPE {name} AS ENUM (SELECT text FROM names_of_{name} ORDER BY rowid)"
    )
