"""Partitions of whole cases: how a table of any size is put in order with little memory.

Rows are written into files by a hash of their case, each small enough for memory. A partition that
is too large all the same is divided again, but for its long cases, which are put in order one by
one. The hash only says which file a case goes to; cases are told apart by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from ...base.temporary import secret_folder
from .database import files_literal, first_row, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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


def partition(
    database: DuckDBPyConnection, source: str, rows: int, *, numbered: bool, part: int | None = None
) -> Iterator[Partition]:
    """Give the rows of a source as partitions of whole cases; each is there until the next.

    Rows that carry their number (`numbered`) may be divided by several threads, in any order. A
    partition has at most `part` rows, or as many as usual.
    """
    most = PARTITION_ROWS if part is None else part
    if rows <= most:
        yield Partition(sql=source, rows=rows)
    else:
        with secret_folder() as folder:
            divider = _Divider(database=database, folder=folder, most=most)
            yield from divider.divide(source, rows, 1, numbered=numbered)


@contextmanager
def limited(database: DuckDBPyConnection, megabytes: int = SORTING_MEGABYTES) -> Iterator[None]:
    """Let what is done meanwhile use little memory, and the disk for the rest."""
    (before,) = first_row(database, "SELECT current_setting('memory_limit')")
    size, unit = before.split()
    database.execute(f"SET memory_limit = '{megabytes}MB'")
    yield
    # RESET does not lift the limit in force in DuckDB 1.4 and 1.5. The setting is shown rounded
    # down to a tenth: half a tenth more is shown alike, and so the limit never sinks.
    database.execute(f"SET memory_limit = '{float(size) + 0.05:.2f} {unit}'")


@dataclass(frozen=True, kw_only=True)
class _Divider:
    """Divides rows by hashes of their cases into parts of at most `most` rows, in files."""

    database: DuckDBPyConnection
    folder: Path
    most: int

    def divide(
        self, source: str, rows: int, divisor: int, *, numbered: bool
    ) -> Iterator[Partition]:
        """Write rows into files by their hash without the remainder of `divisor`."""
        number = min(SPREAD, -(-rows // (self.most * 4 // 5)))
        target = self.folder / str(divisor)
        with limited(self.database, PARTITIONING_MEGABYTES):
            self.database.execute(
                f"SET preserve_insertion_order = {not numbered}; "
                f"SET partitioned_write_flush_threshold = {BUFFERED_ROWS}; "
                f"SET partitioned_write_max_open_files = {2 * SPREAD}"
            )
            self.database.execute(
                f"COPY (SELECT *, hash(case_id) // {divisor} % {number} AS part FROM {source}) "
                f"TO {literal(target)} "
                "(FORMAT parquet, PARTITION_BY (part), COMPRESSION uncompressed)"
            )
            self.database.execute("RESET preserve_insertion_order")
        divisor *= number
        for part in sorted(target.iterdir()):
            files = f"read_parquet({files_literal(part.glob('*.parquet'))}, "
            files += "hive_partitioning = false)"
            (size,) = first_row(self.database, f"SELECT count(*) FROM {files}")
            # Cases that share all of their hash cannot be divided, so there is an end to it.
            if size <= self.most or divisor > SPREAD**4:
                yield Partition(sql=files, rows=size)
            else:
                yield from self._divide_again(files, size, divisor)
            rmtree(part)

    def _divide_again(self, source: str, rows: int, divisor: int) -> Iterator[Partition]:
        """Give the long cases of a part that is too large, and divide the others."""
        table = f"long{divisor}"
        with limited(self.database):
            self.database.execute(
                f"CREATE OR REPLACE TABLE {table} AS "
                f"SELECT case_id, count(*) AS size FROM {source} GROUP BY case_id "
                f"HAVING size >= {self.most // LONG}"
            )
        rest = rows
        for place, size in self.database.execute(f"SELECT rowid, size FROM {table}").fetchall():
            rest -= size
            case = f"(SELECT case_id FROM {table} WHERE rowid = {place})"
            sql = f"(SELECT * FROM {source} WHERE case_id = {case})"
            yield Partition(sql=sql, rows=size, long=True)
        others = f"(SELECT * FROM {source} ANTI JOIN {table} USING (case_id))"
        if rest > self.most:
            yield from self.divide(others, rest, divisor, numbered=True)
        elif rest:
            yield Partition(sql=others, rows=rest)
