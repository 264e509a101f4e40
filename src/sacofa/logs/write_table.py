"""Writes variants as a table of events, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..variants import VariantCounts
from .formulas import defuse
from .stream import Progress

BLOCK = 1 << 20
"""About how many events are made at a time."""


def write_table(
    variants: VariantCounts,
    path: Path,
    kind: Literal["csv", "parquet"],
    progress: Progress | None = None,
) -> None:
    """Write variants as CSV or Parquet with the columns that pm4py expects.

    Blocks go into a database file first, because the final file must be written in one go; memory
    holds one block, whatever is written.
    """
    import duckdb

    try:
        with TemporaryDirectory(prefix="sacofa-") as folder:
            # One thread, because row groups must not depend on how many there are.
            database = duckdb.connect(
                Path(folder) / "events",
                config={
                    "threads": 1,
                    "memory_limit": "256MB",
                    "autoinstall_known_extensions": False,
                },
            )
            try:
                _fill(database, variants, progress)
                _copy(database, variants.activities, path, kind)
            finally:
                database.close()
    except duckdb.Error as error:
        # Whoever opened the target knows its name, and says so.
        raise OSError(str(error).splitlines()[0]) from None


def _fill(database: Any, variants: VariantCounts, progress: Progress | None) -> None:
    """Put the events into the database, a block at a time."""
    database.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    database.execute("CREATE TABLE events (c BIGINT, p BIGINT, i INTEGER, cut BOOLEAN)")
    done, total = 0, max(variants.events, 1)
    for block in event_blocks(variants):
        database.register("block", block)
        database.execute("INSERT INTO events SELECT c, p, i, cut FROM block")
        database.unregister("block")
        done += len(block["c"])
        if progress is not None:
            progress(min(0.5 * done / total, 0.5))


def event_blocks(variants: VariantCounts) -> Iterator[dict[str, NDArray[Any]]]:
    """Make the events of all cases, about BLOCK at a time: case c, place p, activity i, and cut.

    A case without events is one row with activity -1.
    """
    lengths = variants.lengths
    rows = np.maximum(lengths, 1)
    first = np.cumsum(variants.counts) - variants.counts
    start = 0
    # Large counts are split first, so that no variant is larger than a block.
    fit = np.maximum(BLOCK // rows, 1)
    pieces = -(-variants.counts // fit)
    owner = np.repeat(np.arange(len(variants)), pieces)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    case = first[owner] + nth * fit[owner]
    count = np.minimum(fit[owner], variants.counts[owner] - nth * fit[owner])
    ends = np.cumsum(count * rows[owner])
    while start < len(owner):
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + BLOCK, side="right")), start + 1)
        part = slice(start, end)
        v = np.repeat(owner[part], count[part])
        within = np.arange(len(v)) - np.repeat(np.cumsum(count[part]) - count[part], count[part])
        number = np.repeat(case[part], count[part]) + within + 1
        size = rows[v]
        place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        which = np.repeat(v, size)
        empty = lengths[which] == 0
        if len(variants.steps):
            at = np.minimum(variants.offsets[which] + place, len(variants.steps) - 1)
            activity = np.where(empty, -1, variants.steps[at])
        else:
            activity = np.full(len(which), -1)
        yield {
            "c": np.repeat(number, size),
            "p": place,
            "i": activity.astype(np.int32),
            "cut": ~variants.finished[which],
        }
        start = end


def _copy(database: Any, activities: tuple[str, ...], path: Path, kind: str) -> None:
    time = "CASE WHEN i >= 0 THEN to_timestamp(946684800 + c + p + 1) END"
    if kind == "csv":
        activities = tuple(map(defuse, activities))
        time = f"strftime({time}, '%Y-%m-%dT%H:%M:%SZ')"
        how = "FORMAT csv, HEADER true"
    else:
        how = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    target = "'" + str(path).replace("'", "''") + "'"
    database.execute("CREATE TABLE names (n VARCHAR[])")
    database.execute("INSERT INTO names VALUES (?)", [list(activities)])
    database.execute(
        f"""
        COPY (
            SELECT c::VARCHAR AS "case:concept:name",
                   CASE WHEN i >= 0 THEN (SELECT n FROM names)[i + 1] END AS "concept:name",
                   {time} AS "time:timestamp",
                   cut AS "case:unfinished"
            FROM events
        ) TO {target} ({how})
        """
    )
