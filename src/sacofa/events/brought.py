"""Rows of a database or a cluster that are brought here, to be read as a table is.

A server counts by itself, so that only variants travel. But how time stamps may be written, which
events are the start and the end of one activity, and when work began is told in one way alone, by
the reader of tables. Where any of that is asked for, rows go into a folder for secrets, one after
the other, and are read from there. Sources without an order of their own are ordered by nothing but
what rows say: time where that is no text, activity, start before end, then all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..base.temporary import secret_folder, writing_in
from ..kernel.variants import VariantCounts
from .attributes import column_of
from .bounded_file import Progress
from .case_store import StoredCases
from .columns import Columns
from .duckdb import events
from .duckdb.source import open_database, open_table
from .duckdb.sql import literal, quoted
from .duckdb.staging import write_table
from .formats import TABLES
from .notices import Notify
from .options import ReadOptions
from .source import Log, Reader, Source

BROUGHT = replace(TABLES, reads_periods=False, compares_order=False)
"""What the reader below can do."""

TYPES = {"date": "TIMESTAMPTZ", "int": "BIGINT", "float": "DOUBLE"}
"""What columns of times are that are no text."""


class Remote(Reader, Protocol):
    """A reader that can also give rows as they are."""

    def rows(self, log: Log, names: list[str]) -> Iterator[list[str | None]]:
        """Give these columns of all rows as text, times in ISO 8601 and UTC, in their order."""


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
        values = [column_of(each, kinds) for each in columns.attributes]
        names = list(dict.fromkeys(name for name in (*columns.roles, *values) if name is not None))
        with secret_folder() as folder:
            text, target = Path(folder) / "rows.csv", Path(folder) / "rows.parquet"
            with writing_in(folder):
                write_table(text, names, self.remote.rows(log, names))
            # It was written here: no guard against hostile files is needed.
            source = Source(
                name=log.name, format="csv", content=(text,), encoding="utf-8", trusted=True
            )
            with open_database(log.name) as database:
                table = open_table(database, source)
                typed = {name: TYPES.get(kinds[name]) for name in columns.times}
                fields = ", ".join(
                    f"{_cast(table.columns[name][0], typed.get(name))} AS {quoted(name)}"
                    for name in names
                )
                database.execute(
                    f"COPY (SELECT {fields} FROM {table.sql}) TO {literal(target)} (FORMAT parquet)"
                )
            text.unlink()
            yield replace(log, source=replace(source, format="parquet", content=(target,)))


def _cast(column: str, kind: str | None) -> str:
    return column if kind is None else f"try_cast({column} AS {kind})"
