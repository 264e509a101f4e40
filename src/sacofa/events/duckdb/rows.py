"""SQL for the rows of a table under canonical names, from which all of them are read.

Events of a case are ordered by time and row, or by row alone; those without a time come last. For
fast sorting, an event is one number with its time in the highest bits, then its row, then its
activity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...base.cells import BLANK
from ..attributes import column_of
from ..cells import duckdb_sql
from ..columns import Columns
from ..lifecycle import NO_WORK, START
from ..source import Log
from ..time_format import NUMBERS
from .database import literal
from .source import Table
from .stamps import UNTIMED, DayMonth, TimeKey, iso_time, read_time

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PLACE_BITS = 62
"""Maximum number of bits for row and activity together."""

BEGAN, DONE = 1, 0
"""Values of the column `stage`."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Configuration of the query for rows: the columns and how times are parsed."""

    database: DuckDBPyConnection
    log: Log
    """The roles of columns, and the declared format of time stamps."""
    table: Table
    """The source of the rows."""
    timed: bool
    """Whether events are ordered by time, not in the order of the source."""
    with_times: bool = False
    """Whether times are requested in addition to the order."""
    strict: bool = True
    """Whether the log is refused if times are requested and none is known."""
    order: DayMonth = "either"
    """Whether the day or the month comes first in text."""

    @cached_property
    def columns(self) -> Columns:
        """The roles of columns."""
        assert self.log.columns is not None
        return self.log.columns

    @property
    def form(self) -> str | None:
        """The declared format of time stamps."""
        return self.log.options.time_format

    @property
    def parts(self) -> list[str]:
        """The columns that make up an activity."""
        return [f"part_{place}" for place in range(len(self.columns.activity))]

    @cached_property
    def stamps(self) -> dict[str, tuple[str, str]]:
        """The raw time stamps and, if requested, starts, with their types.

        Columns with neither times nor numbers are text.
        """
        columns = self.columns
        asked = {"stamp": columns.timestamp, "began": columns.start if self.with_times else None}
        found = {}
        for name, column in asked.items():
            if column is not None:
                sql, kind = self.table.columns[column]
                # If a form of text is declared, numbers are text: 20251231 may be %Y%m%d.
                counts = duckdb_sql.is_number(kind) and (self.form is None or self.form in NUMBERS)
                if not (duckdb_sql.is_moment(kind) or counts or kind == "TIME"):
                    sql, kind = self.table.text(column), "VARCHAR"
                found[name] = sql, kind
        return found

    @cached_property
    def texts(self) -> list[str]:
        """Those of `stamps` that are read as times from text."""
        if self.form in NUMBERS or not (self.timed or self.with_times):
            return []
        return [name for name, (_, kind) in self.stamps.items() if kind == "VARCHAR"]

    @cached_property
    def keys(self) -> dict[str, TimeKey]:
        """The parsers of the `stamps` that are needed."""
        return {
            name: TimeKey.of(name, kind, self.form, f"{name}_read" if name in self.texts else None)
            for name, (_, kind) in self.stamps.items()
            if self.timed or self.with_times
        }

    @cached_property
    def wrong(self) -> list[tuple[str, str, str | None]]:
        """Tests for rows that cannot be counted, each with its code of refusal and its column."""
        columns, table, where = self.columns, self.table, "table"
        if self.log.source.declared.is_ordered:
            where = "rows"
        found: list[tuple[str, str, str | None]] = []
        for name, use in columns.uses.items():
            test = duckdb_sql.too_large(*table.columns[name], use) if name else None
            found += [(test, "read.cell.column", name)] if test is not None else []
        found.append((f"{table.text(columns.case, 'id')} IS NULL", f"read.{where}.no_case", None))
        texts = [f"{table.text(part, 'name')} IS NULL" for part in columns.activity]
        # Without a time column no row is lone: one without an activity is taken for a mistake.
        lone = " AND ".join([*texts, f"{self.stamp} IS NULL"])
        test = f"({' OR '.join(texts)}) AND NOT ({lone})"
        found.append((test, f"read.{where}.no_activity", None))
        times = [columns.timestamp] * (self.timed or self.with_times)
        for column in (*times, *[columns.start] * self.with_times):
            if column is not None and column in table.two_ways:
                found.append((table.two_ways[column], "read.rows.two_ways", None))
        return found

    @property
    def stamp(self) -> str:
        """The raw time stamp; a constant for a log without time stamps."""
        return self.stamps["stamp"][0] if "stamp" in self.stamps else "0"

    @cached_property
    def sql(self) -> str:
        """The rows under canonical names, as an SQL relation.

        case_id, part_0, …, person, truncated, stage, value_0, …, row_number; the raw stamp; time,
        number and moment to order by; time_us, began_us; lone for a row that only declares an empty
        case; wrong_0, …; and stamp_tells about the order of day and month. Columns that are not
        requested are not computed.
        """
        fields = ", ".join(f"{what} AS {name}" for name, what in self._fields())
        sql = f"(SELECT {fields} FROM {self.table.sql})"
        # Each subquery computes its columns once, however often the next one uses them.
        if self.texts:
            isos = ", ".join(f"{iso_time(name)} AS {name}_iso" for name in self.texts)
            reads = ", ".join(
                f"{read_time(name, self.form, self.order)} AS {name}_read, "
                f"day_month({name}, {name}_iso) AS {name}_tells"
                for name in self.texts
            )
            sql = f"(SELECT *, {reads} FROM (SELECT *, {isos} FROM {sql}))"
        lone = " AND ".join(f"{name} IS NULL" for name in (*self.parts, "stamp"))
        times, began = (self.keys.get(name, UNTIMED) for name in ("stamp", "began"))
        return (
            f"(SELECT *, {times.time} AS time, {times.number} AS number, "
            f"{times.moment or 'NULL'} AS moment, "
            f"{times.micros if self.with_times else UNTIMED.micros} AS time_us, "
            f"{began.micros} AS began_us, {lone} AS lone FROM {sql})"
        )

    def _fields(self) -> Iterator[tuple[str, str]]:
        """The expressions for the cells of a row, each independent of other rows."""
        columns, table = self.columns, self.table
        yield "case_id", table.text(columns.case, "id")
        yield from zip(self.parts, (table.text(c, "name") for c in columns.activity), strict=True)
        person = table.text(columns.person, "name") if columns.person else "NULL::VARCHAR"
        # All blanks sort before the exclamation mark, so few texts need a closer look.
        closely = f"trim({person}, {literal(BLANK)}) <> ''"
        person = f"CASE WHEN {person} >= '!' THEN {person} WHEN {closely} THEN {person} END"
        yield "person", person
        truncated = table.text(columns.truncated) if columns.truncated else "false"
        yield "truncated", f"coalesce(try_cast({truncated} AS BOOLEAN), false)"
        stage = "0"
        if columns.lifecycle is not None:
            # The lifecycle of an event is missing if it reports no work.
            word = f"lower(trim(coalesce({table.text(columns.lifecycle)}, '')))"
            nothing = ", ".join(f"'{name}'" for name in NO_WORK)
            stage = f"CASE WHEN {word} = '{START}' THEN {BEGAN} WHEN {word} NOT IN ({nothing}) "
            stage = f"({stage} THEN {DONE} END)::TINYINT"
        yield "stage", stage
        for place, each in enumerate(columns.attributes):
            yield f"value_{place}", table.text(column_of(each, table.columns))
        yield "row_number", table.row
        yield "stamp", self.stamp
        if "began" in self.stamps:
            yield "began", self.stamps["began"][0]
        for place, (test, *_) in enumerate(self.wrong):
            yield f"wrong_{place}", test


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """Order of rows with a place (row and activity id) and, if `timed`, a time_key."""

    bits: int
    """Number of the lowest bits of a place that hold the activity id."""
    code: str
    """The type of activity ids."""
    timed: bool
    """Whether the time comes before the row."""

    @property
    def by(self) -> str:
        """The sort key of events."""
        return "time_key NULLS LAST, place" if self.timed else "place"

    @property
    def activity(self) -> str:
        """The activity id of an event; missing if the row is not an event."""
        return f"(place & {(1 << self.bits) - 1})::{self.code}"

    @property
    def variant(self) -> str:
        """The activity ids of the events of a case, in order: an aggregate."""
        events = f"coalesce(list({self.rank('place')}) FILTER (place IS NOT NULL), [])"
        mask = (1 << self.bits) - 1
        return f"list_transform(list_sort({events}), lambda e: (e & {mask})::{self.code})"

    def rank(self, row: str) -> str:
        """The sort key of rows as one number, with `row` in the lowest bits."""
        if not self.timed:
            return row
        # A number of 128 bits has a sign, so there are 127: 64 are for the time, and one more is
        # for having none, so that it comes after the last time there can be.
        time = f"coalesce(time_key::HUGEINT + {1 << 63}, {1 << 64}::HUGEINT) << {PLACE_BITS}"
        return f"({time}) | {row}"
