"""Released logs as tables of events, CSV or Parquet, with the columns that pm4py expects.

Names are written as they are. In CSV alone, those that a spreadsheet would take for a formula get
an apostrophe first (`events.csv_injection`), which is taken off again when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...base.temporary import secret_folder
from ...events.columns import TRUNCATED
from ...events.csv_injection import escape_formula, unescape_formula
from ...events.duckdb.database import as_os_error, borrowed, literal, quoted
from ...events.duckdb.source import interrupt_in, open_database, open_table
from ...events.released import START_KEY, TIME_KEY
from ...events.source import Source
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from .blocks import describe_times, event_blocks
from .format import ACTIVITY, CASE, CORE, TIME, Format, log_of_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROW_GROUP = 122_880
"""The number of rows that lie together in Parquet."""
MOST_AT_HAND = ROW_GROUP
"""The most rows that are held in memory before they are written."""

Stored = Literal["csv", "parquet"]
TYPES: dict[Kind, str] = {
    "string": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "TIMESTAMPTZ",
}
"""The types of columns."""


def write(stored: Stored, log: ReleasedLog, path: Path) -> None:
    """Write a log as a table.

    Blocks go into a database first, because the final file must be written in one go; memory
    holds one block, however large the log is.
    """
    import duckdb

    how = "FORMAT csv, HEADER true"
    if stored == "parquet":
        how = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
    # One thread: row groups must not depend on the number of threads.
    settings = {"threads": "1", "memory_limit": "256MB"}
    try:
        with secret_folder() as folder:
            large = log.variants.events > MOST_AT_HAND
            with borrowed(folder, folder / "events", settings) if large else borrowed(folder) as db:
                _fill(db, log)
                selected = _selected(db, log, stored).items()
                columns = ", ".join(f"{sql} AS {quoted(key)}" for key, sql in selected)
                db.execute(f"COPY (SELECT {columns} FROM events) TO {literal(path)} ({how})")
    except (duckdb.InterruptException, RuntimeError) as error:
        raise interrupt_in(error) or error from None
    except duckdb.Error as error:
        raise as_os_error(error) from None


def _fill(database: DuckDBPyConnection, log: ReleasedLog) -> None:
    """Put the events into a table, a block at a time; `code_…` are places in lists of texts."""
    for block in event_blocks(log):
        columns = {
            "number": block.case,
            "seconds": block.seconds,
            "truncated": block.truncated,
            "core": np.zeros(len(block.case), np.bool_) if block.core is None else block.core,
            "began": block.seconds if block.starts is None else block.starts,
            "code_0": block.activity_id,
            **{f"code_{place}": codes for place, codes in enumerate(block.values, start=1)},
        }
        database.register("block", columns)
        database.execute("CREATE TABLE IF NOT EXISTS events AS SELECT * FROM block LIMIT 0")
        database.execute("INSERT INTO events SELECT * FROM block")
        database.unregister("block")


def _selected(database: DuckDBPyConnection, log: ReleasedLog, stored: Stored) -> dict[str, str]:
    """The columns of the file, as SQL; in CSV all as text."""
    csv = stored == "csv"

    def time(column: str) -> str:
        sql = f"to_timestamp({column})"
        return f"strftime({sql}, '%Y-%m-%dT%H:%M:%SZ')" if csv else sql

    def text(place: int, kind: Kind, texts: Iterable[str]) -> str:
        listed = list(map(escape_formula, texts) if csv and kind == "string" else texts)
        database.execute(f"CREATE TABLE texts_{place} AS SELECT ?::VARCHAR[] AS listed", [listed])
        code = f"code_{place}"
        sql = f"CASE WHEN {code} >= 0 THEN (SELECT listed FROM texts_{place})[{code} + 1] END"
        return sql if csv else f"({sql})::{TYPES[kind]}"

    values = {
        escape_formula(column.key) if csv else column.key: text(place, column.kind, column.texts)
        for place, column in enumerate(log.columns, start=1)
    }
    return {
        CASE: "number::VARCHAR",
        ACTIVITY: text(0, "string", log.variants.activities),
        TIME: time("seconds"),
        **({} if log.starts is None else {START_KEY: time("began")}),
        TRUNCATED: "truncated",
        **({} if log.core is None else {CORE: "core"}),
        **values,
        TIME_KEY: f"'{describe_times(log)}'",
    }


READ = {
    CASE: "CAST({} AS BIGINT)",
    ACTIVITY: "CAST({} AS VARCHAR)",
    TIME: "epoch(CAST({} AS TIMESTAMPTZ))::BIGINT",
    START_KEY: "epoch(CAST({} AS TIMESTAMPTZ))::BIGINT",
    TRUNCATED: "CAST({} AS BOOLEAN)",
    CORE: "CAST({} AS BOOLEAN)",
    TIME_KEY: "CAST({} AS VARCHAR)",
}
"""How columns are read; attributes are read as text."""


def read(stored: Stored, path: Path, kinds: Mapping[str, Kind]) -> ReleasedLog:
    """Read a table back, its cases in the order of their numbers."""
    with open_database(str(path)) as database:
        table = open_table(database, Source(name=str(path), format=stored, content=(path,)))
        held = {START_KEY: "NULL", CORE: "NULL"}
        held |= {key: sql for key, (sql, _) in table.columns.items()}
        selected = [
            f"{READ.get(key, READ[ACTIVITY]).format(held[key])} AS c{place}"
            for place, key in enumerate((*READ, *kinds))
        ]
        query = f"SELECT {', '.join(selected)} FROM {table.sql} ORDER BY c0, {table.row}"
        found = database.execute(query).fetchnumpy()
    columns = {key: found[f"c{place}"].tolist() for place, key in enumerate((*READ, *kinds))}
    if stored == "csv":
        plain = cache(unescape_formula)
        texts = (ACTIVITY, *(key for key, kind in kinds.items() if kind == "string"))
        columns |= {key: [t if t is None else plain(t) for t in columns[key]] for key in texts}
    return log_of_columns(columns, kinds)


CSV = Format(name="CSV", suffix=".csv", write=partial(write, "csv"), read=partial(read, "csv"))
PARQUET = Format(
    name="Parquet",
    suffix=".parquet",
    write=partial(write, "parquet"),
    read=partial(read, "parquet"),
)
