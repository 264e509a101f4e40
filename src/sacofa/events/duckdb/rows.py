"""What is asked of each row of a table, as SQL: case, activity, times, person and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ..attributes import column_of
from ..cells import duckdb_sql
from ..columns import Columns
from ..notices import BLANK
from ..time_format import NUMBERS
from .instances import stage_of
from .joining import TWO_WAYS
from .ordering import TimeKey
from .source import Table
from .sql import literal
from .stamps import DayMonth, read_time


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """A column of time stamps."""

    sql: str
    """The column as it stands there."""
    kind: str
    """Its type; columns that hold neither times nor numbers are text."""
    form: str | None
    """How time stamps are written, if that was declared."""
    read: str
    """The column that text is read into. This is done once, because reading takes long."""

    @classmethod
    def of(cls, table: Table, column: str, form: str | None, read: str) -> Stamp:
        """The time stamps of a column of a table."""
        sql, kind = table.columns[column]
        # Where a form of text is declared, numbers are text: 20251231 may be written as %Y%m%d.
        counts = duckdb_sql.is_number(kind) and (form is None or form in NUMBERS)
        if not (duckdb_sql.is_moment(kind) or counts or kind == "TIME"):
            sql, kind = table.text(column), "VARCHAR"
        return cls(sql=sql, kind=kind, form=form, read=read)

    @property
    def is_text(self) -> bool:
        """Whether text is read as times."""
        return self.kind == "VARCHAR" and self.form not in NUMBERS

    def key(self, *, plain: bool) -> TimeKey:
        """How the stamps are compared; `plain` if they are read as ISO 8601 alone."""
        read = self.read if self.is_text and not plain else None
        return TimeKey.of(self.sql, self.kind, self.form, read)


UNTIMED = TimeKey(time="0", moment="0")
"""Stands for the times of a table without times: they are all equal, and none is missing."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What is asked of each row, as SQL."""

    source: Table
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
    order: DayMonth | None = None
    """Whether day or month comes first; None: text is read as ISO 8601 alone, which is quick."""
    like: str | None = None
    """A time stamp as most of them look, which makes reading them quick."""

    def read_as(self, order: DayMonth, like: str | None = None) -> Rows:
        """The same, with text read in its form, or in any; most stamps look `like` this one."""
        return replace(self, order=order, like=like)

    @cached_property
    def stamp(self) -> Stamp | None:
        """The time stamp, if there is a column for it."""
        return self._stamp(self.columns.timestamp, '"sacofa:moment"')

    @cached_property
    def began(self) -> Stamp | None:
        """When the work on an event began, if that is asked for."""
        return self._stamp(self.columns.start if self.with_times else None, '"sacofa:began"')

    def _stamp(self, column: str | None, read: str) -> Stamp | None:
        return None if column is None else Stamp.of(self.source, column, self.form, read)

    @cached_property
    def times(self) -> TimeKey:
        """How time stamps are read, if they are asked for."""
        if self.stamp is None or not (self.timed or self.with_times):
            return UNTIMED
        return self.stamp.key(plain=self.order is None)

    @property
    def key(self) -> TimeKey:
        """What events are ordered by, before the order of the source."""
        return self.times if self.timed else UNTIMED

    @property
    def texts(self) -> tuple[Stamp, ...]:
        """The columns of text that hold times that are asked for."""
        asked = (None if self.times is UNTIMED else self.stamp, self.began)
        return tuple(stamp for stamp in asked if stamp is not None and stamp.is_text)

    @property
    def is_open(self) -> bool:
        """Whether stamps may leave open which of day and month comes first."""
        return self.order == "either" and self.form is None and bool(self.texts)

    @cached_property
    def table(self) -> Table:
        """Where the rows are, with the times that were read from text."""
        order, source = self.order, self.source
        if order is None or not self.texts:
            return source
        listed = [f"{read_time(s.sql, s.form, order, self.like)} AS {s.read}" for s in self.texts]
        row = source.row
        if source.numbered:
            # What a file says of a row besides its columns must be asked where the file is read.
            row = '"sacofa:row"'
            listed.append(f"{source.row} AS {row}")
        return replace(source, sql=f"(SELECT *, {', '.join(listed)} FROM {source.sql})", row=row)

    @property
    def case(self) -> str:
        """The case."""
        return self.source.text(self.columns.case, "id")

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that make up the activity."""
        return tuple(self.source.text(part, "name") for part in self.columns.activity)

    @property
    def person(self) -> str:
        """The person, missing where it is blank."""
        person = self.columns.person
        return _unless_blank(self.source.text(person, "name")) if person else "NULL::VARCHAR"

    @property
    def truncated(self) -> str:
        """Whether the case went on."""
        if self.columns.truncated is None:
            return "false"
        return f"coalesce(try_cast({self.source.text(self.columns.truncated)} AS BOOLEAN), false)"

    @property
    def stage(self) -> str | None:
        """Whether an event is the start or the end of work; missing where nothing was done."""
        lifecycle = self.columns.lifecycle
        return stage_of(self.source.text(lifecycle)) if lifecycle else None

    @property
    def values(self) -> tuple[str, ...]:
        """The texts of the attributes that are read."""
        columns = (column_of(each, self.source.columns) for each in self.columns.attributes)
        return tuple(map(self.source.text, columns))

    @property
    def stamp_sql(self) -> str:
        """The time stamp as it stands there; something that is never missing if there is none."""
        return "0" if self.stamp is None else self.stamp.sql

    @property
    def start_us(self) -> str:
        """When the work on an event began, in microseconds."""
        if self.began is None:
            return "NULL::BIGINT"
        return self.began.key(plain=self.order is None).micros

    @property
    def time_us(self) -> str:
        """When an event happened, in microseconds."""
        return self.times.micros if self.with_times else "NULL::BIGINT"

    @property
    def lone(self) -> str:
        """Whether a row states no more than that there is such a case."""
        return " AND ".join(f"{part} IS NULL" for part in (*self.parts, self.stamp_sql))

    def too_large(self) -> Iterator[tuple[str, str]]:
        """Tests whether two names may have become one number, with their columns."""
        for name, use in self.columns.uses.items():
            test = duckdb_sql.too_large(*self.source.columns[name], use) if name else None
            if test is not None:
                yield test, name

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What makes a row impossible to count, and the code of the refusal."""
        yield f"{self.case} IS NULL", "read.rows.no_case"
        missing = " OR ".join(f"{part} IS NULL" for part in self.parts)
        # Without a time column no row is lone: one without an activity is taken for a mistake.
        yield f"({missing}) AND NOT ({self.lone})", "read.rows.no_activity"
        stamp = None if self.times is UNTIMED else self.columns.timestamp
        for name in (stamp, self.columns.start if self.with_times else None):
            if two_ways := self.source.two_ways.get(name or ""):
                yield two_ways, TWO_WAYS


def _unless_blank(text: str) -> str:
    """Text as SQL, missing where it is blank."""
    # All blanks come before the exclamation mark, so that few texts need to be looked at closely.
    closely = f"trim({text}, {literal(BLANK)}) <> ''"
    return f"CASE WHEN {text} >= '!' THEN {text} WHEN {closely} THEN {text} END"
