"""Tables of events: CSV, TSV, Parquet and frames, counted by DuckDB.

One row is one event; cases need not lie together. A row that has a case and neither an activity nor
a time stamp is no event: it says that there is such a case. Any other row without an activity, and
any row without a case, is an error. Everything is text: a case called `NA` is a case. In CSV an
empty field is missing, and a quoted empty one (`""`) is a text without letters.

Rows are numbered as the file has them, and that number breaks ties between equal time stamps, so
the result is the same on every run and for any number of threads. Variants are lists of activity
ids throughout, never joined text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ReadError
from ..variants import VariantCounts
from .columns import Columns, find_columns
from .formats import Format
from .relation import describe, open_database, relation
from .stream import Progress
from .tally import distinct

if TYPE_CHECKING:
    from .log import Log

ROWS_AT_ONCE = 4_000_000
"""About how many events are put in order at one time; cases are dealt into so many piles."""


def find_table_columns(
    source: Any,
    name: str,
    format: Format,
    *,
    case: str | None,
    activity: str | Sequence[str] | None,
    timestamp: str | None,
    person: str | None,
    timed: bool,
) -> Columns:
    """Find the columns of a table."""
    with open_database(name) as database:
        present = [column for column, _ in describe(database, source, name, format)]
    return find_columns(
        name, present, case=case, activity=activity, timestamp=timestamp, person=person, timed=timed
    )


def count_table(log: Log, progress: Progress | None = None) -> VariantCounts:
    """Count the variants of a table."""
    tell = progress or (lambda _: None)
    with open_database(log.name) as database:
        _stage(database, log)
        tell(0.5)
        _check(database, log)
        names = _number_activities(database, log)
        kept = _keep_cases(database, log.max_cases)
        (rows,) = database.execute("SELECT count(*) FROM staged").fetchone()
        piles = 1 + rows // ROWS_AT_ONCE
        parts = []
        for pile in range(piles):
            parts.append(_count_pile(database, pile, piles, kept))
            tell(0.5 + 0.5 * (pile + 1) / piles)
    steps, lengths, finished, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return VariantCounts.collect(names, steps, lengths, counts, finished)


def _stage(database: Any, log: Log) -> None:
    """Copy what is counted out of the source, with the number of each row."""
    columns = log.columns
    assert columns is not None
    described = describe(database, log.source, log.name, log.format)
    places = {column: place for place, (column, _) in reversed(list(enumerate(described)))}

    def text(column: str) -> str:
        return f"c{places[column]}::VARCHAR"

    parts = [text(part) for part in columns.activity]
    fields = [f"{text(columns.case)} AS c", f"[{', '.join(parts)}] AS a"]
    stamp = f"c{places[columns.timestamp]}" if columns.timestamp else "NULL"
    lone = f"{stamp} IS NULL" if columns.timestamp else "false"
    missing = " OR ".join(f"{part} IS NULL" for part in parts)
    fields.append(f"({' AND '.join(f'{part} IS NULL' for part in parts)}) AND {lone} AS lone")
    fields.append(f"({missing}) AS missing")
    if log.order == "time":
        kind = next(kind for column, kind in described if column == columns.timestamp)
        fields.append(f"{_time_key(database, log, stamp, kind)} AS k")
        fields.append(f"{stamp}::VARCHAR AS t")
    else:
        fields += ["NULL AS k", "NULL AS t"]
    fields.append(f"{text(columns.person)} AS p" if columns.person else "NULL::VARCHAR AS p")
    if columns.unfinished:
        fields.append(f"coalesce(try_cast({text(columns.unfinished)} AS BOOLEAN), false) AS cut")
    else:
        fields.append("false AS cut")
    fields.append("row_number() OVER () AS r")
    rows = relation(database, log.source, log.name, log.format)
    database.execute(f"CREATE TABLE staged AS SELECT {', '.join(fields)} FROM {rows}")


def _time_key(database: Any, log: Log, stamp: str, kind: str) -> str:
    """Make time stamps comparable: as they are, or from text as times or, failing that, numbers."""
    if kind != "VARCHAR":
        return stamp
    rows = relation(database, log.source, log.name, log.format)
    first = database.execute(
        f"SELECT try_cast({stamp} AS DECIMAL(38, 9)) IS NOT NULL FROM {rows} "
        f"WHERE {stamp} IS NOT NULL LIMIT 1"
    ).fetchone()
    number = first is not None and first[0]
    return f"try_cast({stamp} AS {'DECIMAL(38, 9)' if number else 'TIMESTAMPTZ'})"


def _check(database: Any, log: Log) -> None:
    """Refuse rows that cannot be counted, naming the first."""
    for wrong, what in (
        ("c IS NULL", "has no case"),
        ("missing AND NOT lone", "has no activity"),
        *(
            [("k IS NULL AND t IS NOT NULL AND NOT lone", 'has a time stamp "{}" that is none'),
             ("k IS NULL AND NOT lone", "has no time stamp")]
            if log.order == "time"
            else []
        ),
    ):  # fmt: skip
        row = database.execute(
            f"SELECT r, t FROM staged WHERE {wrong} ORDER BY r LIMIT 1"
        ).fetchone()
        if row is not None:
            raise ReadError(log.name, f"row {row[0]} {what.format(row[1])}")


def _number_activities(database: Any, log: Log) -> list[str]:
    """Give every activity an id, in the order of their names."""
    found = database.execute("SELECT DISTINCT a FROM staged WHERE NOT lone").fetchall()
    named = sorted(("+".join(parts), parts) for (parts,) in found)
    names = [name for name, _ in named]
    distinct(log.name, names)
    database.execute("CREATE TABLE ids (a VARCHAR[], i INTEGER)")
    if named:
        database.executemany(
            "INSERT INTO ids VALUES (?, ?)", [(parts, i) for i, (_, parts) in enumerate(named)]
        )
    return names


def _keep_cases(database: Any, max_cases: int | None) -> str:
    """Keep the first cases of each person in the order of the file; give the condition for it."""
    if max_cases is None:
        return "true"
    database.execute(
        f"""
        CREATE TABLE kept AS
        WITH cases AS (SELECT c, min(r) AS r, first(p ORDER BY r) AS p FROM staged GROUP BY c)
        SELECT c FROM cases
        QUALIFY p IS NULL OR row_number() OVER (PARTITION BY p ORDER BY r) <= {max_cases}
        """
    )
    return "c IN (FROM kept)"


def _count_pile(database: Any, pile: int, piles: int, kept: str) -> tuple[Any, Any, Any, Any]:
    """Count the variants of one pile of cases."""
    mine = f"hash(c) % {piles} = {pile}" if piles > 1 else "true"
    database.execute(
        f"""
        CREATE OR REPLACE TABLE counted AS
        WITH cases AS (
            SELECT coalesce(list(i ORDER BY k, r) FILTER (NOT lone), []) AS v, bool_or(cut) AS cut
            FROM staged LEFT JOIN ids USING (a) WHERE {mine} AND {kept} GROUP BY c
        )
        SELECT v, cut, count(*) AS n FROM cases GROUP BY v, cut
        """
    )
    rows = database.execute("SELECT len(v) AS l, NOT cut AS f, n FROM counted").fetchnumpy()
    steps = database.execute("SELECT unnest(v) AS i FROM counted").fetchnumpy()["i"]
    return np.asarray(steps), np.asarray(rows["l"]), np.asarray(rows["f"]), np.asarray(rows["n"])
