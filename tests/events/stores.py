"""Every way to store values in memory, each with the types that its library gives to columns.

A store takes columns of values and gives what `open_log` takes. Most of them let pandas choose the
types, as most people do: one missing value turns whole numbers into doubles, one text turns moments
into objects. What a library refuses to store raises `NotStorableError`.
"""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Columns = dict[str, list[Any]]
Store = Callable[[Columns, Path], Any]
FILES = 2
"""Into how many files rows are parted; each file has types of its own."""


class NotStorableError(Exception):
    """The library cannot store these values."""


def inferred(columns: Columns) -> pd.DataFrame:
    """A frame whose types follow from all values."""
    return pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})


def as_table(columns: Columns) -> pa.Table:
    """A table of pyarrow, as pandas hands it over."""
    try:
        return pa.Table.from_pandas(inferred(columns), preserve_index=False)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise NotStorableError from error


def as_objects(columns: Columns, folder: Path) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})


def as_categories(columns: Columns, folder: Path) -> pd.DataFrame:
    frame = inferred(columns)
    try:
        return frame.astype("category")
    except (TypeError, ValueError) as error:
        raise NotStorableError from error


def as_nullable(columns: Columns, folder: Path) -> pd.DataFrame:
    return inferred(columns).convert_dtypes()


def as_arrow_backed(columns: Columns, folder: Path) -> pd.DataFrame:
    try:
        return inferred(columns).convert_dtypes(dtype_backend="pyarrow")
    except (pa.ArrowException, ValueError, OverflowError, NotImplementedError) as error:
        raise NotStorableError from error


def as_polars(columns: Columns, folder: Path) -> pl.DataFrame:
    found = pl.from_arrow(as_table(columns))
    assert isinstance(found, pl.DataFrame)
    return found


def as_relation(columns: Columns, folder: Path) -> Any:
    database = duckdb.connect()
    database.register("given", as_table(columns))
    return database.sql("SELECT * FROM given")


def in_parquet(columns: Columns, folder: Path) -> Path:
    as_table(columns)
    inferred(columns).to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def in_parquet_files(columns: Columns, folder: Path) -> list[Path]:
    """Files that are written one by one: the last row may give only its own file other types."""
    size = len(next(iter(columns.values())))
    middle, paths = size // FILES, []
    for number, rows in enumerate((slice(0, middle), slice(middle, size))):
        paths.append(folder / f"part {number}.parquet")
        part = {name: values[rows] for name, values in columns.items()}
        as_table(part)
        inferred(part).to_parquet(paths[-1])
    return paths


def in_json_lines(columns: Columns, folder: Path) -> Path:
    """Numbers are those of the column: 1.0 where another one is missing."""
    cells = {name: [*map(_json, inferred(columns)[name], v)] for name, v in columns.items()}
    rows = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "log.jsonl"


def _json(cell: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(cell, bool | int | float | np.integer | np.floating):
        return cell.item() if isinstance(cell, np.generic) else cell
    return str(value)


def in_workbook(columns: Columns, folder: Path) -> Path:
    """Numbers are those of the column, as for JSON; all else is text."""
    cells = {name: [name, *map(_json, inferred(columns)[name], v)] for name, v in columns.items()}
    rows = "".join(
        f"<row>{''.join(f'<c r={quoteattr(chr(65 + at))} {_sheet(c)}</c>' for at, c in row)}</row>"
        for row in map(enumerate, zip(*cells.values(), strict=True))
    )
    path = folder / "log.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", '<w><sheet name="a" xmlns:r="r" r:id="r1"/></w>')
        link = '<Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
        archive.writestr("xl/_rels/workbook.xml.rels", f"<r>{link}</r>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<w>{rows}</w>")
    return path


def _sheet(cell: Any) -> str:
    if cell is None or cell != cell:
        return ">"
    if isinstance(cell, bool):
        return f't="b"><v>{int(cell)}</v>'
    if isinstance(cell, int | float):
        return f"><v>{cell!r}</v>"
    return f't="inlineStr"><is><t>{escape(cell)}</t></is>'


def in_csv(columns: Columns, folder: Path) -> Path:
    """Each cell by itself, as whoever writes text does."""
    texts = {
        name: ["" if value is None else str(value) for value in v] for name, v in columns.items()
    }
    pd.DataFrame(texts).to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


XES_NAMES = {"activity": "concept:name", "time": "time:timestamp"}


def in_xes(columns: Columns, folder: Path) -> Path:
    """Rows of a case lie together; a value is an element of its own type."""
    traces: dict[str, list[str]] = {}
    for row in as_objects(columns, folder).to_dict("records"):
        case = str(row.pop("case"))
        cells = [_xes(XES_NAMES.get(name, name), cell) for name, cell in row.items()]
        traces.setdefault(case, []).append(f"<event>{''.join(cells)}</event>")
    name = '<string key="concept:name" value={}/>'
    text = [f"<trace>{name.format(quoteattr(c))}{''.join(t)}</trace>" for c, t in traces.items()]
    (folder / "log.xes").write_text(f"<log>{''.join(text)}</log>")
    return folder / "log.xes"


def _xes(key: str, cell: Any) -> str:
    if cell is None or cell is pd.NaT:
        return ""
    kind = "date" if isinstance(cell, dt.date) else "string"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        kind = "int" if isinstance(cell, int) else "float"
    text = cell.isoformat() if isinstance(cell, dt.date) else str(cell)
    return f"<{kind} key={quoteattr(key)} value={quoteattr(text)}/>"


def as_event_log(columns: Columns, folder: Path) -> Any:
    """Values of a frame, in the objects of pm4py."""
    from pm4py.objects.log import obj

    traces: dict[str, Any] = {}
    for row in inferred(columns).to_dict("records"):
        case = str(row.pop("case"))
        cells = {XES_NAMES.get(name, name): cell for name, cell in row.items()}
        trace = traces.setdefault(case, obj.Trace(attributes={"concept:name": case}))
        trace.append(obj.Event(cells))
    return obj.EventLog(traces.values())


FRAMES: dict[str, Store] = {
    "pandas": lambda columns, _: inferred(columns),
    "objects": as_objects,
    "categories": as_categories,
    "nullable": as_nullable,
    "arrow-backed": as_arrow_backed,
    "pyarrow": lambda columns, _: as_table(columns),
    "polars": as_polars,
    "query of polars": lambda columns, folder: as_polars(columns, folder).lazy(),
    "relation": as_relation,
    "parquet": in_parquet,
    "parquet files": in_parquet_files,
    "json lines": in_json_lines,
    "workbook": in_workbook,
    "csv": in_csv,
    "xes": in_xes,
    "pm4py": as_event_log,
}
"""Stores that need no server."""


def in_spark(columns: Columns, folder: Path) -> Any:
    """A frame of Spark, from the file that pandas writes."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    table = as_table(columns)
    for place, field in enumerate(table.schema):
        if pa.types.is_duration(field.type):
            raise NotStorableError
        if pa.types.is_timestamp(field.type):
            # Spark knows microseconds alone; a cast would round times before 1970 upwards.
            floor = pc.floor_temporal(table.column(place), unit="microsecond")
            micros = floor.cast(pa.timestamp("us", tz=field.type.tz))
            table = table.set_column(place, field.name, micros)
    path = folder / "spark.parquet"
    pq.write_table(table, path)
    return session.read.parquet(str(path))


SQL = {
    "int64": "bigint", "double": "float8", "bool": "boolean", "timestamp[us]": "timestamp",
    "timestamp[ns]": "timestamp", "date32[day]": "date", "duration[us]": "interval",
}  # fmt: skip
"""Types of a table that is made for a frame; any other one is text."""


def fill_database(columns: Columns, address: str) -> None:
    """Make a table with the types of a frame, in a PostgreSQL server."""
    import psycopg

    table = as_table(columns)
    kinds = {field.name: SQL.get(str(field.type), "text") for field in table.schema}
    kinds |= {f.name: "timestamptz" for f in table.schema if getattr(f.type, "tz", None)}
    kinds |= {f.name: "numeric" for f in table.schema if pa.types.is_decimal(f.type)}
    rows = table.to_pandas(types_mapper=pd.ArrowDtype).to_dict("list")
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS typed")
        fields = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
        session.execute(f"CREATE TABLE typed ({fields})")
        with session.cursor().copy("COPY typed FROM STDIN") as copy:
            for row in zip(*rows.values(), strict=True):
                copy.write_row([None if pd.isna(cell) else str(cell) for cell in row])


DECIMALS = [Decimal("1.50"), Decimal("2.25"), Decimal(3)]
