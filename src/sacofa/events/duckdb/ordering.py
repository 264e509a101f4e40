"""How the events of a case are put in order, as SQL.

Events are ordered by time and row, or by row alone; those without a time come last. Where all fits,
an event is one number: its time, below that its row, and in the lowest bits its activity. To sort
lists of numbers takes half the time of ordering activities by something else, and the lowest bits
are the activities.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cells.duckdb_sql import (
    INSTANT,
    LONG_WHOLE,
    SHORT_WHOLE,
    is_moment,
    is_number,
)
from ..time_format import NUMBERS as FORMS
from .stamps import (
    NUMBER,
    declared_number,
    iso_time,
    moment_text,
    number_time,
)

PLACE_BITS = 62
"""How many bits row and activity may take together in a packed number."""

WHOLE = (*SHORT_WHOLE, *LONG_WHOLE)

MAX_STAMP_NUMBER = "1e29"
"""Numbers that text cannot be read as are no time stamps in columns of numbers either."""


def as_double(number: str) -> str:
    """Give a number as what time stamps are compared by: the nearest double.

    A column of whole numbers becomes one of doubles where a single number is missing.
    """
    return f"(CASE WHEN abs({number}::DOUBLE) < {MAX_STAMP_NUMBER} THEN {number}::DOUBLE END)"


def text_number(column: str) -> str:
    """Give text as a number: compared by its double, and by its digits where those tie."""
    exact = f"try_cast(trim({column}) AS {NUMBER})"
    both = f"{{'double': try_cast({column} AS DOUBLE), 'exact': {exact}}}"
    return f"(CASE WHEN {exact} IS NOT NULL THEN {both} END)"


SCALE, DATE = '"sacofa:scale"', '"sacofa:date"'
"""Columns for the scale of a time stamp, by the bits below and 0 if it is missing, and its date."""
DATES, SECONDS, MILLISECONDS, OTHER_TIMES, PLAIN_NUMBERS = 1, 2, 4, 8, 16
"""Dates as text; numbers that count whole seconds or milliseconds since 1970; other numbers that
stand for times; and numbers that do not."""


def with_scale(sql: str, date: str, column: str) -> str:
    """Add the dates and scales of time stamps to rows; `date` is how text is read as a date.

    Stamps that are all dates, or all on one of the two scales of whole numbers, are ordered by
    their times alone: there, different numbers are different times.
    """
    number, exact = '"sacofa:number"', '"sacofa:exact"'
    whole = f"{exact} = try_cast({number} AS BIGINT)"
    # Each subquery computes its columns once, however often the next one uses them.
    dated = f"(SELECT *, {date} AS {DATE} FROM {sql})"
    counted = (
        f"(SELECT *, CASE WHEN {DATE} IS NULL THEN try_cast({column} AS DOUBLE) END AS {number}, "
        f"CASE WHEN {DATE} IS NULL THEN try_cast(trim({column}) AS {NUMBER}) END AS {exact} "
        f"FROM {dated})"
    )
    return (
        f"(SELECT * EXCLUDE ({number}, {exact}), CASE WHEN {DATE} IS NOT NULL THEN {DATES} "
        f"WHEN {number} >= 3e8 AND {number} < 1e10 AND {whole} THEN {SECONDS} "
        f"WHEN {number} >= 3e11 AND {number} < 1e13 AND {whole} THEN {MILLISECONDS} "
        f"WHEN {number_time(number)} IS NOT NULL THEN {OTHER_TIMES} "
        f"WHEN {exact} IS NOT NULL THEN {PLAIN_NUMBERS} ELSE 0 END AS {SCALE} FROM {counted})"
    )


@dataclass(frozen=True, kw_only=True)
class TimeKey:
    """How the time stamps of a column are compared, as SQL.

    What a stamp is taken for depends on that stamp alone, never on others of the column: else one
    more case could change how all are ordered. The one exception is which of day and month comes
    first, and that is known when a key is made (see `time_format`).
    """

    time: str
    """The time; missing where there is none that can be read."""
    number: str | None = None
    """For text: the number that it is, which breaks ties, and orders numbers that are not times."""
    moment: str | None = None
    """The time as a number of 64 bits, if its type has one."""
    micros: str = "NULL::BIGINT"
    """Microseconds since 1970 in UTC; missing where a stamp is no time."""
    date: str | None = None
    """For text in no declared form: the time, if it is written as a date."""

    @classmethod
    def of(
        cls, column: str, kind: str, form: str | None = None, read: str | None = None
    ) -> TimeKey:
        """Make the time stamps of a column, of some type, comparable.

        They are read as `form` says, or else for what they look like. Of text, `read` is a column
        that holds the times.
        """
        if is_moment(kind):
            instant = column if kind == INSTANT else f"try_cast({column} AS TIMESTAMP)"
            micros = f"epoch_us({instant})"
            return cls(time=column, moment=micros, micros=micros)
        if is_number(kind):
            return cls._of_number(column, kind, form)
        if kind == "TIME":
            return cls(time=column)
        if form in FORMS:
            return cls._of_text_number(column, form or "")
        time = read if read is not None else iso_time(column)
        if form is not None:
            return cls(time=time, moment=f"epoch_us({time})", micros=f"epoch_us({time})")
        # Whether a number is a time follows from its size, so it has its place among times.
        number = f"CASE WHEN {time} IS NULL THEN {text_number(column)} END"
        known = f"make_timestamp({number_time(f'try_cast({column} AS DOUBLE)')})::{INSTANT}"
        date, time = time, f"coalesce({time}, {known})"
        return cls(
            date=date,
            time=time,
            number=number,
            moment=f"epoch_us({time})",
            micros=f"epoch_us({time})",
        )

    @classmethod
    def _of_number(cls, column: str, kind: str, form: str | None) -> TimeKey:
        """Compare numbers, or the times that they are declared to be."""
        if form in FORMS and form != "number":
            micros = declared_number(column, form or "")
            return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)
        number = column if kind.startswith("DECIMAL") else as_double(column)
        if form == "number":
            moment = f"try_cast({number} AS BIGINT)" if kind in WHOLE else None
            return cls(time=number, moment=moment)
        # As for text: one text among the numbers makes text of all of them.
        micros = number_time(column)
        return cls(time=f"make_timestamp({micros})", number=number, micros=micros)

    @classmethod
    def _of_text_number(cls, column: str, form: str) -> TimeKey:
        """Compare text that is declared to hold numbers; moments in memory stay what they are."""
        known = f"epoch_us({moment_text(column)})"
        if form == "number":
            return cls(time=known, moment=known, micros=known, number=text_number(column))
        declared = declared_number(f"try_cast(trim({column}) AS {NUMBER})", form)
        micros = f"coalesce({known}, {declared})"
        return cls(time=f"make_timestamp({micros})", moment=micros, micros=micros)

    @property
    def missing(self) -> str:
        """Whether a stamp is missing or cannot be read."""
        missing = f"{self.time} IS NULL"
        return missing if self.number is None else f"{missing} AND {self.number} IS NULL"

    @property
    def unpackable(self) -> str:
        """Whether a stamp can be read, but is no number of 64 bits; see also `with_scale`."""
        if self.moment is None:
            return "true"
        if self.date is not None:
            return f"(epoch_us({DATE}) IS NULL AND {DATE} IS NOT NULL)"
        outside = f"({self.moment} IS NULL AND {self.time} IS NOT NULL)"
        return outside if self.number is None else f"({outside} OR {self.number} IS NOT NULL)"


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """What is kept of events to put them in order, and how that is done."""

    columns: tuple[str, ...]
    """What is kept of a row with activity_id, row_number, time_key and number_key."""
    by: str
    """What events are ordered by."""
    activity: str
    """The activity id of an event; missing if the row is none."""
    variant: str
    """The activity ids of the events of a case, in order: an aggregate."""
    rank: str
    """What rows, also those that are no events, are compared by; also needs row_number."""

    @classmethod
    def plain(cls, *, timed: bool) -> Ordering:
        """Order by anything that can be compared; `timed` by time, and by number if that ties."""
        keys = ("time_key", "number_key", "row_number") if timed else ("row_number",)
        by = ", ".join(f"{key} NULLS LAST" for key in keys)
        # Structs are compared field by field; a flag before each keeps what is missing last.
        fields = [f"{key} IS NULL, {key}" for key in keys]
        return cls(
            columns=("activity_id", *keys),
            by=by,
            activity="activity_id",
            variant=_events(f"list(activity_id ORDER BY {by})", "activity_id"),
            rank=f"row({', '.join(fields)})" if timed else "row_number",
        )

    @classmethod
    def packed(cls, code: str, *, bits: int, timed: bool) -> Ordering:
        """Order by numbers; the activity id, of type `code`, is in the lowest bits."""
        # A number of 128 bits has a sign, so there are 127: 64 are for the time, and one more is
        # for having none, so that it comes after the last time there can be.
        time = f"coalesce(time_key::HUGEINT + {1 << 63}, {1 << 64}::HUGEINT) << {PLACE_BITS}"
        events = _events(f"list(({time}) | place)" if timed else "list(place)", "place")
        mask = (1 << bits) - 1
        return cls(
            columns=(f"(row_number << {bits}) | activity_id AS place", *(["time_key"] * timed)),
            by="time_key NULLS LAST, place" if timed else "place",
            activity=f"(place & {mask})::{code}",
            variant=f"list_transform(list_sort({events}), lambda e: (e & {mask})::{code})",
            rank=f"({time}) | row_number" if timed else "row_number",
        )


def _events(listed: str, event: str) -> str:
    """An aggregate over the rows of a case that are events; an empty list if there are none."""
    return f"coalesce({listed} FILTER ({event} IS NOT NULL), [])"
