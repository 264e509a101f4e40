"""Released logs as tables of events, CSV or Parquet, with the columns that pm4py expects.

Names are written as they are. In CSV alone, those that a spreadsheet would take for a formula get
an apostrophe first (`events.csv_injection`), which is taken off again when they are read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.temporary import secret_folder
from ...events.columns import TRUNCATED
from ...events.csv_injection import escape_formula, unescape_formula
from ...events.duckdb.database import as_os_error, borrowed
from ...events.duckdb.source import Table, interrupt_in, open_database, open_table
from ...events.duckdb.sql import literal, quoted
from ...events.released import CORE_KEY, PRIVATE, START_KEY, TIME_KEY
from ...events.source import Source
from ...kernel.attributes import Kind
from ...kernel.cases import CaseBatch
from ...kernel.variants import VariantCounts
from ...mechanisms.released import ReleasedLog
from ...synthesis.released import NO_VALUE, ReleasedColumn
from .blocks import describe_times, event_blocks
from .collect import column_of, lay_out
from .format import Format

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROW_GROUP = 122_880
"""The number of rows that lie together in Parquet."""
MOST_AT_HAND = ROW_GROUP
"""The most rows that are held in memory before they are written."""

Stored = Literal["csv", "parquet"]
Rows = dict[str, NDArray[Any]]
"""Columns as the database gives them."""


def write(stored: Stored, log: ReleasedLog, path: Path) -> None:
    """Write a log as a table.

    Blocks go into a database first, because the final file must be written in one go; memory
    holds one block, however large the log is.
    """
    import duckdb

    try:
        with secret_folder() as folder, _database(folder, log.variants) as database:
            _fill(database, log)
            _copy(database, log, path, stored)
    except (duckdb.InterruptException, RuntimeError) as error:
        raise interrupt_in(error) or error from None
    except duckdb.Error as error:
        raise as_os_error(error) from None


def _database(folder: Path, variants: VariantCounts) -> AbstractContextManager[DuckDBPyConnection]:
    """Where blocks go: into a file, unless they make up a single row group."""
    if variants.events <= MOST_AT_HAND:
        return borrowed(folder)
    # One thread, because row groups must not depend on how many there are.
    return borrowed(folder, folder / "events", {"threads": "1", "memory_limit": "256MB"})


def _fill(database: DuckDBPyConnection, log: ReleasedLog) -> None:
    """Put the events into the database, a block at a time."""
    database.execute(
        "CREATE TABLE events "
        "(case_id BIGINT, activity_id INTEGER, seconds BIGINT, truncated BOOLEAN, core BOOLEAN"
        + ", began BIGINT" * (log.starts is not None)
        + "".join(f", value_{place} INTEGER" for place in range(len(log.columns)))
        + ")"
    )
    for block in event_blocks(log):
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


def _copy(database: DuckDBPyConnection, log: ReleasedLog, path: Path, stored: Stored) -> None:
    """Write the events of the database to a file."""
    activities = list(log.variants.activities)
    times = {
        key: f"to_timestamp({column})"
        for key, column in (("time:timestamp", "seconds"), (START_KEY, "began"))
        if key != START_KEY or log.starts is not None
    }
    if stored == "csv":
        activities = list(map(escape_formula, activities))
        times = {key: f"strftime({time}, '%Y-%m-%dT%H:%M:%SZ')" for key, time in times.items()}
        how = "FORMAT csv, HEADER true"
    else:
        how = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
    core = f'\n                   core AS "case:{CORE_KEY}",' if log.core is not None else ""
    values = "".join(
        f"\n                   {_value(database, place, column, stored)},"
        for place, column in enumerate(log.columns)
    )
    listed = " ".join(f'{time} AS "{key}",' for key, time in times.items())
    database.execute("CREATE TABLE names (listed VARCHAR[])")
    database.execute("INSERT INTO names VALUES (?)", [activities])
    database.execute(
        f"""
        COPY (
            SELECT case_id::VARCHAR AS "case:concept:name",
                   (SELECT listed FROM names)[activity_id + 1] AS "concept:name",
                   {listed}
                   truncated AS "{TRUNCATED}",{core}{values}
                   '{describe_times(log)}' AS "{TIME_KEY}"
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


def _value(database: DuckDBPyConnection, place: int, column: ReleasedColumn, stored: Stored) -> str:
    """An attribute as SQL, with its type; in CSV as its text."""
    texts, key = list(column.texts), column.key
    if stored == "csv":
        key = escape_formula(key)
        texts = list(map(escape_formula, texts)) if column.kind == "string" else texts
    database.execute(f"CREATE TABLE texts_{place} (listed VARCHAR[])")
    database.execute(f"INSERT INTO texts_{place} VALUES (?)", [texts])
    text = f"(SELECT listed FROM texts_{place})[value_{place} + 1]"
    found = f"CASE WHEN value_{place} >= 0 THEN {text} END"
    if stored != "csv":
        found = f"({found})::{TYPES[column.kind]}"
    return f"{found} AS {quoted(key)}"


def read(stored: Stored, path: Path, kinds: Mapping[str, Kind]) -> ReleasedLog:
    """Read a table back, its cases in the order of their numbers."""
    source = Source(name=str(path), format=stored, content=(path,))
    with open_database(source.name) as database:
        table = open_table(database, source)
        _load(database, table, ["concept:name", *kinds])
        names = [_distinct(database, place) for place in range(len(kinds) + 1)]
        rows = _in_order(database, len(names))
    if stored == "csv":
        for texts, kind in zip(names, ("string", *kinds.values()), strict=True):
            texts[:] = map(unescape_formula, texts) if kind == "string" else texts
    return _laid_out(rows, names, kinds, set(table.columns))


def _laid_out(
    rows: Rows,
    names: Sequence[Sequence[str]],
    kinds: Mapping[str, Kind],
    there: Collection[str],
) -> ReleasedLog:
    """The log of rows in order, whose texts are places among names; `there` are the columns."""
    timed = bool(rows["private"].any())
    # A case begins wherever the number changes.
    begins = np.flatnonzero(np.diff(rows["number"], prepend=0))
    cases = CaseBatch(
        activities=tuple(names[0]),
        activity_ids=rows["code_0"],
        offsets=np.append(begins, len(rows["number"])),
        complete=~rows["truncated"][begins],
        times=rows["time"] if timed else None,
        starts=rows["start"] if timed and START_KEY in there else None,
    )
    marked = f"case:{CORE_KEY}" in there and len(begins) > 0
    columns = []
    for place, (key, kind) in enumerate(kinds.items(), start=1):
        codes = rows[f"code_{place}"]
        codes = codes[begins] if key.startswith("case:") else codes
        columns.append(column_of(key, kind, names[place], codes))
    return lay_out(cases, rows["core"][begins] if marked else None, columns)


def _load(database: DuckDBPyConnection, table: Table, texts: Sequence[str]) -> None:
    """Load the rows of a file, with some columns as text_0, text_1, …"""

    def typed(key: str, kind: str, missing: str | None = None) -> str:
        if missing is not None and key not in table.columns:
            return missing
        return f"CAST({table.columns[key][0]} AS {kind})"

    selected = {
        "place": table.row,
        "number": typed("case:concept:name", "BIGINT"),
        "time": f"epoch_us({typed('time:timestamp', 'TIMESTAMPTZ')})",
        "start": f"epoch_us({typed(START_KEY, 'TIMESTAMPTZ', 'NULL::TIMESTAMPTZ')})",
        "truncated": typed(TRUNCATED, "BOOLEAN"),
        "core": typed(f"case:{CORE_KEY}", "BOOLEAN", "false"),
        "private": f"{typed(TIME_KEY, 'VARCHAR')} = '{PRIVATE}'",
        **{f"text_{place}": typed(key, "VARCHAR") for place, key in enumerate(texts)},
    }
    columns = ", ".join(f"{sql} AS {name}" for name, sql in selected.items())
    database.execute(f"CREATE TABLE rows AS SELECT {columns} FROM {table.sql}")


def _distinct(database: DuckDBPyConnection, place: int) -> list[str]:
    """The different texts of a column; the table names_… has their places in this list."""
    database.execute(
        f"CREATE TABLE names_{place} AS SELECT text, row_number() OVER (ORDER BY text) - 1 AS code "
        f"FROM (SELECT DISTINCT text_{place} AS text FROM rows) WHERE text IS NOT NULL"
    )
    found = database.execute(f"SELECT text FROM names_{place} ORDER BY code").fetchall()
    return [text for (text,) in found]


def _in_order(database: DuckDBPyConnection, texts: int) -> Rows:
    """All rows in order, with the places of texts as code_0, code_1, …; −1 where there is none."""
    columns = "number, time, coalesce(start, 0) AS start, truncated, core, private" + "".join(
        f", coalesce(names_{place}.code, {NO_VALUE})::INTEGER AS code_{place}"
        for place in range(texts)
    )
    joined = "".join(
        f" LEFT JOIN names_{place} ON text_{place} = names_{place}.text" for place in range(texts)
    )
    rows = database.execute(f"SELECT {columns} FROM rows{joined} ORDER BY number, place")
    found: Rows = rows.fetchnumpy()
    if any(np.ma.is_masked(column) for column in found.values()) or (found["code_0"] < 0).any():
        raise ValueError("a cell is empty")
    return {name: np.asarray(column) for name, column in found.items()}


CSV = Format(name="CSV", suffix=".csv", write=partial(write, "csv"), read=partial(read, "csv"))
PARQUET = Format(
    name="Parquet",
    suffix=".parquet",
    write=partial(write, "parquet"),
    read=partial(read, "parquet"),
)
