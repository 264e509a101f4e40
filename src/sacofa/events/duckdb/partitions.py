"""Partitions of whole cases, to sort a table of any size with little memory.

Rows are written into files by a hash of their case, each small enough for memory. A partition that
is still too large is divided again, except for its long cases, which are sorted one by one. The
hash only selects the file of a case; ids distinguish cases.
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
"""Maximum number of rows that are sorted at once."""

MAX_PARTITIONS = 128
"""Maximum number of partitions that are written at once."""

LONG_CASE_FRACTION = 4
"""A case is long if it has this fraction (1/4) of the rows of a part."""

BUFFERED_ROWS = 1 << 14
"""Rows per thread before they are written; far more would be written to disk twice."""

PARTITIONING_MEGABYTES = 800
"""Memory for partitioning; half is enough, but with less to spare, rows are written twice."""

SORTING_MEGABYTES = 400
"""Memory for sorting, which also works with less."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Rows of whole cases."""

    sql: str
    """The rows, as an SQL relation."""
    rows: int
    long: bool = False
    """Whether the rows are a single case, which may not fit into memory."""


def partition(
    database: DuckDBPyConnection, source: str, rows: int, *, numbered: bool, part: int | None = None
) -> Iterator[Partition]:
    """Yield the rows of a source in partitions of whole cases, each valid until the next.

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
    """Limit the memory of the database inside this context; the rest spills to disk."""
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
        number = min(MAX_PARTITIONS, -(-rows // (self.most * 4 // 5)))
        target = self.folder / str(divisor)
        with limited(self.database, PARTITIONING_MEGABYTES):
            self.database.execute(
                f"SET preserve_insertion_order = {not numbered}; "
                f"SET partitioned_write_flush_threshold = {BUFFERED_ROWS}; "
                f"SET partitioned_write_max_open_files = {2 * MAX_PARTITIONS}"
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
            # Cases with the same hash cannot be divided, so the depth is bounded.
            if size <= self.most or divisor > MAX_PARTITIONS**4:
                yield Partition(sql=files, rows=size)
            else:
                yield from self._divide_again(files, size, divisor)
            rmtree(part)

    def _divide_again(self, source: str, rows: int, divisor: int) -> Iterator[Partition]:
        """Yield the long cases of an oversized part, and divide the others."""
        table = f"long{divisor}"
        with limited(self.database):
            self.database.execute(
                f"CREATE OR REPLACE TABLE {table} AS "
                f"SELECT case_id, count(*) AS size FROM {source} GROUP BY case_id "
                f"HAVING size >= {self.most // LONG_CASE_FRACTION}"
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
