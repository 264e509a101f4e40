"""What is asked of each row of a table, as SQL: case, activity, times, person and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..attributes import column_of
from ..cells import duckdb_sql
from ..columns import Columns
from ..notices import BLANK
from ..options import JOINER
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
    stamp: Stamp | None
    """The time stamp, if there is a column for it."""
    began: Stamp | None
    """When the work on an event began, if that is asked for."""
    timed: bool
    """Whether events are ordered by time; else by the order of the source."""
    with_times: bool
    """Whether times are asked for in addition to the order."""
    times: TimeKey | None
    """How time stamps are read, if they are asked for."""
    person: str | None
    """The person, missing where it is blank."""
    truncated: str | None
    """Whether the case went on."""
    stage: str | None
    """Whether an event is the start or the end of work; missing where nothing was done."""
    values: tuple[str, ...]
    """The texts of the attributes that are read."""
    too_large: Mapping[str, str]
    """For columns of numbers that name something, whether two names may have become one."""
    two_ways: tuple[str, ...]
    """Whether a time of day can be read in two ways, for each joined time stamp that is read."""
    like: str | None = None
    """A time stamp as most of them look, which makes reading them quick."""
    plain: bool = True
    """Whether text is read as ISO 8601 alone, which is quick."""
    strict: bool = True
    """Whether the log is refused if times are asked for and none is known."""

    @classmethod
    def of(
        cls,
        table: Table,
        columns: Columns,
        form: str | None,
        *,
        timed: bool,
        with_times: bool = False,
    ) -> Rows:
        """What is asked of the rows of a table; `form` is how times are written, if declared."""
        time, began = columns.timestamp, columns.start if with_times else None
        stamp = Stamp.of(table, time, form, '"sacofa:moment"') if time else None
        times = stamp.key(plain=True) if stamp and (timed or with_times) else None
        read = filter(None, (time if times else None, began))
        rows = cls(
            table=table,
            source=table,
            case=table.text(columns.case, "id"),
            parts=tuple(table.text(part, "name") for part in columns.activity),
            stamp=stamp,
            began=Stamp.of(table, began, form, '"sacofa:began"') if began else None,
            timed=timed,
            with_times=with_times,
            times=times,
            person=_unless_blank(table.text(columns.person, "name")) if columns.person else None,
            truncated=_flag(table.text(columns.truncated)) if columns.truncated else None,
            stage=stage_of(table.text(columns.lifecycle)) if columns.lifecycle else None,
            values=tuple(table.text(column_of(each, table.columns)) for each in columns.attributes),
            too_large=_too_large(table, columns),
            two_ways=tuple(
                table.two_ways[name] for name in filter(None, read) if name in table.two_ways
            ),
        )
        return rows if form is None else rows.read_as("either")

    @property
    def texts(self) -> tuple[Stamp, ...]:
        """The columns of text that hold times that are asked for."""
        asked = (self.times and self.stamp, self.began)
        return tuple(stamp for stamp in asked if stamp and stamp.is_text)

    @property
    def is_open(self) -> bool:
        """Whether stamps may leave open which of day and month comes first."""
        return not self.plain and any(stamp.form is None for stamp in self.texts)

    @property
    def key(self) -> TimeKey | None:
        """What events are ordered by; None: the order of the source."""
        return self.times if self.timed else None

    def read_as(self, order: DayMonth, like: str | None = None) -> Rows:
        """The same, with text read in its form, or in any; most stamps look `like` this one."""
        if not self.texts:
            return self
        listed = [f"{read_time(s.sql, s.form, order, like)} AS {s.read}" for s in self.texts]
        row = self.source.row
        if self.source.numbered:
            # What a file says of a row besides its columns must be asked where the file is read.
            row = '"sacofa:row"'
            listed.append(f"{self.source.row} AS {row}")
        sql = f"(SELECT *, {', '.join(listed)} FROM {self.source.sql})"
        times = self.stamp.key(plain=False) if self.stamp and self.times else self.times
        table = replace(self.source, sql=sql, row=row)
        return replace(self, plain=False, like=like, table=table, times=times)

    @property
    def stamp_sql(self) -> str:
        """The time stamp as it stands there; something that is never missing if there is none."""
        return "0" if self.stamp is None else self.stamp.sql

    @property
    def start_us(self) -> str:
        """When the work on an event began, in microseconds."""
        return "NULL::BIGINT" if self.began is None else self.began.key(plain=self.plain).micros

    @property
    def time_us(self) -> str:
        """When an event happened, in microseconds."""
        return self.times.micros if self.times and self.with_times else "NULL::BIGINT"

    @property
    def activity(self) -> str:
        """The name of the activity."""
        return f" || '{JOINER}' || ".join(self.parts)

    @property
    def lone(self) -> str:
        """Whether a row states no more than that there is such a case."""
        return " AND ".join(f"{part} IS NULL" for part in (*self.parts, self.stamp_sql))

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What makes a row impossible to count, and the code of the refusal."""
        yield f"{self.case} IS NULL", "read.rows.no_case"
        missing = " OR ".join(f"{part} IS NULL" for part in self.parts)
        # Without a time column no row is lone: one without an activity is taken for a mistake.
        yield f"({missing}) AND NOT ({self.lone})", "read.rows.no_activity"
        for two_ways in self.two_ways:
            yield two_ways, TWO_WAYS


def _too_large(table: Table, columns: Columns) -> dict[str, str]:
    tests = {
        name: duckdb_sql.too_large(*table.columns[name], use)
        for name, use in columns.uses.items()
        if name
    }
    return {name: test for name, test in tests.items() if test}


def _flag(text: str) -> str:
    return f"coalesce(try_cast({text} AS BOOLEAN), false)"


def _unless_blank(text: str) -> str:
    """Text as SQL, missing where it is blank."""
    # All blanks come before the exclamation mark, so that few texts need to be looked at closely.
    closely = f"trim({text}, {literal(BLANK)}) <> ''"
    return f"CASE WHEN {text} >= '!' THEN {text} WHEN {closely} THEN {text} END"
