"""Survey of all rows of a table: its activities, and whether its rows can be counted.

It selects the method of sorting, never the order: no row affects the order of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...errors import Argument, ReadError
from ...kernel.statements import Statement
from ..case_store import check_unique
from ..cells import TOO_LARGE
from ..options import JOINER
from ..time_format import times_unread
from .database import first_row
from .rows import PLACE_BITS, Ordering, Rows
from .source import ROW_BITS
from .stamps import DAY_FIRST, MONTH_FIRST, OPEN, DayMonth

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXTS_PER_BATCH = 100_000
"""This many texts are handed over at a time."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The result of surveying all rows."""

    rows: Rows
    """The rows, and how their times are read."""
    size: int
    """Number of rows."""
    names: list[str]
    """The activities; ids are places here."""
    sql: str
    """case_id, place, activity_id, ordinal, time_key, time_us, began_us, stage, row_number,
    person, truncated, and values."""
    order: Ordering
    """Method of ordering events."""
    untimed: int
    """Number of events without a readable time stamp, if times are needed."""
    texts: list[list[str]]
    """The different texts of each attribute; value_0, value_1, … are places here."""
    undone: int
    """Number of rows that do not record work."""

    @property
    def database(self) -> DuckDBPyConnection:
        """The database."""
        return self.rows.database

    @property
    def flags(self) -> list[str]:
        """The columns about the end of a case and the life cycle of work, if any."""
        columns = self.rows.columns
        truncated = ["truncated"] * (columns.truncated is not None)
        return [*truncated, *["stage"] * (columns.lifecycle is not None)]


def survey(rows: Rows) -> Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    found, parts = _ask(rows)
    _refuse_rows(rows, found)
    _refuse_mixed(rows, found)
    names = sorted(JOINER.join(each) for each in parts if each[0] is not None)
    check_unique(rows.log.name, names)
    _refuse_times(rows, found)
    if rows.form is None and rows.texts:
        rows = replace(rows, order=_day_month(rows, found))
    activity = _number_activities(rows, names)
    values = [_number_texts(rows, place) for place in range(len(rows.columns.attributes))]
    numbered = "".join(f", {number} AS value_{place}" for place, (_, number) in enumerate(values))
    order, sql, ordinal = _choose_order(rows, len(names), found)
    kept = "case_id, row_number, person, truncated, stage, time_us, began_us, moment AS time_key"
    return Survey(
        rows=rows,
        size=found["size"],
        names=names,
        sql=f"(SELECT *, (ordinal << {order.bits}) | activity_id AS place FROM (SELECT {kept}, "
        f"{ordinal} AS ordinal, {activity}::{order.code} AS activity_id{numbered} FROM {sql}))",
        order=order,
        untimed=found["untimed"],
        texts=[texts for texts, _ in values],
        undone=found["undone"],
    )


def _choose_order(rows: Rows, activities: int, found: dict[str, int]) -> tuple[Ordering, str, str]:
    """Choose how events are ordered; return it and the rows with a column for their place."""
    bits = max(activities - 1, 1).bit_length()
    code = "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "INTEGER"
    if not (rows.timed and found["unpackable"]) and rows.table.row_bits + bits <= PLACE_BITS:
        return Ordering(bits=bits, code=code, timed=rows.timed), rows.sql, "row_number"
    # A place that is not a number of 64 bits, or is too long, becomes a place among all rows.
    by = "time NULLS LAST, number NULLS LAST, row_number" if rows.timed else "row_number"
    sql = f"(SELECT *, row_number() OVER (ORDER BY {by}) AS in_order FROM {rows.sql})"
    return Ordering(bits=bits, code=code, timed=False), sql, "in_order"


def _first(rows: Rows, what: str, test: str) -> str:
    """The least value of something, as text, over all rows of which a test is true."""
    sql = f"SELECT min({what})::VARCHAR FROM {rows.sql} WHERE {test}"
    return first_row(rows.database, sql)[0] or ""


def _first_row(rows: Rows, test: str) -> int:
    """The number, in its file and from 1, of the first row of which a test is true."""
    return (int(_first(rows, "row_number", test)) & ((1 << ROW_BITS) - 1)) + 1


def _ask(rows: Rows) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    """Compute everything in one pass over the rows, for each combination of `parts`."""
    missing = "time IS NULL AND number IS NULL AND NOT lone"
    must_know = rows.with_times and rows.strict and "stamp" in rows.stamps
    asked = {
        "size": "count(*)",
        "unpackable": "bool_or((moment IS NULL AND time IS NOT NULL) OR number IS NOT NULL)",
        "untimed": f"count_if({missing})",
        "unread": f"bool_or({missing} AND stamp IS NOT NULL)",
        "timeless": f"count_if({must_know} AND time_us IS NULL AND NOT lone)",
        "dated": "bool_or(time IS NOT NULL)",
        "plain": "bool_or(time IS NULL AND number IS NOT NULL)",
        "undone": "count_if(stage IS NULL AND NOT lone)",
        # A lone row has no activity, and no other row without one is counted.
        "events": "CASE WHEN bool_or(lone) THEN 0 ELSE count(*) END",
    }
    asked |= {f"wrong_{place}": f"bool_or(wrong_{place})" for place in range(len(rows.wrong))}
    for what in (DAY_FIRST, MONTH_FIRST, OPEN):
        tells = " OR ".join(["false", *(f"{name}_tells = {what}" for name in rows.texts)])
        asked[f"tells_{what}"] = f"bool_or({tells})"
    parts = ", ".join(rows.parts)
    groups = rows.database.execute(
        f"SELECT {', '.join(asked.values())}, {parts} FROM {rows.sql} GROUP BY {parts}"
    ).fetchall()
    total = {what: sum(group[place] or 0 for group in groups) for place, what in enumerate(asked)}
    return total, [group[len(asked) :] for group in groups]


def _refuse_rows(rows: Rows, found: dict[str, int]) -> None:
    """Refuse rows that cannot be counted."""
    name = rows.log.name
    for place, (_, code, column) in enumerate(rows.wrong):
        if found[f"wrong_{place}"] and column is not None:
            raise ReadError(name, Statement(code, column=column, what=TOO_LARGE))
        if found[f"wrong_{place}"]:
            where = {"row": _first_row(rows, f"wrong_{place}")} if ".rows." in code else {}
            raise ReadError(name, Statement(code, **where))


def _refuse_mixed(rows: Rows, found: dict[str, int]) -> None:
    """Refuse text columns that mix times with numbers that are not times."""
    is_text = rows.timed and "stamp" in rows.texts and rows.form is None
    if is_text and found["plain"] and found["dated"]:
        if not rows.log.source.declared.is_ordered:
            raise ReadError(rows.log.name, times_unread("mixed", rows.columns.timestamp))
        row = _first_row(rows, "time IS NULL AND number IS NOT NULL")
        raise ReadError(
            rows.log.name, times_unread("mixed_in_row", rows.columns.timestamp, row=row)
        )


def _refuse_times(rows: Rows, found: dict[str, int]) -> None:
    """Refuse a column in which no time stamp is a time."""
    if "stamp" not in rows.stamps:
        return
    name, column, events = rows.log.name, rows.columns.timestamp or "", found["events"]
    missing, is_text = "time IS NULL AND number IS NULL", rows.stamps["stamp"][1] == "VARCHAR"
    if rows.timed and is_text and found["unread"] and found["untimed"] == events:
        shown = _first(rows, "stamp", f"stamp IS NOT NULL AND {missing} AND NOT lone")
        if rows.form is None:
            raise ReadError(name, times_unread("unreadable", column, value=shown))
        form = Argument("time_format", rows.form)
        raise ReadError(name, times_unread("not_as_declared", column, value=shown, form=form))
    if rows.form != "number" and found["untimed"] < found["timeless"] == events:
        number = _first(rows, "stamp", f"NOT ({missing})")
        raise ReadError(name, times_unread("numbers", column, value=number))


def _day_month(rows: Rows, found: dict[str, int]) -> DayMonth:
    """Detect the order of day and month; contradictory or uninformative columns are refused."""
    columns = rows.columns
    column = (columns.timestamp if "stamp" in rows.texts else columns.start) or ""

    def first(what: int) -> str:
        shown = (_first(rows, name, f"{name}_tells = {what}") for name in rows.texts)
        return next(filter(None, shown), "")

    day, month, is_open = (found[f"tells_{what}"] for what in (DAY_FIRST, MONTH_FIRST, OPEN))
    if day and month:
        both = {"day": first(DAY_FIRST), "month": first(MONTH_FIRST)}
        raise ReadError(rows.log.name, times_unread("both_orders", column, **both))
    if is_open and not (day or month):
        raise ReadError(rows.log.name, times_unread("open_order", column, value=first(OPEN)))
    return "month" if month else "day"


def _number_activities(rows: Rows, names: list[str]) -> str:
    """Number activities in the order of their names, as SQL; missing where a row is no event."""
    if not names:
        return "NULL"
    _make_type(rows.database, "activity", names)
    name = f" || '{JOINER}' || ".join(rows.parts)
    number = f"enum_code(({name})::activity)"
    is_staged = rows.columns.lifecycle is not None
    return f"(CASE WHEN stage IS NOT NULL THEN {number} END)" if is_staged else number


def _number_texts(rows: Rows, place: int) -> tuple[list[str], str]:
    """The texts of an attribute, and the place of a row's own among them, as SQL."""
    value = f"value_{place}"
    found = rows.database.execute(
        f"SELECT DISTINCT {value} AS text FROM {rows.sql} WHERE {value} IS NOT NULL ORDER BY text"
    ).fetchall()
    texts = [text for (text,) in found]
    if not texts:
        return [], "-1"
    _make_type(rows.database, value, texts)
    return texts, f"coalesce(enum_code({value}::{value})::INTEGER, -1)"


def _make_type(database: DuckDBPyConnection, name: str, texts: Sequence[str]) -> None:
    """Make an enumeration of texts, which numbers them faster than a join does."""
    database.execute(f"CREATE TABLE names_of_{name} (text VARCHAR)")
    for start in range(0, len(texts), TEXTS_PER_BATCH):
        part = list(texts[start : start + TEXTS_PER_BATCH])
        database.execute(f"INSERT INTO names_of_{name} SELECT unnest(?)", [part])
    database.execute(
        f"CREATE TYPE {name} AS ENUM (SELECT text FROM names_of_{name} ORDER BY rowid)"
    )
