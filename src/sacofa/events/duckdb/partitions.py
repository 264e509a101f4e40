"""Partitions of whole cases: how a table of any size is put in order with little memory.

Rows are written into files by a hash of their case, each small enough to be put in order in memory.
A small table is one partition and is not divided at all. A partition that is too large all the same
is divided again, but for its long cases: those cannot be, and are put in order one by one, on disk
if need be. The hash only says which file a case goes to; cases are told apart by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from ...base.temporary import secret_folder
from .sql import file_literal, literal

PARTITION_ROWS = 4_000_000
"""How many rows are put in order at one time, at most."""

SPREAD = 128
"""Into how many partitions rows are partitioned at one time, at most."""

LONG = 4
"""So many cases of this length or more make a part: a case is long."""

BUFFERED_ROWS = 1 << 14
"""Rows that a thread holds before it writes them; with many more, they end up on disk twice."""

PARTITIONING_MEGABYTES = 800
"""What partitioning may use; it needs half, but with less to spare it writes some rows twice."""

SORTING_MEGABYTES = 400
"""What sorting may use; it makes do with anything, but takes what it can get."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Rows of whole cases."""

    sql: str
    """The rows, as what stands after FROM."""
    rows: int
    """How many there are."""
    long: bool = False
    """Whether they are a single case, which may be too long for memory."""
    stored: bool = False
    """Whether they lie in files of their own, so that it costs little to read them again."""


def partition(
    database: Any,
    source: str,
    rows: int,
    *,
    numbered: bool,
    part: int | None = None,
    by: str = "case_id",
) -> Iterator[Partition]:
    """Give the rows of a source as partitions; each is there until the next.

    Rows with the same value of a column (`by`) stay together. Rows that carry their number
    (`numbered`) may be divided by several threads, in any order. A partition has at most `part`
    rows, or as many as usual.
    """
    most = PARTITION_ROWS if part is None else part
    if rows <= most:
        yield Partition(sql=source, rows=rows)
        return
    with secret_folder() as folder:
        yield from _partition(database, source, rows, most, 1, Path(folder), numbered, by)


@contextmanager
def limited(database: Any, megabytes: int = SORTING_MEGABYTES) -> Iterator[None]:
    """Let what is done meanwhile use little memory, and the disk for the rest."""
    (before,) = database.execute("SELECT current_setting('memory_limit')").fetchone()
    size, unit = before.split()
    database.execute(f"SET memory_limit = '{megabytes}MB'")
    yield
    # RESET does not lift the limit in force in DuckDB 1.4 and 1.5. The setting is shown rounded
    # down to a tenth: half a tenth more is shown alike, and so the limit never sinks.
    database.execute(f"SET memory_limit = '{float(size) + 0.05:.2f} {unit}'")


def _partition(
    database: Any,
    source: str,
    rows: int,
    most: int,
    divisor: int,
    folder: Path,
    numbered: bool,
    by: str,
) -> Iterator[Partition]:
    number = min(SPREAD, -(-rows // (most * 4 // 5)))
    target = folder / str(divisor)
    with limited(database, PARTITIONING_MEGABYTES):
        database.execute(f"SET preserve_insertion_order = {not numbered}")
        database.execute(f"SET partitioned_write_flush_threshold = {BUFFERED_ROWS}")
        database.execute(f"SET partitioned_write_max_open_files = {2 * SPREAD}")
        database.execute(
            f"COPY (SELECT *, hash({by}) // {divisor} % {number} AS part FROM {source}) "
            f"TO {literal(target)} (FORMAT parquet, PARTITION_BY (part), COMPRESSION uncompressed)"
        )
        database.execute("RESET preserve_insertion_order")
    for part in sorted(target.iterdir()):
        names = ", ".join(file_literal(file) for file in part.glob("*.parquet"))
        files = f"read_parquet([{names}], hive_partitioning = false)"
        (size,) = database.execute(f"SELECT count(*) FROM {files}").fetchone()
        yield from _divide(database, files, size, most, divisor * number, part, by)
        rmtree(part)


def _divide(
    database: Any, source: str, rows: int, most: int, divisor: int, folder: Path, by: str
) -> Iterator[Partition]:
    """Give a part as it is, or if it is too large its long cases, and the others divided again."""
    # Cases that share all of their hash cannot be partitioned apart, so there is an end to it.
    if rows <= most or divisor > SPREAD**4:
        yield Partition(sql=source, rows=rows, stored=True)
        return
    table = f"long{divisor}"
    with limited(database):
        database.execute(
            f"CREATE OR REPLACE TABLE {table} AS "
            f"SELECT {by}, count(*) AS size FROM {source} GROUP BY {by} "
            f"HAVING size >= {most // LONG}"
        )
    long = database.execute(f"SELECT rowid, size FROM {table}").fetchall()
    for place, size in long:
        case = f"(SELECT {by} FROM {table} WHERE rowid = {place})"
        yield Partition(sql=f"(SELECT * FROM {source} WHERE {by} = {case})", rows=size, long=True)
    rest = rows - sum(size for _, size in long)
    others = f"(SELECT * FROM {source} ANTI JOIN {table} USING ({by}))"
    if rest > most:
        yield from _partition(database, others, rest, most, divisor, folder, True, by)
    elif rest:
        yield Partition(sql=others, rows=rest)
