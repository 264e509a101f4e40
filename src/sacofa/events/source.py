"""A log as it was opened, and what can read it."""

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
"""What is assumed where time stamps are text and nobody said how they are written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Where an event log is."""

    name: str
    """What the log is called in messages; never holds a password."""
    format: str
    """The name of the format in which it is stored."""
    content: Any = field(repr=False)
    """The files, the frame, or how to reach the database."""
    query: str | None = None
    """What is asked of a database."""
    trusted: bool = False
    """Whether guards against hostile files are off."""
    encoding: str | None = None
    """How the letters of text files are written, where that was said."""
    header: tuple[str, ...] = ()
    """What columns are called where no line of the file says it."""
    skip_rows: int | None = None
    """How many lines or rows stand above the header; None: it is looked for."""
    sheet: str | None = None
    """The sheet of a spreadsheet, by its name or number; None: the first."""
    held: object = field(default=None, repr=False)
    """What keeps the files in their place."""

    @property
    def declared(self) -> Format:
        """The format in which it is stored."""
        return FORMATS[self.format]


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """An event log that was opened: where it is, how its cases are read, what is protected."""

    source: Source
    """Where it is."""
    columns: Columns | None
    """What holds what; nothing for counted variants."""
    order: Order
    """Events of a case by time, with ties as the case has them, or as the source has them."""
    options: ReadOptions
    """What was asked for."""
    engine: Engine
    """What is declared of the reader."""
    reader: Reader = field(repr=False)
    """What counts it."""
    wanted: Wanted | None = field(default=None, repr=False)
    """Asked for every case of the period whether it is read; None: all are."""

    @property
    def name(self) -> str:
        """What the log is called in messages."""
        return self.source.name

    @property
    def timed(self) -> bool:
        """Whether events are ordered by time."""
        return self.order == "time"

    @property
    def has_times(self) -> bool:
        """Whether events have a time stamp: known from the names of columns alone."""
        return self.columns is not None and self.columns.timestamp is not None

    @property
    def has_starts(self) -> bool:
        """Whether it is declared when work began: a column for that, or a named lifecycle.

        That an XES log has transitions says nothing: most hold completions alone, and which ones
        do is secret.
        """
        if not self.has_times or self.columns is None:
            return False
        named = self.options.lifecycle is not None and self.columns.lifecycle is not None
        return named or self.columns.start is not None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What is read of cases and events besides activities and times."""
        return () if self.columns is None else self.columns.attributes

    @property
    def period(self) -> Period | None:
        """Only cases of this period are read; None: all are."""
        return None if self.options.period is None else Period.parse(self.options.period)

    def period_filter(self) -> PeriodFilter | None:
        """What decides which cases of this log are read; None: all are."""
        period = self.period
        return None if period is None else PeriodFilter(period=period, wanted=self.wanted)

    @property
    def unit(self) -> Unit:
        """What is protected: its cases are bounded to it while they are read."""
        return self.options.unit

    @property
    def assumptions(self) -> tuple[Statement, ...]:
        """What reading it takes to be public, though it comes from the log."""
        columns = self.columns
        if columns is None:
            return ()
        is_open = columns.text_times and self.options.time_format is None
        return (*((OPEN_ORDER,) if is_open else ()), *columns.taken)

    @property
    def max_cases(self) -> int | None:
        """How many cases of one person are counted at most; None: cases have no person."""
        return self.options.max_cases


def used_columns(columns: Columns, present: Collection[str]) -> list[str]:
    """The columns of a table that are read: for roles and for attributes."""
    attributes = (column_of(each, list(present)) for each in columns.attributes)
    used = (name for name in (*columns.roles, *attributes) if name is not None)
    return list(dict.fromkeys(used))


class Reader(Protocol):
    """One way to read logs: a module of this package with these functions."""

    def kinds(self, source: Source) -> Mapping[str, str]:
        """List the attributes with their types in the words of XES; those of cases as `case:…`."""

    def find(self, source: Source, options: ReadOptions) -> Columns | None:
        """Find what holds what, and refuse what can be refused at once."""

    def count(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> VariantCounts:
        """Count the variants; what their holder should know is told to `notify`."""

    def cases(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> StoredCases:
        """Give the same cases one by one, in the same order of events, with their times."""


class Remote(Protocol):
    """A module that gives the rows of a source that is elsewhere."""

    def types(self, source: Source) -> dict[str, str]:
        """The columns with their types, as DuckDB calls them."""

    def rows(self, source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
        """Give these columns of all rows as lines of CSV in UTF-8, in any order.

        Times are in ISO 8601 and UTC. What is missing is an empty field; text stands in quotes.
        """


class ComparingReader(Reader, Protocol):
    """A reader that can compare the order of rows with that of their times."""

    def count_disordered(self, log: Log) -> int:
        """Count the cases whose rows stand in another order than their times."""
