"""Rows of a database or a cluster that are brought here, to be read as a table is.

How time stamps may be written, which events are the start and the end of one activity, and when
work began is told in one way alone, by the reader of tables. So where a server does not count by
itself, its rows go into a folder for secrets, and are read from there. Sources without an order of
their own are ordered by nothing but what rows say: time where that is no text, activity, start
before end, then all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..base.temporary import secret_folder, writing_in
from ..kernel.variants import VariantCounts
from .bounded_file import Progress
from .case_store import StoredCases
from .columns import Columns
from .duckdb import events
from .duckdb.source import open_database, open_table
from .duckdb.sql import literal, quoted
from .duckdb.staging import csv_line
from .formats import TABLES
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source, used_columns

BROUGHT = replace(TABLES, reads_periods=False, compares_order=False)
"""What the reader below can do."""

TYPES = {"date": "TIMESTAMPTZ", "int": "BIGINT", "float": "DOUBLE"}
"""What columns of times are that are no text."""


class Remote(Protocol):
    """A reader that can give rows as they are; the other functions are those of `Reader`."""

    def list_columns(self, source: Source) -> list[str]:
        """List the columns."""

    def kinds(self, source: Source) -> Mapping[str, str]:
        """List the columns with their types in the words of XES."""

    def find(self, source: Source, options: ReadOptions) -> Columns | None:
        """Find what holds what, and refuse what can be refused at once."""

    def rows(self, log: Log, names: list[str]) -> Iterator[bytes]:
        """Give these columns of all rows as lines of CSV in UTF-8, in their order.

        Times are in ISO 8601 and UTC. What is missing is an empty field; text stands in quotes.
        """


@dataclass(frozen=True)
class BroughtReader:
    """Reads a log of another reader as a table."""

    remote: Remote
    """The reader."""

    def list_columns(self, source: Source) -> list[str]:
        """List the columns."""
        return self.remote.list_columns(source)

    def kinds(self, source: Source) -> Mapping[str, str]:
        """List the columns with their types."""
        return self.remote.kinds(source)

    def find(self, source: Source, options: ReadOptions) -> Columns | None:
        """Find the columns; text may be a time in any form."""
        events.check_pattern(options.time_format)
        columns = self.remote.find(source, options)
        if columns is None:
            return columns
        kinds = self.kinds(source)
        text = bool(columns.joined) or any(kinds[name] == "string" for name in columns.times)
        return replace(columns, text_times=text)

    def count(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> VariantCounts:
        """Bring the rows here, and count."""
        with self._brought(log) as here:
            return events.count(here, progress, notify)

    def cases(
        self, log: Log, progress: Progress | None = None, notify: Notify | None = None
    ) -> StoredCases:
        """Bring the rows here, and give the cases."""
        with self._brought(log) as here:
            return events.cases(here, progress, notify)

    @contextmanager
    def _brought(self, log: Log) -> Iterator[Log]:
        """Give the log as it is read here, for as long as its rows are there."""
        columns = log.columns
        assert columns is not None
        kinds = self.kinds(log.source)
        names = used_columns(columns, kinds)
        with secret_folder() as folder:
            text, target = Path(folder) / "rows.csv", Path(folder) / "rows.parquet"
            with writing_in(folder), text.open("wb") as file:
                file.write(csv_line(names))
                file.writelines(self.remote.rows(log, names))
            # It was written here: no guard against hostile files is needed.
            source = Source(
                name=log.name, format="csv", content=(text,), encoding="utf-8", trusted=True,
                skip_rows=0,
            )  # fmt: skip
            with open_database(log.name) as database:
                table = open_table(database, source)
                fields = []
                for name in names:
                    field, kind = table.columns[name][0], TYPES.get(kinds[name])
                    if kind is not None and name in columns.times:
                        field = f"try_cast({field} AS {kind})"
                    fields.append(f"{field} AS {quoted(name)}")
                database.execute(
                    f"COPY (SELECT {', '.join(fields)} FROM {table.sql}) "
                    f"TO {literal(target)} (FORMAT parquet)"
                )
            text.unlink()
            yield replace(log, source=replace(source, format="brought", content=(target,)))
