"""Tables of events: CSV, TSV, Parquet and frames, counted by DuckDB.

One row is one event; cases need not lie together. A row that has a case and neither an activity nor
a time stamp is no event: it says that there is such a case. Any other row without an activity, and
any row without a case, is an error. Everything is text: a case called `NA` is a case. In CSV an
empty field is missing, and a quoted empty one (`""`) is a text without letters.

Rows are numbered as the source has them, and that number breaks ties between equal time stamps, so
the result is the same on every run and for any number of threads. Variants are lists of activity
ids throughout, never joined text.

A log that is large is first dealt into piles on disk, by a hash of the case, until a pile is small
enough to be put in order in memory. So memory does not grow with the log, and time grows in
proportion to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError
from ..variants import VariantCounts
from .columns import JOINER, Columns, Wanted, find_columns
from .formulas import restore
from .relation import Table, check_gzip, open_database, open_table
from .source import Log, Source
from .stream import Progress
from .tally import distinct

PILE = 12_000_000
"""How many events are put in order at one time, at most."""

SPREAD = 32
"""Into how many piles a log is dealt at one time, at most."""

DEALING_MEGABYTES = 500
"""What dealing may use; it makes do with anything, but takes as much as it can get."""

Counted = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""Steps, lengths, finished flags and counts of variants."""


def find(source: Source, wanted: Wanted) -> Columns:
    """Find the columns of a table."""
    with open_database(source.name) as database:
        return find_columns(source.name, list(open_table(database, source).columns), wanted)


def count(log: Log, progress: Progress | None = None) -> VariantCounts:
    """Count the variants of a table."""
    assert log.columns is not None
    tell = progress or (lambda _: None)
    check_gzip(log.source)
    with open_database(log.name) as database:
        table = open_table(database, log.source)
        rows = _Rows.of(database, table, log.columns, timed=log.timed)
        survey = _survey(database, log.name, rows)
        tell(0.1)
        parts, done = [], 0
        for pile, size in _deal(database, survey, log.max_cases):
            parts.append(_count_pile(database, pile, survey))
            done += size
            tell(0.1 + 0.9 * min(done / max(survey.rows, 1), 1.0))
    steps, lengths, finished, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    names = names_as_meant(log, survey.names)
    counted = VariantCounts.collect(names, steps, lengths, counts, finished)
    if log.max_cases is not None:
        # Only cases that are counted may tell which activities there are.
        names = [names[i] for i in np.unique(steps)]
    return counted.over(sorted(names))


def names_as_meant(log: Log, names: list[str]) -> list[str]:
    """Undo what was done to names in a CSV file of this package to make formulas harmless."""
    if log.source.format != "csv" or log.columns is None or log.columns.unfinished is None:
        return names
    meant = [restore(name) for name in names]
    distinct(log.name, meant)
    return meant


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What is asked of each row, as SQL."""

    table: Table
    case: str
    parts: tuple[str, ...]
    stamp: str
    key: str | None
    person: str | None
    cut: str | None

    @classmethod
    def of(cls, database: Any, table: Table, columns: Columns, *, timed: bool) -> _Rows:
        stamp = table.columns[columns.timestamp][0] if columns.timestamp else None
        return cls(
            table=table,
            case=table.text(columns.case),
            parts=tuple(table.text(part) for part in columns.activity),
            stamp=stamp or "0",
            key=_time_key(database, table, columns.timestamp) if timed else None,
            person=table.text(columns.person) if columns.person else None,
            cut=f"coalesce(try_cast({table.text(columns.unfinished)} AS BOOLEAN), false)"
            if columns.unfinished
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


def _time_key(database: Any, table: Table, column: str | None) -> str:
    """Make time stamps comparable: as they are, or from text as times or, failing that, numbers."""
    assert column is not None
    stamp, kind = table.columns[column]
    if kind != "VARCHAR":
        return stamp
    first = database.execute(
        f"SELECT try_cast({stamp} AS DECIMAL(38, 9)) IS NOT NULL FROM {table.sql} "
        f"WHERE {stamp} IS NOT NULL LIMIT 1"
    ).fetchone()
    number = first is not None and first[0]
    return f"try_cast({stamp} AS {'DECIMAL(38, 9)' if number else 'TIMESTAMPTZ'})"


@dataclass(frozen=True, kw_only=True)
class _Survey:
    """What a first look at all rows tells."""

    rows: int
    names: list[str]
    sql: str
    """The rows with case c, activity id i, order k and r, person p and flag cut."""
    lone: bool
    """Whether there are rows that are no events."""
    timed: bool
    cut: bool
    numbered: bool
    """Whether rows may be read in any order."""


def _survey(database: Any, name: str, rows: _Rows) -> _Survey:
    """Find all activities and number them in the order of their names; refuse wrong rows."""
    table, wrong = rows.table, list(rows.wrong())
    parts = ", ".join(rows.parts)
    found = database.execute(
        f"SELECT count(*), bool_or({rows.lone}), "
        f"{', '.join(f'bool_or({test})' for test, _ in wrong)}, {parts} "
        f"FROM {table.sql} GROUP BY {parts}"
    ).fetchall()
    for at, (test, what) in enumerate(wrong, start=2):
        if any(row[at] for row in found):
            (row,) = database.execute(
                f"SELECT min(r) FROM (SELECT {table.row} AS r, {test} AS wrong FROM {table.sql}) "
                "WHERE wrong"
            ).fetchone()
            raise ReadError(name, f"row {(row & ((1 << 40) - 1)) + 1} {what}")
    names = [JOINER.join(row[2 + len(wrong) :]) for row in found if row[2 + len(wrong)] is not None]
    distinct(name, names)
    names.sort()
    activity = f" || '{JOINER}' || ".join(rows.parts)
    code = "NULL::INTEGER"
    if names:
        # An enumeration numbers names faster than a join does.
        database.execute("CREATE TABLE names (name VARCHAR)")
        database.execute("INSERT INTO names SELECT unnest(?)", [names])
        database.execute("CREATE TYPE activity AS ENUM (SELECT name FROM names ORDER BY rowid)")
        code = f"enum_code(({activity})::activity)::INTEGER"
    sql = (
        f"SELECT {rows.case} AS c, {code} AS i, {rows.key or '0'} AS k, {table.row} AS r, "
        f"{rows.person or 'NULL::VARCHAR'} AS p, {rows.cut or 'false'} AS cut FROM {table.sql}"
    )
    return _Survey(
        rows=sum(row[0] for row in found),
        names=names,
        sql=f"({sql})",
        lone=any(row[1] for row in found),
        timed=rows.key is not None,
        cut=rows.cut is not None,
        numbered=table.numbered,
    )


def _deal(database: Any, survey: _Survey, max_cases: int | None) -> Iterator[tuple[str, int]]:
    """Give piles of whole cases, as SQL, each with its number of rows."""
    source = survey.sql
    if max_cases is not None:
        _drop_surplus(database, survey, max_cases)
        source = f"(SELECT * FROM {source} ANTI JOIN surplus USING (c))"
    needed = "c, i, r" + (", k" if survey.timed else "") + (", cut" if survey.cut else "")
    source = f"(SELECT {needed} FROM {source})"
    with TemporaryDirectory(prefix="sacofa-") as folder:
        yield from _piles(database, source, survey.rows, 1, Path(folder), survey.numbered)


def _piles(
    database: Any, source: str, rows: int, divisor: int, folder: Path, numbered: bool
) -> Iterator[tuple[str, int]]:
    """Deal rows by the hash of their case; piles that are too large are dealt again.

    A single case that is larger than a pile cannot be divided, so there is an end to it.
    """
    if rows <= PILE or divisor > SPREAD**4:
        yield source, rows
        return
    number = min(SPREAD, -(-rows // (PILE * 2 // 3)))
    target = folder / str(divisor)
    database.execute(f"SET memory_limit = '{DEALING_MEGABYTES}MB'")
    # Rows that carry their number may be dealt by several threads, in any order.
    database.execute(f"SET preserve_insertion_order = {not numbered}")
    database.execute(
        f"COPY (SELECT *, hash(c) // {divisor} % {number} AS pile FROM {source}) "
        f"TO '{target}' (FORMAT parquet, PARTITION_BY (pile), COMPRESSION snappy)"
    )
    database.execute("RESET memory_limit")
    database.execute("RESET preserve_insertion_order")
    for pile in sorted(target.iterdir()):
        files = f"read_parquet('{pile}/*.parquet', hive_partitioning = false)"
        (size,) = database.execute(f"SELECT count(*) FROM {files}").fetchone()
        yield from _piles(database, files, size, divisor * number, pile, True)
        rmtree(pile)


def _drop_surplus(database: Any, survey: _Survey, max_cases: int) -> None:
    """Find the cases that are dropped: those after the first of each person.

    First is as the source has them. The person of a case is the one that its first row names.
    """
    database.execute(
        f"""
        CREATE TABLE surplus AS
        WITH cases AS (
            SELECT c, min(r) AS r, arg_min(struct_pack(p := p), r).p AS p
            FROM {survey.sql} GROUP BY c
        )
        SELECT c FROM cases WHERE p IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY p ORDER BY r) > {max_cases}
        """
    )


def _count_pile(database: Any, pile: str, survey: _Survey) -> Counted:
    """Count the variants of whole cases."""
    variant = f"list(i ORDER BY {'k, r' if survey.timed else 'r'})"
    if survey.lone or not survey.names:
        variant = f"coalesce({variant} FILTER (i IS NOT NULL), [])"
    cut = "bool_or(cut)" if survey.cut else "false"
    database.execute(
        f"""
        CREATE OR REPLACE TABLE counted AS
        WITH cases AS (SELECT {variant} AS v, {cut} AS cut FROM {pile} GROUP BY c)
        SELECT v, cut, count(*) AS n FROM cases GROUP BY v, cut
        """
    )
    rows = database.execute("SELECT len(v) AS l, NOT cut AS f, n FROM counted").fetchnumpy()
    steps = database.execute("SELECT unnest(v)::INTEGER AS i FROM counted").fetchnumpy()["i"]
    return np.asarray(steps), np.asarray(rows["l"]), np.asarray(rows["f"]), np.asarray(rows["n"])
