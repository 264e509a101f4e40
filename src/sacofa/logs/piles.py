"""Piles of whole cases: how a table of any size is put in order with little memory.

Rows are dealt by a hash of their case into files, each small enough to be put in order in memory.
A small table is one pile and is not dealt at all. A pile that is too large all the same is dealt
again, but for its long cases: those cannot be divided, and are put in order one by one, on disk if
need be. The hash only says which pile a case goes to; cases are told apart by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from .relation import file_literal, literal

PILE = 4_000_000
"""How many rows are put in order at one time, at most."""

SPREAD = 128
"""Into how many piles rows are dealt at one time, at most."""

LONG = 4
"""So many cases of this length or more make a pile: a case is long."""

HELD_ROWS = 1 << 14
"""How many rows a thread holds before it deals them; with many more, they end up on disk twice."""

DEALING_MEGABYTES = 800
"""What dealing may use; it needs half, but with less to spare it writes some rows twice."""

SORTING_MEGABYTES = 400
"""What sorting may use; it makes do with anything, but takes what it can get."""


@dataclass(frozen=True, kw_only=True)
class Pile:
    """Rows of whole cases."""

    sql: str
    """The rows, as what stands after FROM."""
    rows: int
    """How many there are."""
    long: bool = False
    """Whether they are a single case, which may be too long for memory."""


def deal(
    database: Any, source: str, rows: int, *, numbered: bool, pile: int | None = None
) -> Iterator[Pile]:
    """Give the rows of a source, whose case is c, as piles; each is there until the next.

    Rows that carry their number (`numbered`) may be dealt by several threads, in any order. A pile
    has at most `pile` rows, or as many as usual.
    """
    most = PILE if pile is None else pile
    if rows <= most:
        yield Pile(sql=source, rows=rows)
        return
    with TemporaryDirectory(prefix="sacofa-") as folder:
        yield from _deal(database, source, rows, most, 1, Path(folder), numbered)


@contextmanager
def limited(database: Any, megabytes: int = SORTING_MEGABYTES) -> Iterator[None]:
    """Let what is done meanwhile use little memory, and the disk for the rest."""
    database.execute(f"SET memory_limit = '{megabytes}MB'")
    yield
    database.execute("RESET memory_limit")


def _deal(
    database: Any, source: str, rows: int, most: int, divisor: int, folder: Path, numbered: bool
) -> Iterator[Pile]:
    number = min(SPREAD, -(-rows // (most * 4 // 5)))
    target = folder / str(divisor)
    with limited(database, DEALING_MEGABYTES):
        database.execute(f"SET preserve_insertion_order = {not numbered}")
        database.execute(f"SET partitioned_write_flush_threshold = {HELD_ROWS}")
        database.execute(f"SET partitioned_write_max_open_files = {2 * SPREAD}")
        database.execute(
            f"COPY (SELECT *, hash(c) // {divisor} % {number} AS pile FROM {source}) "
            f"TO {literal(target)} (FORMAT parquet, PARTITION_BY (pile), COMPRESSION uncompressed)"
        )
        database.execute("RESET preserve_insertion_order")
    for pile in sorted(target.iterdir()):
        names = ", ".join(file_literal(file) for file in pile.glob("*.parquet"))
        files = f"read_parquet([{names}], hive_partitioning = false)"
        (size,) = database.execute(f"SELECT count(*) FROM {files}").fetchone()
        yield from _divide(database, files, size, most, divisor * number, pile)
        rmtree(pile)


def _divide(
    database: Any, source: str, rows: int, most: int, divisor: int, folder: Path
) -> Iterator[Pile]:
    """Give a pile as it is, or if it is too large its long cases, and the others dealt again."""
    # Cases that share all of their hash cannot be dealt apart, so there is an end to it.
    if rows <= most or divisor > SPREAD**4:
        yield Pile(sql=source, rows=rows)
        return
    table = f"long{divisor}"
    with limited(database):
        database.execute(
            f"CREATE OR REPLACE TABLE {table} AS "
            f"SELECT c, count(*) AS n FROM {source} GROUP BY c HAVING n >= {most // LONG}"
        )
    long = database.execute(f"SELECT rowid, n FROM {table}").fetchall()
    for place, size in long:
        case = f"(SELECT c FROM {table} WHERE rowid = {place})"
        yield Pile(sql=f"(SELECT * FROM {source} WHERE c = {case})", rows=size, long=True)
    rest = rows - sum(size for _, size in long)
    others = f"(SELECT * FROM {source} ANTI JOIN {table} USING (c))"
    if rest > most:
        yield from _deal(database, others, rest, most, divisor, folder, True)
    elif rest:
        yield Pile(sql=others, rows=rest)
