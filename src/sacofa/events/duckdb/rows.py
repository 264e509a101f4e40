"""The rows of a table under canonical names, as SQL: the one form in which all rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..attributes import column_of
from ..cells import duckdb_sql
from ..columns import Columns
from ..notices import BLANK
from ..time_format import NUMBERS
from .database import literal
from .ordering import stage_of
from .source import Table
from .stamps import UNTIMED, DayMonth, TimeKey, day_month, iso_time, read_time


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What is asked of each row of a table, and how its times are read."""

    table: Table
    """Where the rows are."""
    columns: Columns
    """Which columns hold what."""
    form: str | None
    """How time stamps are written, if that was declared."""
    timed: bool
    """Whether events are ordered by time; else by the order of the source."""
    with_times: bool = False
    """Whether times are asked for in addition to the order."""
    strict: bool = True
    """Whether the log is refused if times are asked for and none is known."""
    order: DayMonth = "either"
    """Whether day or month comes first in text."""
    ordered: bool = True
    """Whether the number of a row says where it stands."""

    @property
    def parts(self) -> list[str]:
        """The columns that make up an activity."""
        return [f"part_{place}" for place in range(len(self.columns.activity))]

    @cached_property
    def stamps(self) -> dict[str, tuple[str, str]]:
        """Time stamps and, if asked for, starts, as they stand there, and their types.

        Columns that hold neither times nor numbers are text.
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
    def has_times(self) -> bool:
        """Whether the times of events are read."""
        return "stamp" in self.stamps and (self.timed or self.with_times)

    @cached_property
    def texts(self) -> list[str]:
        """Those of `stamps` that are read as times from text."""
        return [
            name
            for name, (_, kind) in self.stamps.items()
            if kind == "VARCHAR"
            and self.form not in NUMBERS
            and (name == "began" or self.has_times)
        ]

    def _key(self, name: str) -> TimeKey:
        read = f"{name}_read" if name in self.texts else None
        return TimeKey.of(name, self.stamps[name][1], self.form, read)

    @cached_property
    def times(self) -> TimeKey:
        """How time stamps are read, if they are asked for."""
        return self._key("stamp") if self.has_times else UNTIMED

    @cached_property
    def wrong(self) -> list[tuple[str, str, str | None]]:
        """What makes a row impossible to count: a test, the code of the refusal, the column."""
        columns, table, where = self.columns, self.table, "rows" if self.ordered else "table"
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
        asked = {"stamp": self.has_times, "began": self.with_times}
        for what, column in (("stamp", columns.timestamp), ("began", columns.start)):
            if asked[what] and column is not None and column in table.two_ways:
                found.append((table.two_ways[column], "read.rows.two_ways", None))
        return found

    @property
    def stamp(self) -> str:
        """The time stamp as it stands there; something that is never missing if there is none."""
        return self.stamps["stamp"][0] if "stamp" in self.stamps else "0"

    @cached_property
    def sql(self) -> str:
        """The rows under canonical names, as what stands after FROM.

        case_id, part_0, …, person, truncated, stage, value_0, …, row_number; stamp as it stands
        there; time, number and moment to order by; time_us, began_us; whether the row is lone,
        which states no more than that there is such a case; wrong_0, …; and stamp_tells of the
        order of day and month. What nobody asks for costs nothing.
        """
        fields = ", ".join(f"{what} AS {name}" for name, what in self._fields())
        sql = f"(SELECT {fields} FROM {self.table.sql})"
        # Each subquery computes its columns once, however often the next one uses them.
        for step in (self._iso, self._read):
            listed = "".join(f", {step(name)}" for name in self.texts)
            sql = f"(SELECT *{listed} FROM {sql})" if listed else sql
        lone = " AND ".join(f"{name} IS NULL" for name in (*self.parts, "stamp"))
        began = self._key("began").micros if "began" in self.stamps else "NULL::BIGINT"
        times = self.times
        return (
            f"(SELECT *, {times.time} AS time, {times.number} AS number, "
            f"{times.moment or 'NULL'} AS moment, "
            f"{times.micros if self.with_times else 'NULL::BIGINT'} AS time_us, "
            f"{began} AS began_us, {lone} AS lone FROM {sql})"
        )

    def _fields(self) -> Iterator[tuple[str, str]]:
        """What stands in the cells of a row, each by itself."""
        columns, table = self.columns, self.table
        yield "case_id", table.text(columns.case, "id")
        yield from zip(self.parts, (table.text(c, "name") for c in columns.activity), strict=True)
        person = table.text(columns.person, "name") if columns.person else "NULL::VARCHAR"
        # All blanks come before the exclamation mark: few texts need to be looked at closely.
        closely = f"trim({person}, {literal(BLANK)}) <> ''"
        person = f"CASE WHEN {person} >= '!' THEN {person} WHEN {closely} THEN {person} END"
        yield "person", person
        truncated = table.text(columns.truncated) if columns.truncated else "false"
        yield "truncated", f"coalesce(try_cast({truncated} AS BOOLEAN), false)"
        yield "stage", stage_of(table.text(columns.lifecycle)) if columns.lifecycle else "0"
        for place, each in enumerate(columns.attributes):
            yield f"value_{place}", table.text(column_of(each, table.columns))
        yield "row_number", table.row
        yield "stamp", self.stamp
        if "began" in self.stamps:
            yield "began", self.stamps["began"][0]
        for place, (test, *_) in enumerate(self.wrong):
            yield f"wrong_{place}", test

    def _iso(self, name: str) -> str:
        return f"{iso_time(name)} AS {name}_iso"

    def _read(self, name: str) -> str:
        """The time that a text is, and what it tells of the order of day and month."""
        read = read_time(name, self.form, self.order, f"{name}_iso")
        return f"{read} AS {name}_read, {day_month(name, f'{name}_iso')} AS {name}_tells"
