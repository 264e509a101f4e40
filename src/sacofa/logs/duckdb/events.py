"""Tables of events: CSV, TSV, Parquet and frames, counted by DuckDB.

One row is one event; cases need not lie together. A row that has a case and neither an activity nor
a time stamp is no event: it says that there is such a case. Any other row without an activity, and
any row without a case, is an error. Everything is text: a case called `NA` is a case. In CSV an
empty field is missing, and a quoted empty one (`""`) is a text without letters.

Rows are numbered as the source has them, and that number breaks ties between equal time stamps, so
the result is the same on every run and for any number of threads. Variants are lists of activity
ids throughout, never joined text. A log that is large is counted in partitions of whole cases, so
memory does not grow with it, and time grows in proportion to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...errors import ReadError
from ...variants import VariantCounts
from ..bounded_file import Progress
from ..columns import Columns, resolve_columns
from ..csv_injection import unescape_formula
from ..options import JOINER, ReadOptions
from ..source import Log, Notify, Source
from ..variant_counter import check_unique
from . import partitions
from .counting import PartitionCounter
from .ordering import PLACE_BITS, Ordering, moment
from .source import ROW_BITS, Table, check_gzip, open_database, open_table


def list_columns(source: Source) -> list[str]:
    """List the columns of a table."""
    with open_database(source.name) as database:
        return list(open_table(database, source).columns)


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    return resolve_columns(source.name, list_columns(source), options)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of a table."""
    assert log.columns is not None
    tell = progress or (lambda _: None)
    check_gzip(log.source)
    with open_database(log.name) as database, TemporaryDirectory(prefix="sacofa-") as folder:
        table = open_table(database, log.source)
        rows = _Rows.of(database, table, log.columns, timed=log.timed)
        survey = _survey(database, log.name, rows)
        tell(0.1)
        needed = "c, " + survey.order.columns + (", cut" if survey.cut else "")
        most = None
        if log.max_cases is not None:
            # A case then takes nearly twice the memory.
            needed, most = f"{needed}, p AS person, r AS row", partitions.PARTITION_ROWS // 2
        source = f"(SELECT {needed} FROM {survey.sql})"
        counter = PartitionCounter(
            database=database,
            order=survey.order,
            code=survey.code,
            cut=survey.cut,
            unit=log.unit,
            folder=Path(folder),
        )
        names, done = names_as_meant(log, survey.names), 0
        divided = partitions.partition(
            database, source, survey.rows, numbered=table.numbered, part=most
        )
        for part in divided:
            counter.add(part)
            done += part.rows
            tell(0.1 + 0.9 * min(done / max(survey.rows, 1), 1.0))
        counted = counter.total(names)
    if log.max_cases is not None:
        # Only cases that are counted may tell which activities there are.
        names = [names[i] for i in np.unique(counted.activity_ids)]
    return counted.project_onto(sorted(names))


def names_as_meant(log: Log, names: list[str]) -> list[str]:
    """Undo what was done to names in a CSV file of this package to make formulas harmless."""
    if log.source.format != "csv" or log.columns is None or log.columns.truncated is None:
        return names
    meant = [unescape_formula(name) for name in names]
    check_unique(log.name, meant)
    return meant


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What is asked of each row, as SQL."""

    table: Table
    case: str
    parts: tuple[str, ...]
    stamp: str
    key: str | None
    """What events are ordered by, or nothing for the order of the source."""
    moment: str | None
    """The same as a number of 64 bits, if its type has one; missing where it cannot be said so."""
    person: str | None
    cut: str | None

    @classmethod
    def of(cls, database: Any, table: Table, columns: Columns, *, timed: bool) -> _Rows:
        stamp = table.columns[columns.timestamp][0] if columns.timestamp else None
        key, moment = _time_key(database, table, columns.timestamp) if timed else (None, None)
        return cls(
            table=table,
            case=table.text(columns.case),
            parts=tuple(table.text(part) for part in columns.activity),
            stamp=stamp or "0",
            key=key,
            moment=moment,
            person=table.text(columns.person) if columns.person else None,
            cut=f"coalesce(try_cast({table.text(columns.truncated)} AS BOOLEAN), false)"
            if columns.truncated
            else None,
        )

    @property
    def lone(self) -> str:
        """Whether a row says no more than that there is such a case."""
        return " AND ".join(f"{part} IS NULL" for part in (*self.parts, self.stamp))

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What makes a row impossible to count, and what to say of it."""
        yield f"{self.case} IS NULL", "has no case"
        missing = " OR ".join(f"{part} IS NULL" for part in self.parts)
        yield f"({missing}) AND NOT ({self.lone})", "has no activity"
        if self.key is not None:
            yield f"{self.key} IS NULL AND NOT ({self.lone})", "has no time stamp that can be read"


def _time_key(database: Any, table: Table, column: str | None) -> tuple[str, str | None]:
    """Make time stamps comparable: as they are, or from text as times or, failing that, numbers."""
    assert column is not None
    key, kind = table.columns[column]
    if kind == "VARCHAR":
        first = database.execute(
            f"SELECT try_cast({key} AS DECIMAL(38, 9)) IS NOT NULL FROM {table.sql} "
            f"WHERE {key} IS NOT NULL LIMIT 1"
        ).fetchone()
        number = first is not None and first[0]
        kind = "DECIMAL(38, 9)" if number else "TIMESTAMP WITH TIME ZONE"
        key = f"try_cast({key} AS {kind})"
    return key, moment(key, kind)


@dataclass(frozen=True, kw_only=True)
class _Survey:
    """What a first look at all rows tells."""

    rows: int
    names: list[str]
    sql: str
    """The rows with case c, activity id i, order k and r, person p and flag cut."""
    code: str
    """The type of activity ids."""
    cut: bool
    """Whether rows say that their case was cut."""
    order: Ordering
    """How events are put in order."""


def _survey(database: Any, name: str, rows: _Rows) -> _Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    table, wrong = rows.table, list(rows.wrong())
    parts = ", ".join(rows.parts)
    outside = f"{rows.moment} IS NULL AND {rows.key} IS NOT NULL" if rows.moment else "false"
    tests = [rows.lone, outside, *(test for test, _ in wrong)]
    found = database.execute(
        f"SELECT count(*), {', '.join(f'bool_or({test})' for test in tests)}, {parts} "
        f"FROM {table.sql} GROUP BY {parts}"
    ).fetchall()
    for at, (test, what) in enumerate(wrong, start=3):
        if any(row[at] for row in found):
            (row,) = database.execute(
                f"SELECT min(r) FROM (SELECT {table.row} AS r, {test} AS wrong FROM {table.sql}) "
                "WHERE wrong"
            ).fetchone()
            raise ReadError(name, f"row {(row & ((1 << ROW_BITS) - 1)) + 1} {what}")
    names = [JOINER.join(row[3 + len(wrong) :]) for row in found if row[3 + len(wrong)] is not None]
    check_unique(name, names)
    names.sort()
    activity = f" || '{JOINER}' || ".join(rows.parts)
    lone = not names or any(row[1] for row in found)
    timed, bits = rows.key is not None, max(len(names) - 1, 1).bit_length()
    code = "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "INTEGER"
    number = f"NULL::{code}"
    if names:
        # An enumeration numbers names faster than a join does.
        database.execute("CREATE TABLE names (name VARCHAR)")
        database.execute("INSERT INTO names SELECT unnest(?)", [names])
        database.execute("CREATE TYPE activity AS ENUM (SELECT name FROM names ORDER BY rowid)")
        number = f"enum_code(({activity})::activity)::{code}"
    numbers = not timed or (rows.moment is not None and not any(row[2] for row in found))
    if numbers and table.row_bits + bits <= PLACE_BITS:
        key, order = rows.moment, Ordering.packed(code, bits=bits, timed=timed, lone=lone)
    else:
        key, order = rows.key, Ordering.plain(timed=timed, lone=lone)
    sql = (
        f"SELECT {rows.case} AS c, {number} AS i, {key or '0'} AS k, {table.row} AS r, "
        f"{rows.person or 'NULL::VARCHAR'} AS p, {rows.cut or 'false'} AS cut FROM {table.sql}"
    )
    return _Survey(
        rows=sum(row[0] for row in found),
        names=names,
        sql=f"({sql})",
        code=code,
        cut=rows.cut is not None,
        order=order,
    )
