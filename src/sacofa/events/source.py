"""An opened log, and the interface of its readers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..base.periods import Period
from ..kernel.attributes import Attribute
from ..kernel.statements import Statement
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from .attributes import column_of
from .bounded_file import Progress
from .columns import Columns
from .formats import FORMATS, Engine, Format
from .notices import Notify
from .options import Order, ReadOptions
from .periods import PeriodFilter, Wanted

if TYPE_CHECKING:
    from .case_store import StoredCases


OPEN_ORDER = Statement("assumption.day_month_order")
"""Assumption if time stamps are text and their format was not declared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """The location of an event log."""

    name: str
    """The name of the log in messages; never contains a password."""
    format: str
    """The name of the format in which it is stored."""
    content: Any = field(repr=False)
    """The files, the frame, or how to reach the database."""
    query: str | None = None
    """The query for a database."""
    trusted: bool = False
    """Whether the checks for hostile files are skipped."""
    encoding: str | None = None
    """The encoding of text files, if declared."""
    header: tuple[str, ...] = ()
    """The names of the columns, if the files have no header."""
    skip_rows: int | None = None
    """Number of lines or rows above the header; None: detected."""
    sheet: str | None = None
    """The sheet of a spreadsheet, by name or number; None: the first."""
    held: object = field(default=None, repr=False)
    """The object that keeps temporary files alive."""

    @property
    def declared(self) -> Format:
        """The format in which it is stored."""
        return FORMATS[self.format]


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """An opened event log: its location, its columns, its reader and its unit of privacy."""

    source: Source
    """The location."""
    columns: Columns | None
    """The roles of columns; None for counted variants."""
    order: Order
    """The order of events in a case: by time (ties as in the source), or as in the source."""
    options: ReadOptions
    """The options it was opened with."""
    engine: Engine
    """The properties of the reader."""
    reader: Reader = field(repr=False)
    """The module that reads it."""
    wanted: Wanted | None = field(default=None, repr=False)
    """Called for each case of the period to decide whether it is read; None: all are."""

    @property
    def name(self) -> str:
        """The name of the log in messages."""
        return self.source.name

    @property
    def timed(self) -> bool:
        """Whether events are ordered by time."""
        return self.order == "time"

    @property
    def has_times(self) -> bool:
        """Whether events have time stamps, by the column names alone."""
        return self.columns is not None and self.columns.timestamp is not None

    @property
    def has_starts(self) -> bool:
        """Whether a start of work is declared: by a column, or by a named lifecycle.

        Transitions of an XES log are not sufficient: most logs contain completions only, and
        whether one does is confidential.
        """
        if not self.has_times or self.columns is None:
            return False
        named = self.options.lifecycle is not None and self.columns.lifecycle is not None
        return named or self.columns.start is not None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes of cases and events that are read."""
        return () if self.columns is None else self.columns.attributes

    @property
    def period(self) -> Period | None:
        """The period whose cases are read; None: all."""
        return None if self.options.period is None else Period.parse(self.options.period)

    def period_filter(self) -> PeriodFilter | None:
        """Return the filter for cases of the period; None: all are read."""
        period = self.period
        return None if period is None else PeriodFilter(period=period, wanted=self.wanted)

    @property
    def unit(self) -> Unit:
        """The unit of privacy; contributions are bounded to it while cases are read."""
        return self.options.unit

    @property
    def assumptions(self) -> tuple[Statement, ...]:
        """Facts from the log that are assumed to be public."""
        columns = self.columns
        if columns is None:
            return ()
        is_open = columns.text_times and self.options.time_format is None
        return (*((OPEN_ORDER,) if is_open else ()), *columns.taken)

    @property
    def max_cases(self) -> int | None:
        """Maximum number of cases per person; None if cases have no person."""
        return self.options.max_cases


def used_columns(columns: Columns, present: Collection[str]) -> list[str]:
    """The columns of a table that are read: for roles and for attributes."""
    attributes = (column_of(each, list(present)) for each in columns.attributes)
    used = (name for name in (*columns.roles, *attributes) if name is not None)
    return list(dict.fromkeys(used))


class Reader(Protocol):
    """The interface of a module that reads logs."""

    def kinds(self, source: Source) -> Mapping[str, str]:
        """List the attributes with their XES types; those of cases as `case:…`."""

    def find(self, source: Source, options: ReadOptions) -> Columns | None:
        """Resolve the columns, and refuse invalid requests early."""

    def count(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> VariantCounts:
        """Count the variants; `notify` receives notices for the holder of the log."""

    def cases(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> StoredCases:
        """Return the same cases individually, with their times and the same order of events."""


class Remote(Protocol):
    """The interface of a module that returns the rows of a remote source."""

    def types(self, source: Source) -> dict[str, str]:
        """The columns with their types, as DuckDB calls them."""

    def rows(self, source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
        """Yield these columns of all rows as lines of CSV in UTF-8, in any order.

        Times are in ISO 8601 and UTC. Missing values are empty fields, and texts are quoted.
        """


class ComparingReader(Reader, Protocol):
    """A reader that can compare the order of rows with that of their times."""

    def count_disordered(self, log: Log) -> int:
        """Count the cases whose rows are not in the order of their times."""
