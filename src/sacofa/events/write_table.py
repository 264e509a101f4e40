"""Writes variants as a table of events, a block at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..base.temporary import secret_folder
from ..kernel.released import Columns, ReleasedColumn
from ..kernel.variants import VariantCounts
from .bounded_file import Progress
from .columns import TRUNCATED
from .csv_injection import escape_formula
from .duckdb.database import as_os_error, borrowed
from .duckdb.source import interrupt_in
from .duckdb.sql import literal
from .released import CORE_KEY, START_KEY, TIME_KEY, describe_times, event_blocks

ROW_GROUP = 122_880
"""So many rows lie together in Parquet."""
MOST_AT_HAND = ROW_GROUP
"""So many rows are held in memory at most before they are written."""


def write_table(
    variants: VariantCounts,
    path: Path,
    kind: Literal["csv", "parquet"],
    progress: Progress | None = None,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    columns: Columns = (),
    starts: NDArray[np.int64] | None = None,
) -> None:
    """Write variants as CSV or Parquet with the columns that pm4py expects.

    Blocks go into a database first, because the final file must be written in one go; memory
    holds one block, whatever is written.
    """
    import duckdb

    try:
        with secret_folder() as folder, _database(folder, variants) as database:
            _fill(database, variants, times, core, columns, starts, progress)
            _copy(
                database,
                variants.activities,
                path,
                kind,
                describe_times(times),
                core is not None,
                columns,
                starts is not None,
            )
    except (duckdb.InterruptException, RuntimeError) as error:
        raise interrupt_in(error) or error from None
    except duckdb.Error as error:
        raise as_os_error(error) from None


def _database(folder: Path, variants: VariantCounts) -> AbstractContextManager[Any]:
    """Where blocks go: into a file, unless they make up a single row group."""
    if variants.events <= MOST_AT_HAND:
        return borrowed(folder)
    # One thread, because row groups must not depend on how many there are.
    return borrowed(folder, folder / "events", {"threads": "1", "memory_limit": "256MB"})


def _fill(
    database: Any,
    variants: VariantCounts,
    times: NDArray[np.int64] | None,
    core: NDArray[np.bool_] | None,
    columns: Columns,
    starts: NDArray[np.int64] | None,
    progress: Progress | None,
) -> None:
    """Put the events into the database, a block at a time."""
    database.execute(
        "CREATE TABLE events "
        "(case_id BIGINT, activity_id INTEGER, seconds BIGINT, truncated BOOLEAN, core BOOLEAN"
        + ", began BIGINT" * (starts is not None)
        + "".join(f", value_{place} INTEGER" for place in range(len(columns)))
        + ")"
    )
    done, total = 0, max(variants.events, 1)
    for block in event_blocks(variants, times, core, columns, starts):
        database.register(
            "block",
            {
                "case_id": block.case,
                "activity_id": block.activity_id,
                "seconds": block.seconds,
                "truncated": block.truncated,
                "core": np.zeros(len(block), np.bool_) if block.core is None else block.core,
                **({} if block.starts is None else {"began": block.starts}),
                **{f"value_{place}": codes for place, codes in enumerate(block.values)},
            },
        )
        database.execute("INSERT INTO events SELECT * FROM block")
        database.unregister("block")
        done += len(block)
        if progress is not None:
            progress(min(0.5 * done / total, 0.5))


def _copy(
    database: Any,
    activities: tuple[str, ...],
    path: Path,
    kind: str,
    what_times: str,
    marked: bool,
    columns: Columns,
    started: bool,
) -> None:
    times = {
        key: f"to_timestamp({column})"
        for key, column in (("time:timestamp", "seconds"), (START_KEY, "began"))
        if key != START_KEY or started
    }
    if kind == "csv":
        activities = tuple(map(escape_formula, activities))
        times = {key: f"strftime({time}, '%Y-%m-%dT%H:%M:%SZ')" for key, time in times.items()}
        how = "FORMAT csv, HEADER true"
    else:
        how = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
    core = f'\n                   core AS "case:{CORE_KEY}",' if marked else ""
    values = "".join(
        f"\n                   {_value(database, place, column, kind)},"
        for place, column in enumerate(columns)
    )
    listed = " ".join(f'{time} AS "{key}",' for key, time in times.items())
    database.execute("CREATE TABLE names (listed VARCHAR[])")
    database.execute("INSERT INTO names VALUES (?)", [list(activities)])
    database.execute(
        f"""
        COPY (
            SELECT case_id::VARCHAR AS "case:concept:name",
                   (SELECT listed FROM names)[activity_id + 1] AS "concept:name",
                   {listed}
                   truncated AS "{TRUNCATED}",{core}{values}
                   '{what_times}' AS "{TIME_KEY}"
            FROM events
        ) TO {literal(path)} ({how})
        """
    )


TYPES = {
    "string": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "TIMESTAMPTZ",
}
"""The types of columns."""


def _value(database: Any, place: int, column: ReleasedColumn, kind: str) -> str:
    """An attribute as SQL, with its type; in CSV as its text."""
    texts, key = list(column.texts), column.key
    if kind == "csv":
        key = escape_formula(key)
        texts = list(map(escape_formula, texts)) if column.kind == "string" else texts
    database.execute(f"CREATE TABLE texts_{place} (listed VARCHAR[])")
    database.execute(f"INSERT INTO texts_{place} VALUES (?)", [texts])
    text = f"(SELECT listed FROM texts_{place})[value_{place} + 1]"
    found = f"CASE WHEN value_{place} >= 0 THEN {text} END"
    if kind != "csv":
        found = f"({found})::{TYPES[column.kind]}"
    return f'{found} AS "{key.replace(chr(34), chr(34) * 2)}"'
